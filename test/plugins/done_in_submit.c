// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: calls job_done() from submit(). A host that holds a lock around
// submit() must not deadlock. With `of=last`, it is the job_done() of the
// previous job.

#include "common.h"

static const struct hooks hooks;

static uint64_t last;

static void end_last(dtlto_session *s) {
  dtlto_result result = no_result();
  const dtlto_local_codegen *local =
      s->host->extension(s->host->context, DTLTO_EXT_LOCAL_CODEGEN);
  local->run(s->host->context, last, &result);
  s->host->job_done(s->host->context, last, &result);
  last = 0;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  if (argument(s, "of")) {
    if (last)
      end_last(s);
    last = job->id;
    return DTLTO_OK;
  }
  dtlto_result result = no_result();
  codegen(s, job, &result);
  s->host->job_done(s->host->context, job->id, &result);
  return DTLTO_OK;
}

static void close_session(dtlto_session *s) {
  if (last)
    end_last(s);
  common_close(s);
}

PLUGIN_ENTRY("done_in_submit", 0, common_open, submit, common_cancel,
             common_load, close_session);
