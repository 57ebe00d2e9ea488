// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: the objects are right, but the release() of the first one doesn't
// return.

#include "common.h"

static void hang(void *owner, const void *data, uint64_t size) {
  (void)owner;
  (void)data;
  (void)size;
  for (;;)
    pause();
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  codegen(s, job, result);
  dtlto_buffer made = result->object;
  give(result, made.data, made.size);
  release(&made);
  result->object.release = hang;
}

PLUGIN("hang_release", 0, .run = run);
