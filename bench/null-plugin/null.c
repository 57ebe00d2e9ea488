// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin that does nothing, fast: it answers every job with the same object
// file. What a link then takes is what the linker itself needs for its jobs.
//
// Arguments:
//   object=FILE   the object file; must be given
//   stats         when the session ends, note the number of jobs and the
//                 seconds from the first submit() to the end of the last
//                 job_done()
//
// Built twice: once needing no part of a job, once with all parts
// (NULL_PLUGIN_NEEDS), since making them is the linker's work.

#define _POSIX_C_SOURCE 200809L

#include "dtlto/PluginAPI.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifndef NULL_PLUGIN_NEEDS
#define NULL_PLUGIN_NEEDS 0
#endif

// The object file. The linker may use a result's bytes for as long as it likes,
// so each result counts, and the session does.
struct object {
  atomic_size_t users;
  size_t size;
  char bytes[];
};

struct dtlto_session {
  const dtlto_host *host;
  struct object *object;
  int stats;

  pthread_t thread;
  pthread_mutex_t mutex; // for what follows
  pthread_cond_t changed;
  uint64_t *jobs; // submitted, not yet taken by the thread
  size_t num_jobs;
  size_t capacity;
  int closing;

  uint64_t num_done; // of the thread until it is joined
  struct timespec first;
  struct timespec last;
};

static int32_t mistake(const dtlto_host *host, const char *message) {
  host->log(host->context, DTLTO_LOG_ERROR, message);
  return DTLTO_ERROR_CALLER;
}

// Reads all of a file; null if that fails or there is nothing in it.
static struct object *read_object(const char *path) {
  struct object *object = NULL;
  struct stat status;
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    object = malloc(sizeof(*object) + size);
    if (object) {
      atomic_init(&object->users, 1);
      object->size = size;
      if (fread(object->bytes, 1, size, file) != size) {
        free(object);
        object = NULL;
      }
    }
  }
  fclose(file);
  return object;
}

static void release(void *owner, const void *data, uint64_t size) {
  struct object *object = owner;
  (void)data;
  (void)size;
  if (atomic_fetch_sub(&object->users, 1) == 1)
    free(object);
}

static void *answer(void *argument) {
  dtlto_session *session = argument;
  uint64_t *jobs = NULL;
  size_t capacity = 0;
  dtlto_result result = {sizeof(result), DTLTO_OK, {0}, NULL, "null"};
  result.object.data = session->object->bytes;
  result.object.size = session->object->size;
  result.object.owner = session->object;
  result.object.release = release;

  pthread_mutex_lock(&session->mutex);
  for (;;) {
    while (session->num_jobs == 0 && !session->closing)
      pthread_cond_wait(&session->changed, &session->mutex);
    if (session->num_jobs == 0)
      break;
    // Takes the whole queue and leaves an empty one.
    uint64_t *taken = session->jobs;
    size_t num_taken = session->num_jobs;
    size_t taken_capacity = session->capacity;
    session->jobs = jobs;
    session->capacity = capacity;
    session->num_jobs = 0;
    pthread_mutex_unlock(&session->mutex);

    atomic_fetch_add(&session->object->users, num_taken);
    for (size_t i = 0; i < num_taken; ++i)
      session->host->job_done(session->host->context, taken[i], &result);
    session->num_done += num_taken;
    clock_gettime(CLOCK_MONOTONIC, &session->last);

    jobs = taken;
    capacity = taken_capacity;
    pthread_mutex_lock(&session->mutex);
  }
  pthread_mutex_unlock(&session->mutex);
  free(jobs);
  return NULL;
}

static int32_t null_open(const dtlto_host *host,
                         const dtlto_session_params *params,
                         dtlto_session **out) {
  const char *object = NULL;
  int stats = 0;
  for (uint32_t i = 0; i < params->num_args; ++i) {
    if (strncmp(params->args[i], "object=", 7) == 0)
      object = params->args[i] + 7;
    else if (strcmp(params->args[i], "stats") == 0)
      stats = 1;
    else
      return mistake(host, "unknown argument; known are object=FILE and stats");
  }
  if (!object)
    return mistake(host, "the argument object=FILE is missing");

  dtlto_session *session = calloc(1, sizeof(*session));
  if (!session)
    return mistake(host, "out of memory");
  session->object = read_object(object);
  if (!session->object) {
    free(session);
    return mistake(host, "can't read the file of object=FILE, or it is empty");
  }
  session->host = host;
  session->stats = stats;
  pthread_mutex_init(&session->mutex, NULL);
  pthread_cond_init(&session->changed, NULL);
  if (pthread_create(&session->thread, NULL, answer, session) != 0) {
    free(session->object);
    free(session);
    return mistake(host, "can't create a thread");
  }
  *out = session;
  return DTLTO_OK;
}

static int32_t null_submit(dtlto_session *session, const dtlto_job *job) {
  int32_t status = DTLTO_OK;
  pthread_mutex_lock(&session->mutex);
  if (!session->first.tv_sec)
    clock_gettime(CLOCK_MONOTONIC, &session->first);
  if (session->num_jobs == session->capacity) {
    size_t capacity = session->capacity ? 2 * session->capacity : 1024;
    uint64_t *jobs = realloc(session->jobs, capacity * sizeof(*jobs));
    if (jobs) {
      session->jobs = jobs;
      session->capacity = capacity;
    } else {
      status = DTLTO_ERROR_INFRASTRUCTURE;
    }
  }
  if (status == DTLTO_OK) {
    // The thread sleeps only when the queue is empty.
    if (session->num_jobs == 0)
      pthread_cond_signal(&session->changed);
    session->jobs[session->num_jobs++] = job->id;
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

static void null_cancel(dtlto_session *session, uint64_t job) {
  // It is answered already, or will be in a moment.
  (void)session;
  (void)job;
}

static int32_t null_load(dtlto_session *session, dtlto_load *load) {
  pthread_mutex_lock(&session->mutex);
  load->queued = (uint32_t)session->num_jobs;
  pthread_mutex_unlock(&session->mutex);
  load->slots = 1024;
  load->free = 1024;
  load->workers = 1;
  load->expected_wait_ms = 0;
  return DTLTO_OK;
}

static void null_close(dtlto_session *session) {
  pthread_mutex_lock(&session->mutex);
  session->closing = 1;
  pthread_cond_signal(&session->changed);
  pthread_mutex_unlock(&session->mutex);
  pthread_join(session->thread, NULL);
  if (session->stats) {
    char line[100];
    double seconds = 0;
    if (session->num_done)
      seconds = (double)(session->last.tv_sec - session->first.tv_sec) +
                1e-9 * (double)(session->last.tv_nsec - session->first.tv_nsec);
    snprintf(line, sizeof(line),
             "%llu jobs, %.6f s from first submit to last job_done",
             (unsigned long long)session->num_done, seconds);
    session->host->log(session->host->context, DTLTO_LOG_NOTE, line);
  }
  pthread_cond_destroy(&session->changed);
  pthread_mutex_destroy(&session->mutex);
  release(session->object, NULL, 0);
  free(session->jobs);
  free(session);
}

static const void *null_extension(const char *id) {
  (void)id;
  return NULL;
}

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    NULL_PLUGIN_NEEDS,
    "null",
    "1.0",
    null_open,
    null_submit,
    null_cancel,
    null_load,
    null_close,
    null_extension};
