// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: each object is text. With `empty=1`, it is empty.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  static const char Text[] = "this is not the object that you are looking for";
  (void)job;
  give(result, Text, number(s, "empty", 0) ? 0 : sizeof(Text));
}

PLUGIN("garbage", 0, .run = run);
