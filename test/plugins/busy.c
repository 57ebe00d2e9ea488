// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct: accepts `slots=` (1) jobs at a time, and answers BUSY to all others.
// At close(), a note has the number of BUSY answers, and how often the host
// retried without a load_changed() or job_done() in between.

#include "common.h"

static struct {
  pthread_mutex_t lock;
  long accepted, running, most, busy, hasty;
  int telling;     // threads that are about to announce room
  int turned_away; // answered BUSY, and no room was announced since
} The = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  int32_t status = DTLTO_OK;
  pthread_mutex_lock(&The.lock);
  The.hasty += The.turned_away;
  if (The.running == number(s, "slots", 1)) {
    ++The.busy;
    The.turned_away = !The.telling;
    status = DTLTO_BUSY;
  } else {
    ++The.accepted;
    if (++The.running > The.most)
      The.most = The.running;
  }
  pthread_mutex_unlock(&The.lock);
  return status;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  codegen(s, job, result);
  pthread_mutex_lock(&The.lock);
  --The.running;
  ++The.telling;
  The.turned_away = 0;
  pthread_mutex_unlock(&The.lock);
}

// A job that was cancelled while it waited for a thread.
static void dropped(dtlto_session *s) {
  pthread_mutex_lock(&The.lock);
  --The.running;
  The.turned_away = 0;
  pthread_mutex_unlock(&The.lock);
  s->host->load_changed(s->host->context);
}

// After job_done().
static void ran(dtlto_session *s) {
  s->host->load_changed(s->host->context);
  pthread_mutex_lock(&The.lock);
  --The.telling;
  pthread_mutex_unlock(&The.lock);
}

static void closed(dtlto_session *s) {
  say(s, DTLTO_LOG_NOTE, "%ld jobs, at most %ld at a time, %s busy, %ld hasty",
      The.accepted, The.most, The.busy ? "was" : "never", The.hasty);
}

PLUGIN("busy", 0, .threads = 4, .submit = submit, .run = run, .ran = ran,
       .dropped = dropped, .closed = closed);
