// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: a call doesn't return: configure(), open(), submit(), cancel() or
// load(), as `in=` says. With `ms=`, it takes that long instead. No job is
// answered before it is cancelled.

#include "common.h"

static void block(dtlto_session *s, const char *where) {
  const char *in = argument(s, "in");
  long ms = number(s, "ms", 0);
  if (!in || strcmp(in, where))
    return;
  usleep((useconds_t)ms * 1000);
  while (!ms)
    pause();
}

static void configure(const dtlto_session_params *params,
                      dtlto_session_config *config) {
  (void)config;
  const char *in = parameter(params, "in");
  while (in && !strcmp(in, "configure"))
    pause();
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  block(s, "open");
  return DTLTO_OK;
}

static int32_t submit_hook(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  block(s, "submit");
  return DTLTO_OK;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  wait_for_cancel(s, job->id);
  result->status = DTLTO_CANCELLED;
}

static void cancel(dtlto_session *s, uint64_t job) {
  block(s, "cancel");
  common_cancel(s, job);
}

static int32_t load(dtlto_session *s, dtlto_load *load) {
  block(s, "load");
  return common_load(s, load);
}

static const struct hooks hooks = {
    .open = open_hook, .submit = submit_hook, .run = run};
PLUGIN_FUNCTIONS("block", configure, common_open, common_submit, cancel, load,
                 common_close);
