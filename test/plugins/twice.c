// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: two results for each job. The first is right, the second is wrong.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  dtlto_result first = no_result();
  codegen(s, job, &first);
  s->host->job_done(s->host->context, job->id, &first);
  give(result, "the same job again", 18);
}

PLUGIN("twice", 0, .run = run);
