// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct: local code generation on `threads` = 2 threads, and a log of the
// host's calls. `log=FILE` gets one line for each event:
//
//   open JOBS | submit ID COST NAME | done ID | release ID | close
//
// in the order in which they happen. `release` may come after `close`, since
// objects live until the linker has read them. At close(), a note sums up. With
// `never=1`, no job is answered before it is cancelled.

#include "common.h"

#include <fcntl.h>

static struct {
  pthread_mutex_t lock;
  int log;
  long submitted, done, in_flight, most_in_flight, rising;
  uint64_t last_cost;
} The = {.lock = PTHREAD_MUTEX_INITIALIZER, .log = -1, .last_cost = UINT64_MAX};

__attribute__((format(printf, 1, 2))) static void line(const char *format,
                                                       ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  if (n > (int)sizeof(text) - 1)
    n = (int)sizeof(text) - 1;
  // One write, so that lines of several threads don't mix.
  if (The.log >= 0 && write(The.log, text, (size_t)n) != n)
    abort();
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  const char *path = argument(s, "log");
  if (path)
    The.log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
  line("open %llu\n", (unsigned long long)params->num_jobs);
  return DTLTO_OK;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)s;
  line("submit %llu %llu %s\n", (unsigned long long)job->id,
       (unsigned long long)job->cost, job->name);
  pthread_mutex_lock(&The.lock);
  ++The.submitted;
  if (++The.in_flight > The.most_in_flight)
    The.most_in_flight = The.in_flight;
  if (job->cost > The.last_cost)
    ++The.rising;
  The.last_cost = job->cost;
  pthread_mutex_unlock(&The.lock);
  return DTLTO_OK;
}

// The object that the host gets: the original buffer in an envelope.
struct envelope {
  dtlto_buffer object;
  uint64_t id;
};

static void open_envelope(void *owner, const void *data, uint64_t size) {
  struct envelope *envelope = owner;
  if (data != envelope->object.data || size != envelope->object.size)
    line("wrong release %llu\n", (unsigned long long)envelope->id);
  line("release %llu\n", (unsigned long long)envelope->id);
  release(&envelope->object);
  // Not freed, so that a second release is recorded and doesn't crash.
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  if (number(s, "never", 0)) {
    wait_for_cancel(s, job->id);
    result->status = DTLTO_CANCELLED;
  } else {
    codegen(s, job, result);
  }
  if (result->status == DTLTO_OK) {
    struct envelope *envelope = malloc(sizeof(*envelope));
    envelope->object = result->object;
    envelope->id = job->id;
    result->object.owner = envelope;
    result->object.release = open_envelope;
  }
  line("done %llu\n", (unsigned long long)job->id);
  pthread_mutex_lock(&The.lock);
  ++The.done;
  --The.in_flight;
  pthread_mutex_unlock(&The.lock);
}

static void closed(dtlto_session *s) {
  line("close\n");
  say(s, DTLTO_LOG_NOTE,
      "%ld jobs, %ld done, at most %ld at a time, cost rose %ld times",
      The.submitted, The.done, The.most_in_flight, The.rising);
}

PLUGIN("count", 0, .threads = 2, .open = open_hook, .submit = submit,
       .run = run, .closed = closed);
