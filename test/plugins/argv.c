// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct, and checks the jobs' command lines: runs each with a stock clang in
// an empty folder that contains only the job's inputs, and compares the object,
// byte for byte, with that of in-process ThinLTO. A difference, an extra file,
// or output on stderr ends the job as a compiler error, which fails the link.
//
//   clang=PATH  the compiler; clang from PATH without it
//   keep=DIR    a failed job is kept there, in a folder named by its id, with
//               its command line (args.txt) and both objects
//
// At close(), a note has the number of jobs, and how many were identical.

#include "common.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct {
  pthread_mutex_t lock;
  long jobs, identical;
} The = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_file(const char *folder, const char *name, const void *data,
                       uint64_t size) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
    *p = 0;
    mkdir(path, 0777);
  }
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file))
    abort();
}

// Returns a file's bytes and a NUL; null if there is no such file.
static char *read_file(const char *path, uint64_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *size = (uint64_t)ftell(file);
  rewind(file);
  char *bytes = calloc(*size + 1, 1);
  if (fread(bytes, 1, *size, file) != *size)
    abort();
  fclose(file);
  return bytes;
}

static _Thread_local unsigned NumFiles;
static int count_file(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw) {
  (void)path;
  (void)st;
  (void)ftw;
  NumFiles += flag == FTW_F;
  return 0;
}

static int remove_file(const char *path, const struct stat *st, int flag,
                       struct FTW *ftw) {
  (void)st;
  (void)flag;
  (void)ftw;
  return remove(path);
}

// Runs the command in `folder`, its stderr in `log`. Returns the exit code.
static int run_clang(const char *clang, const dtlto_job *job,
                     const char *folder, const char *log) {
  pid_t pid = fork();
  if (!pid) {
    // Other threads may hold any lock: only async-signal-safe calls.
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir(folder))
      _exit(126);
    execvp(clang, (char *const *)(uintptr_t)job->args);
    _exit(127);
  }
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void save_args(const dtlto_job *job, const char *folder) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/args.txt", folder);
  FILE *file = fopen(path, "w");
  if (!file)
    abort();
  for (uint32_t i = 0; i < job->num_args; ++i)
    fprintf(file, "%s\n", job->args[i]);
  fclose(file);
}

// Returns null if clang made the same object, otherwise what is wrong.
static const char *judge(dtlto_session *s, const dtlto_job *job,
                         const dtlto_buffer *wanted, const char *top,
                         char *text, size_t text_size) {
  const uint32_t Wanted = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS;
  if ((job->fields & Wanted) != Wanted)
    return "the job lacks parts that the plugin needs";
  if (strcmp(job->args[0], "clang") || job->args[job->num_args])
    return "the command line isn't `clang ...` with a null at its end";

  char folder[2048], log[2048], object[4096];
  snprintf(folder, sizeof(folder), "%s/in", top);
  snprintf(log, sizeof(log), "%s/stderr.txt", top);
  snprintf(object, sizeof(object), "%s/%s", folder, job->output);
  mkdir(folder, 0777);
  save_args(job, top);
  write_file(top, "wanted.o", wanted->data, wanted->size);
  for (uint32_t i = 0; i < job->num_inputs; ++i)
    write_file(folder, job->inputs[i]->path, job->inputs[i]->bytes.data,
               job->inputs[i]->bytes.size);

  const char *clang = argument(s, "clang");
  int code = run_clang(clang ? clang : "clang", job, folder, log);

  uint64_t log_size = 0, size = 0;
  char *words = read_file(log, &log_size);
  if (code || log_size) {
    snprintf(text, text_size, "clang ended with exit code %d: %s", code, words);
    free(words);
    return text;
  }
  free(words);
  char *bytes = read_file(object, &size);
  if (!bytes)
    return "clang made no object";
  int same = size == wanted->size && !memcmp(bytes, wanted->data, size);
  free(bytes);
  if (!same)
    return "clang's object differs from the in-process one";
  NumFiles = 0;
  nftw(folder, count_file, 8, FTW_PHYS);
  return NumFiles == job->num_inputs + 1 ? NULL
                                         : "clang wrote more than its object";
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  static _Thread_local char text[4096], message[8192];
  const char *keep = argument(s, "keep");
  const char *tmp = getenv("TMPDIR");
  char top[1024];

  codegen(s, job, result);
  if (result->status != DTLTO_OK)
    return;

  if (keep) {
    mkdir(keep, 0777);
    snprintf(top, sizeof(top), "%s/%llu", keep, (unsigned long long)job->id);
    mkdir(top, 0777);
  } else {
    snprintf(top, sizeof(top), "%s/dtlto-argv-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(top))
      abort();
  }
  const char *why = judge(s, job, &result->object, top, text, sizeof(text));
  if (!why || !keep)
    nftw(top, remove_file, 8, FTW_DEPTH | FTW_PHYS);

  pthread_mutex_lock(&The.lock);
  ++The.jobs;
  The.identical += !why;
  pthread_mutex_unlock(&The.lock);
  if (!why)
    return;
  release(&result->object);
  snprintf(message, sizeof(message), "%s: %s", job->name, why);
  fail(result, DTLTO_ERROR_COMPILER, message);
}

static void closed(dtlto_session *s) {
  say(s, DTLTO_LOG_NOTE, "%ld jobs, %ld identical", The.jobs, The.identical);
}

PLUGIN("argv", DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS,
       .threads = 2, .run = run, .closed = closed);
