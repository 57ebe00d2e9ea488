// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A correct plugin whose farm is unavailable: open() reports why and fails.
// `as=` is the status (17: infrastructure). With `quiet=1`, it fails without a
// message.

#include "common.h"

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (!number(s, "quiet", 0))
    say(s, DTLTO_LOG_ERROR, "no scheduler answers at farm.example:8765");
  return (int32_t)number(s, "as", DTLTO_ERROR_INFRASTRUCTURE);
}

PLUGIN("open_fails", 0, .open = open_hook);
