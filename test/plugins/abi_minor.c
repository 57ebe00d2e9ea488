// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A correct plugin of a later minor version of the ABI, whose structs have
// grown.

#include "common.h"

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  struct {
    dtlto_result now;
    uint64_t later[4];
  } grown;
  memset(&grown, 0x5a, sizeof(grown));
  grown.now = no_result();
  codegen(s, job, &grown.now);
  grown.now.size = sizeof(grown);
  s->host->job_done(s->host->context, job->id, &grown.now);
  result->size = 0;
}

static const struct hooks hooks = {.run = run};

struct grown_plugin {
  dtlto_plugin now;
  void (*later[4])(void);
};

// The header declares the symbol with today's type, so C needs another name.
DTLTO_PLUGIN_EXPORT extern const struct grown_plugin
    grown_entry __asm__(DTLTO_PLUGIN_SYMBOL);
const struct grown_plugin grown_entry = {
    {sizeof(struct grown_plugin), DTLTO_ABI_MAJOR, DTLTO_ABI_MINOR + 7, 0,
     "abi_minor", "test", common_configure, common_open, common_submit,
     common_cancel, common_load, common_close, no_extension},
    {abort, abort, abort, abort}};
