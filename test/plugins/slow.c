// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct, but each job takes `ms=` (1500) longer than needed. A running job
// reports its state every 100 ms; with `silent=1` it doesn't.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  for (long ms = number(s, "ms", 1500); ms > 0; ms -= 100) {
    if (!number(s, "silent", 0))
      s->host->job_state(s->host->context, job->id, DTLTO_STATE_RUNNING,
                         "snail");
    usleep(100 * 1000);
  }
  codegen(s, job, result);
}

PLUGIN("slow", 0, .run = run);
