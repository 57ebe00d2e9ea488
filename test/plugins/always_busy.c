// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: never has room, and never says that it has; with room=1, says so each
// time before the answer.

#include "common.h"

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  if (argument(s, "room"))
    s->host->load_changed(s->host->context);
  return DTLTO_BUSY;
}

PLUGIN("always_busy", 0, .submit = submit);
