// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: the result's `size` is `size=` (4), too short for its status. With
// `claims`, the object's size exceeds any memory.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  dtlto_result small = no_result();
  small.size = (uint32_t)number(s, "size", 4);
  small.status = DTLTO_OK;
  if (argument(s, "claims")) {
    small.size = sizeof(small);
    small.object.data = "";
    small.object.size = UINT64_MAX;
  }
  s->host->job_done(s->host->context, job->id, &small);
  result->size = 0;
}

PLUGIN("small_result", 0, .run = run);
