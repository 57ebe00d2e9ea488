// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: writes past the end of an allocation, so that malloc() calls abort()
// while it holds its lock.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  char *volatile block = malloc(24); // hides its size from compilers
  memset(block + 24, 0xff, 4096 - 24);
  for (size_t size = 1; size < 1 << 20; size *= 2)
    free(malloc(size));
  codegen(s, job, result);
}

PLUGIN("heap", 0, .run = run);
