// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct in all sessions of its process except the one that `in=N` names:
//
//   wrong=open       open() fails
//   wrong=gives-up   it gives up at its first job
//   wrong=fails      the first attempt at each job fails
//   wrong=straggler  the first job that runs never ends
//   wrong=hang       no job ever ends
//   wrong=garbage    no result is an object
//   wrong=empty      results are those of modules without code generation data

#include "common.h"

static int num_sessions, is_wrong, has_straggler;
static unsigned long long failed; // a bit for each job, by its name

static int is(dtlto_session *s, const char *what) {
  const char *wrong = argument(s, "wrong");
  return is_wrong && wrong && !strcmp(wrong, what);
}

static int32_t opens(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  is_wrong = number(s, "in", 0) == ++num_sessions;
  has_straggler = 0;
  failed = 0;
  if (!is(s, "open"))
    return DTLTO_OK;
  say(s, DTLTO_LOG_ERROR, "no scheduler answers in session %d", num_sessions);
  return DTLTO_ERROR_INFRASTRUCTURE;
}

// Retries have other ids, so jobs are identified by their names.
static unsigned long long bit(const dtlto_job *job) {
  unsigned sum = 0;
  for (const char *c = job->name; *c; ++c)
    sum = sum * 31 + (unsigned char)*c;
  return 1ULL << (sum % 61);
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  if (is(s, "gives-up")) {
    say(s, DTLTO_LOG_ERROR, "the farm is gone in session %d", num_sessions);
    fail(result, DTLTO_ERROR_INFRASTRUCTURE, "the farm is gone");
    return;
  }
  pthread_mutex_lock(&s->lock);
  int fails = is(s, "fails") && !(failed & bit(job));
  failed |= bit(job);
  int straggles = is(s, "straggler") && !has_straggler;
  has_straggler |= straggles;
  pthread_mutex_unlock(&s->lock);
  if (fails) {
    fail(result, DTLTO_ERROR_INFRASTRUCTURE, "the worker was switched off");
  } else if (straggles || is(s, "hang")) {
    s->host->job_state(s->host->context, job->id, DTLTO_STATE_RUNNING, "slow");
    wait_for_cancel(s, job->id);
    result->status = DTLTO_CANCELLED;
  } else if (is(s, "garbage")) {
    give(result, "garbage", 7);
  } else if (is(s, "empty")) {
    give(result, "DTLTOCGD\1\0\0\0\0\0\0", 16);
  } else {
    codegen(s, job, result);
  }
}

PLUGIN("one_round", 0, .threads = 3, .open = opens, .run = run);
