/*===- KeepPlugin.c - Keeps a link's jobs and their objects -------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Where dtlto-plugin-check has its jobs from. Each is compiled in the linker,
 * one at a time; N.tar is its bundle, with the command line, and N.o its
 * object, in the folder that the one argument names. A job that the compiler
 * says no to has no object.
 *
 *===----------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 200809L
#include "dtlto/PluginAPI.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task {
  uint64_t id;
  struct task *next;
};

struct dtlto_session {
  const dtlto_host *host;
  const dtlto_local_codegen *codegen;
  const dtlto_bundle *bundle;
  char *folder;
  pthread_t thread;
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t changed;
  struct task *first, **end;
  int closing;
};

static int save(dtlto_session *s, uint64_t id, const char *suffix,
                const dtlto_buffer *bytes) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%06llu.%s", s->folder,
           (unsigned long long)id, suffix);
  FILE *file = fopen(path, "wb");
  if (!file)
    return 0;
  int whole = fwrite(bytes->data, 1, bytes->size, file) == bytes->size;
  return !fclose(file) && whole;
}

static void run(dtlto_session *s, uint64_t id) {
  dtlto_result result = {.size = sizeof(result)};
  dtlto_buffer bundle = {0};
  if (s->bundle->make(s->host->context, id, &bundle) != DTLTO_OK) {
    result.status = DTLTO_ERROR_INFRASTRUCTURE;
    result.message = "the job has no bundle";
  } else {
    s->codegen->run(s->host->context, id, &result);
  }
  int ran = result.status == DTLTO_OK || result.status == DTLTO_ERROR_COMPILER;
  if ((ran && !save(s, id, "tar", &bundle)) ||
      (result.status == DTLTO_OK && !save(s, id, "o", &result.object))) {
    if (result.object.release)
      result.object.release(result.object.owner, result.object.data,
                            result.object.size);
    result = (dtlto_result){.size = sizeof(result),
                            .status = DTLTO_ERROR_INFRASTRUCTURE,
                            .message = "can't write to the folder of jobs"};
  }
  if (bundle.release)
    bundle.release(bundle.owner, bundle.data, bundle.size);
  s->host->job_done(s->host->context, id, &result);
}

static void *work(void *session) {
  dtlto_session *s = session;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    while (!s->first && !s->closing)
      pthread_cond_wait(&s->changed, &s->lock);
    struct task *t = s->first;
    if (!t)
      break;
    s->first = t->next;
    if (!s->first)
      s->end = &s->first;
    int closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    if (closing) {
      dtlto_result result = {.size = sizeof(result), .status = DTLTO_CANCELLED};
      s->host->job_done(s->host->context, t->id, &result);
    } else {
      run(s, t->id);
    }
    free(t);
    pthread_mutex_lock(&s->lock);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static int32_t open_session(const dtlto_host *host,
                            const dtlto_session_params *params,
                            dtlto_session **session) {
  dtlto_session *s = calloc(1, sizeof(*s));
  if (!s)
    return DTLTO_ERROR_INFRASTRUCTURE;
  s->host = host;
  s->codegen = host->extension(host->context, DTLTO_EXT_LOCAL_CODEGEN);
  s->bundle = host->extension(host->context, DTLTO_EXT_BUNDLE);
  s->folder = params->num_args == 1 ? strdup(params->args[0]) : NULL;
  s->end = &s->first;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  if (!s->codegen || !s->bundle || !s->folder ||
      pthread_create(&s->thread, NULL, work, s)) {
    host->log(host->context, DTLTO_LOG_ERROR,
              "expected one argument, the folder of jobs");
    free(s->folder);
    free(s);
    return DTLTO_ERROR_CALLER;
  }
  *session = s;
  return DTLTO_OK;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  struct task *t = calloc(1, sizeof(*t));
  if (!t)
    return DTLTO_ERROR_INFRASTRUCTURE;
  t->id = job->id;
  pthread_mutex_lock(&s->lock);
  *s->end = t;
  s->end = &t->next;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return DTLTO_OK;
}

/* The job runs to its end. */
static void cancel(dtlto_session *s, uint64_t id) { (void)s, (void)id; }

static int32_t load(dtlto_session *s, dtlto_load *load) {
  (void)s;
  load->slots = 1;
  return DTLTO_OK;
}

static void close_session(dtlto_session *s) {
  pthread_mutex_lock(&s->lock);
  s->closing = 1;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  free(s->folder);
  free(s);
}

static const void *extension(const char *id) { return (void)id, NULL; }

const dtlto_plugin dtlto_plugin_entry = {sizeof(dtlto_plugin),
                                         DTLTO_ABI_MAJOR,
                                         DTLTO_ABI_MINOR,
                                         DTLTO_PART_INPUTS | DTLTO_PART_ARGS |
                                             DTLTO_PART_DIGESTS |
                                             DTLTO_PART_CONFIG,
                                         "keep",
                                         "1.0",
                                         open_session,
                                         submit,
                                         cancel,
                                         load,
                                         close_session,
                                         extension};
