// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common part of the test plugins: a correct asynchronous plugin with a
// queue and worker threads. A test plugin replaces one of its steps and ends
// with
//
//   PLUGIN("name", DTLTO_JOB_..., .run = run)
//
// A plugin whose entry functions themselves are wrong defines `hooks` and ends
// with PLUGIN_ENTRY instead, which names each function.

#ifndef DTLTO_TEST_PLUGINS_COMMON_H
#define DTLTO_TEST_PLUGINS_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dtlto/ext/bundle.h"
#include "dtlto/ext/local-codegen.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 8

// The steps that a plugin may replace; null means the default.
struct hooks {
  uint32_t threads; // worker threads; 0 means 1
  // Before the threads start. If this fails, open() returns the error.
  int32_t (*open)(dtlto_session *s, const dtlto_session_params *params);
  // Before a job is queued. If this fails, submit() returns the error.
  int32_t (*submit)(dtlto_session *s, const dtlto_job *job);
  // On a worker thread: fills the result, which is then passed to job_done().
  // If `size` is 0, run() has called job_done() itself. Without this hook:
  // local code generation.
  void (*run)(dtlto_session *s, const dtlto_job *job, dtlto_result *result);
  // On the worker thread, after job_done().
  void (*ran)(dtlto_session *s);
  // Before the job_done() of a job that never ran because it was cancelled.
  void (*dropped)(dtlto_session *s);
  // After the last thread has ended, before close() returns.
  void (*closed)(dtlto_session *s);
};
static const struct hooks hooks;

// An accepted job, from submit() to job_done().
struct task {
  const dtlto_job *job;
  uint64_t id; // job->id, which can't be read after job_done()
  int running;
  int cancelled;
  struct task *next;
};

struct dtlto_session {
  const dtlto_host *host;
  char **args;
  uint32_t num_args;
  uint32_t num_threads;
  pthread_t threads[MAX_THREADS];
  pthread_mutex_t lock;  // guards the members below
  pthread_cond_t change; // signalled when any of them changes
  struct task *tasks;    // in submission order
  int closing;
};

// Returns the value of the plugin argument `key=value`, or null.
static inline const char *argument(const dtlto_session *s, const char *key) {
  size_t n = strlen(key);
  for (uint32_t i = 0; i < s->num_args; ++i)
    if (!strncmp(s->args[i], key, n) && s->args[i][n] == '=')
      return s->args[i] + n + 1;
  return NULL;
}

static inline long number(const dtlto_session *s, const char *key,
                          long otherwise) {
  const char *text = argument(s, key);
  return text ? atol(text) : otherwise;
}

__attribute__((format(printf, 3, 4))) static inline void
say(dtlto_session *s, uint32_t level, const char *format, ...) {
  char line[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof(line), format, list);
  va_end(list);
  s->host->log(s->host->context, level, line);
}

static inline void free_bytes(void *owner, const void *data, uint64_t size) {
  (void)data;
  (void)size;
  free(owner);
}

// Makes `result` a success with a copy of these bytes as its object.
static inline void give(dtlto_result *result, const void *data, uint64_t size) {
  void *copy = malloc(size ? size : 1);
  if (size)
    memcpy(copy, data, size);
  result->status = DTLTO_OK;
  result->object = (dtlto_buffer){copy, size, copy, free_bytes};
}

static inline void fail(dtlto_result *result, int32_t status,
                        const char *message) {
  result->status = status;
  result->message = message;
}

static inline void release(dtlto_buffer *buffer) {
  if (buffer->release)
    buffer->release(buffer->owner, buffer->data, buffer->size);
  *buffer = (dtlto_buffer){NULL, 0, NULL, NULL};
}

// A correct result without other machines: compiles in the linker.
static inline void codegen(dtlto_session *s, const dtlto_job *job,
                           dtlto_result *result) {
  const dtlto_local_codegen *local =
      s->host->extension(s->host->context, DTLTO_EXT_LOCAL_CODEGEN);
  if (!local) {
    fail(result, DTLTO_ERROR_INFRASTRUCTURE, "the host has no local codegen");
    return;
  }
  s->host->job_state(s->host->context, job->id, DTLTO_STATE_LOCAL, NULL);
  local->run(s->host->context, job->id, result);
}

static inline dtlto_result no_result(void) {
  dtlto_result result;
  memset(&result, 0, sizeof(result));
  result.size = sizeof(result);
  result.status = DTLTO_ERROR_INFRASTRUCTURE;
  return result;
}

// Removes a task from the list; the lock is held.
static inline void unlink_task(dtlto_session *s, struct task *task) {
  struct task **p = &s->tasks;
  while (*p != task)
    p = &(*p)->next;
  *p = task->next;
}

static inline void done_cancelled(dtlto_session *s, uint64_t id) {
  if (hooks.dropped)
    hooks.dropped(s);
  dtlto_result result = no_result();
  result.status = DTLTO_CANCELLED;
  s->host->job_done(s->host->context, id, &result);
}

// Blocks until the host has cancelled this job or closes the session.
static inline void wait_for_cancel(dtlto_session *s, uint64_t id) {
  pthread_mutex_lock(&s->lock);
  for (;;) {
    struct task *task = s->tasks;
    while (task && task->id != id)
      task = task->next;
    if (!task || task->cancelled || s->closing)
      break;
    pthread_cond_wait(&s->change, &s->lock);
  }
  pthread_mutex_unlock(&s->lock);
}

static inline void *work(void *argument) {
  dtlto_session *s = argument;
  for (;;) {
    pthread_mutex_lock(&s->lock);
    struct task *task;
    for (;;) {
      task = s->tasks;
      while (task && task->running)
        task = task->next;
      if (task || s->closing)
        break;
      pthread_cond_wait(&s->change, &s->lock);
    }
    int closing = s->closing;
    if (task)
      task->running = 1;
    pthread_mutex_unlock(&s->lock);
    if (!task)
      return NULL;

    if (closing) {
      done_cancelled(s, task->id);
    } else {
      dtlto_result result = no_result();
      (hooks.run ? hooks.run : codegen)(s, task->job, &result);
      if (result.size)
        s->host->job_done(s->host->context, task->id, &result);
    }
    pthread_mutex_lock(&s->lock);
    unlink_task(s, task);
    pthread_mutex_unlock(&s->lock);
    free(task);
    if (hooks.ran)
      hooks.ran(s);
  }
}

static inline int32_t common_open(const dtlto_host *host,
                                  const dtlto_session_params *params,
                                  dtlto_session **session) {
  dtlto_session *s = calloc(1, sizeof(*s));
  s->host = host;
  s->num_args = params->num_args;
  s->args = calloc(params->num_args + 1, sizeof(*s->args));
  for (uint32_t i = 0; i < params->num_args; ++i)
    s->args[i] = strdup(params->args[i]);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->change, NULL);
  int32_t status = hooks.open ? hooks.open(s, params) : DTLTO_OK;
  if (status != DTLTO_OK)
    return status;
  s->num_threads = hooks.threads ? hooks.threads : 1;
  for (uint32_t i = 0; i < s->num_threads; ++i)
    pthread_create(&s->threads[i], NULL, work, s);
  *session = s;
  return DTLTO_OK;
}

static inline int32_t common_submit(dtlto_session *s, const dtlto_job *job) {
  int32_t status = hooks.submit ? hooks.submit(s, job) : DTLTO_OK;
  if (status != DTLTO_OK)
    return status;
  struct task *task = calloc(1, sizeof(*task));
  task->job = job;
  task->id = job->id;
  pthread_mutex_lock(&s->lock);
  struct task **end = &s->tasks;
  while (*end)
    end = &(*end)->next;
  *end = task;
  pthread_cond_broadcast(&s->change);
  pthread_mutex_unlock(&s->lock);
  return DTLTO_OK;
}

static inline void common_cancel(dtlto_session *s, uint64_t id) {
  pthread_mutex_lock(&s->lock);
  struct task *task = s->tasks;
  while (task && task->id != id)
    task = task->next;
  int queued = task && !task->running;
  if (task)
    task->cancelled = 1;
  if (queued)
    unlink_task(s, task);
  pthread_cond_broadcast(&s->change);
  pthread_mutex_unlock(&s->lock);
  if (!queued)
    return;
  done_cancelled(s, id);
  free(task);
}

static inline int32_t common_load(dtlto_session *s, dtlto_load *load) {
  uint32_t running = 0, queued = 0;
  pthread_mutex_lock(&s->lock);
  for (struct task *task = s->tasks; task; task = task->next)
    ++*(task->running ? &running : &queued);
  pthread_mutex_unlock(&s->lock);
  load->slots = s->num_threads;
  load->free = running < s->num_threads ? s->num_threads - running : 0;
  load->queued = queued;
  load->workers = 1;
  load->expected_wait_ms = UINT64_MAX;
  return DTLTO_OK;
}

static inline void common_close(dtlto_session *s) {
  pthread_mutex_lock(&s->lock);
  s->closing = 1;
  pthread_cond_broadcast(&s->change);
  pthread_mutex_unlock(&s->lock);
  for (uint32_t i = 0; i < s->num_threads; ++i)
    pthread_join(s->threads[i], NULL);
  if (hooks.closed)
    hooks.closed(s);
  for (uint32_t i = 0; i < s->num_args; ++i)
    free(s->args[i]);
  free(s->args);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->change);
  free(s);
}

static inline const void *no_extension(const char *id) {
  (void)id;
  return NULL;
}

static inline void common_configure(const dtlto_session_params *params,
                                    dtlto_session_config *config) {
  (void)params;
  (void)config;
}

// Returns the value of `key=` in the arguments, or null.
static inline const char *parameter(const dtlto_session_params *params,
                                    const char *key) {
  size_t n = strlen(key);
  for (uint32_t i = 0; i < params->num_args; ++i)
    if (!strncmp(params->args[i], key, n) && params->args[i][n] == '=')
      return params->args[i] + n + 1;
  return NULL;
}

#define PLUGIN_ENTRY(NAME, NEEDS, OPEN, SUBMIT, CANCEL, LOAD, CLOSE)           \
  static void configure_needs(const dtlto_session_params *params,              \
                              dtlto_session_config *config) {                  \
    (void)params;                                                              \
    config->needs = NEEDS;                                                     \
  }                                                                            \
  PLUGIN_FUNCTIONS(NAME, configure_needs, OPEN, SUBMIT, CANCEL, LOAD, CLOSE)

#define PLUGIN_FUNCTIONS(NAME, CONFIGURE, OPEN, SUBMIT, CANCEL, LOAD, CLOSE)   \
  DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {                \
      sizeof(dtlto_plugin),                                                    \
      DTLTO_ABI_MAJOR,                                                         \
      DTLTO_ABI_MINOR,                                                         \
      0,                                                                       \
      NAME,                                                                    \
      "test",                                                                  \
      CONFIGURE,                                                               \
      OPEN,                                                                    \
      SUBMIT,                                                                  \
      CANCEL,                                                                  \
      LOAD,                                                                    \
      CLOSE,                                                                   \
      no_extension}

#define PLUGIN(NAME, NEEDS, ...)                                               \
  static const struct hooks hooks = {__VA_ARGS__};                             \
  PLUGIN_ENTRY(NAME, NEEDS, common_open, common_submit, common_cancel,         \
               common_load, common_close)

#endif
