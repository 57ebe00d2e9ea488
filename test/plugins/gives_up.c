// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives up before open() returns, because its farm is lost: on another thread
// or, with `thread=0`, in open() itself. open() returns DTLTO_OK nevertheless.
// Each job that it is given afterwards fails.
//
// With `load=1`, it gives up when asked for its load, not in open().
//
// With `job=any` or `job=failed`, it is wrong: it gives up for each job, or for
// each that doesn't compile.

#include "common.h"

static void *find_out(void *session) {
  say(session, DTLTO_LOG_ERROR, "the connection to farm.example:8765 broke");
  return NULL;
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (argument(s, "job") || argument(s, "load"))
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

static int32_t load(dtlto_session *s, dtlto_load *load) {
  if (argument(s, "load"))
    find_out(s);
  return common_load(s, load);
}

static const struct hooks hooks = {.open = open_hook, .run = run};
PLUGIN_ENTRY("gives_up", 0, common_open, common_submit, common_cancel, load,
             common_close);
