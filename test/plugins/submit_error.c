// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// submit() refuses each job with the status `as=` (17: infrastructure).

#include "common.h"

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  return (int32_t)number(s, "as", DTLTO_ERROR_INFRASTRUCTURE);
}

PLUGIN("submit_error", 0, .submit = submit);
