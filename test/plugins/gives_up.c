// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its DBS is gone before open() has returned: a thread of its own finds out and
// says so, or with `thread=0` open() itself; and open() returns DTLTO_OK. Each
// job that it is given all the same fails.
//
// Or, with `job=any` or `job=failed`, wrong: it says so of each job, or of each
// that doesn't compile.

#include "common.h"

static void *find_out(void *session) {
  say(session, DTLTO_LOG_ERROR, "the connection to farm.example:8765 broke");
  return NULL;
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (argument(s, "job"))
    return DTLTO_OK;
  if (!number(s, "thread", 1)) {
    find_out(s);
    return DTLTO_OK;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, find_out, s);
  pthread_join(thread, NULL);
  return DTLTO_OK;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  const char *which = argument(s, "job");
  if (which) {
    codegen(s, job, result);
    if (!strcmp(which, "any") || result->status != DTLTO_OK)
      say(s, DTLTO_LOG_ERROR, "a job had a hiccup");
    return;
  }
  fail(result, DTLTO_ERROR_INFRASTRUCTURE, "it had said that it can't go on");
}

PLUGIN("gives_up", 0, .open = open_hook, .run = run);
