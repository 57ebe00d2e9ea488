// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct, except that load() returns nonsense: each number is `n=` (0), or it
// fails with the status `as=`.

#include "common.h"

static const struct hooks hooks;

static int32_t load(dtlto_session *s, dtlto_load *load) {
  uint32_t n = (uint32_t)number(s, "n", 0);
  load->slots = load->free = load->queued = load->workers = n;
  load->expected_wait_ms = n;
  return (int32_t)number(s, "as", DTLTO_OK);
}

PLUGIN_ENTRY("odd_load", 0, common_open, common_submit, common_cancel, load,
             common_close);
