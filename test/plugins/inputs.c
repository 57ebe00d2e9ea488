// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct: local code generation, and a check of all of the ABI's guarantees
// for a job's inputs. A violation ends the job as a compiler error with a
// description. At close(), a note has statistics.

#include "common.h"

struct module {
  char *path;
  uint32_t role; // an import may have other contents
  const void *data;
  uint64_t size;
  uint8_t digest[32];
};

// One worker thread, so no lock is needed.
static struct module *Modules;
static size_t NumModules, NumJobs, NumInputs;

static int is_zero(const uint8_t *digest) {
  static const uint8_t Zero[32];
  return !memcmp(digest, Zero, sizeof(Zero));
}

static const char *check_path(const char *path) {
  if (!*path || *path == '/' || path[strlen(path) - 1] == '/')
    return "path is not that of a relative file";
  for (const char *p = path; *p; ++p)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                "._-+/@=,%~",
                *p))
      return "path has a character that some file system doesn't take";
  // A component that begins with two dots is suspicious enough.
  if (!strncmp(path, "..", 2) || strstr(path, "/..") || strstr(path, "//") ||
      !strncmp(path, "./", 2) || strstr(path, "/./"))
    return "path is not plain";
  return NULL;
}

// A module must look the same in all jobs that compile it, and in all that
// import from it.
static const char *check_module(const dtlto_input *input) {
  for (size_t i = 0; i < NumModules; ++i) {
    struct module *m = &Modules[i];
    int same_digest = !memcmp(m->digest, input->digest, 32);
    if (!strcmp(m->path, input->path) && m->role == input->role) {
      if (m->data != input->bytes.data || m->size != input->bytes.size)
        return "a module moved from one job to the next";
      return same_digest ? NULL : "a module's digest changed";
    }
    if (same_digest && (m->size != input->bytes.size ||
                        memcmp(m->data, input->bytes.data, m->size)))
      return "equal digests, different contents";
    if (!same_digest && m->size == input->bytes.size &&
        !memcmp(m->data, input->bytes.data, m->size))
      return "equal contents, different digests";
  }
  Modules = realloc(Modules, (NumModules + 1) * sizeof(*Modules));
  struct module *m = &Modules[NumModules++];
  m->path = strdup(input->path);
  m->role = input->role;
  m->data = input->bytes.data;
  m->size = input->bytes.size;
  memcpy(m->digest, input->digest, 32);
  return NULL;
}

static const char *check_job(const dtlto_job *job, const char **path) {
  uint32_t primaries = 0, shards = 0;
  const uint32_t Wanted = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS;
  *path = "";
  if ((job->fields & Wanted) != Wanted)
    return "the job lacks parts that the plugin needs";
  if (!job->id || !job->name || !*job->name || !job->triple || !*job->triple)
    return "the job lacks its id, name or triple";
  for (uint32_t i = 0; i < job->num_inputs; ++i) {
    const dtlto_input *input = job->inputs[i];
    const char *why = check_path(*path = input->path);
    if (why)
      return why;
    for (uint32_t j = 0; j < i; ++j)
      if (!strcmp(job->inputs[j]->path, input->path))
        return "path occurs twice";
    if (!input->bytes.size)
      return "file is empty";
    if (is_zero(input->digest))
      return "digest is missing";
    primaries += input->role == DTLTO_ROLE_PRIMARY;
    shards += input->role == DTLTO_ROLE_INDEX;
    if (input->role == DTLTO_ROLE_PRIMARY || input->role == DTLTO_ROLE_IMPORT)
      if ((why = check_module(input)))
        return why;
  }
  *path = "";
  if (primaries != 1 || shards != 1)
    return "not exactly one primary module and one index shard";
  return NULL;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  static char text[512];
  const char *path;
  const char *why = check_job(job, &path);
  if (why) {
    snprintf(text, sizeof(text), "%s: '%s'", why, path);
    fail(result, DTLTO_ERROR_COMPILER, text);
    return;
  }
  ++NumJobs;
  NumInputs += job->num_inputs;
  const char *list = argument(s, "list");
  for (uint32_t i = 0; list && i < job->num_inputs; ++i)
    say(s, DTLTO_LOG_NOTE, "input %s of %s", job->inputs[i]->path, job->name);
  codegen(s, job, result);
}

static void closed(dtlto_session *s) {
  say(s, DTLTO_LOG_NOTE, "%zu jobs, %zu inputs, %zu modules, all well", NumJobs,
      NumInputs, NumModules);
}

PLUGIN("inputs", DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS, .run = run,
       .closed = closed);
