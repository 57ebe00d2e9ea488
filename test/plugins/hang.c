// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: jobs are accepted and never answered, cancel() is ignored, and close()
// doesn't return.

#include "common.h"

static const struct hooks hooks;

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)s;
  (void)job;
  return DTLTO_OK;
}

static void cancel(dtlto_session *s, uint64_t job) {
  (void)s;
  (void)job;
}

static void hang(dtlto_session *s) {
  (void)s;
  for (;;)
    pause();
}

PLUGIN_ENTRY("hang", 0, common_open, submit, cancel, common_load, hang);
