// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: returns only the first `percent=` (50) of the right object.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  codegen(s, job, result);
  if (result->status != DTLTO_OK)
    return;
  dtlto_buffer whole = result->object;
  give(result, whole.data,
       whole.size * (uint64_t)number(s, "percent", 50) / 100);
  release(&whole);
}

PLUGIN("truncated", 0, .run = run);
