// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: always busy, and never announces room. With room=1, it announces room
// each time before it answers BUSY.

#include "common.h"

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  if (argument(s, "room"))
    s->host->load_changed(s->host->context);
  return DTLTO_BUSY;
}

PLUGIN("always_busy", 0, .submit = submit);
