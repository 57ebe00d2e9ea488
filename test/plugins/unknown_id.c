// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: before each right answer, sends an answer and a state for a job that
// doesn't exist. With `only=1`, there are no right answers. With `as=32`, the
// right answers lack the upper half of their ids.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  if (argument(s, "as")) {
    codegen(s, job, result);
    s->host->job_done(s->host->context, (uint32_t)job->id, result);
    result->size = 0;
    return;
  }
  dtlto_result wrong = no_result();
  give(&wrong, "nobody's object", 15);
  uint64_t nobody = job->id + 1000000;
  s->host->job_state(s->host->context, nobody, DTLTO_STATE_RUNNING, "nowhere");
  s->host->job_done(s->host->context, nobody, &wrong);
  if (!number(s, "only", 0)) {
    codegen(s, job, result);
    return;
  }
  wait_for_cancel(s, job->id);
  result->status = DTLTO_CANCELLED;
}

PLUGIN("unknown_id", 0, .run = run);
