// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin of the next major version of the ABI: none of its functions may be
// called.

#include "common.h"

static int32_t open_2(const dtlto_host *host,
                      const dtlto_session_params *params,
                      dtlto_session **session) {
  (void)host;
  (void)params;
  (void)session;
  abort();
}

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    .size = sizeof(dtlto_plugin),
    .abi_major = DTLTO_ABI_MAJOR + 1,
    .abi_minor = 0,
    .name = "abi_major",
    .version = "test",
    .open = open_2,
};
