// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: jobs are accepted and never answered until they are cancelled. With
// `late=1`, a cancelled job is then answered with its object.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  if (number(s, "late", 0))
    codegen(s, job, result);
  wait_for_cancel(s, job->id);
  if (!number(s, "late", 0))
    result->status = DTLTO_CANCELLED;
}

PLUGIN("never", 0, .run = run);
