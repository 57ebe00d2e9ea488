// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each job ends with the status `as=` (17: infrastructure) and the message
// `text=` (none), for the first `times=` jobs with a module's name (each).
// Later jobs succeed with local code generation.

#include "common.h"

#include <limits.h>

static struct {
  char *name;
  long times;
} Seen[4096];

static long times_seen(const char *name) {
  for (size_t i = 0; i < sizeof(Seen) / sizeof(Seen[0]); ++i) {
    if (!Seen[i].name)
      Seen[i].name = strdup(name);
    if (!strcmp(Seen[i].name, name))
      return Seen[i].times++;
  }
  return LONG_MAX;
}

// One worker thread, so no lock is needed.
static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  if (times_seen(job->name) >= number(s, "times", LONG_MAX)) {
    codegen(s, job, result);
    return;
  }
  fail(result, (int32_t)number(s, "as", DTLTO_ERROR_INFRASTRUCTURE),
       argument(s, "text"));
  result->worker = "worker-7";
}

PLUGIN("fails", 0, .run = run);
