// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: all jobs are answered well, but close() doesn't return.

#include "common.h"

static void hang(dtlto_session *s) {
  (void)s;
  for (;;)
    pause();
}

PLUGIN("hang_close", 0, .closed = hang);
