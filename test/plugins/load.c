// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If the environment variable DTLTO_TEST_LOAD is set, the plugin fails while it
// is loaded. `hang` never returns from dlopen(), `crash` crashes in it, and a
// number ends the process with that exit code.

#include "common.h"

__attribute__((constructor)) static void load(void) {
  const char *how = getenv("DTLTO_TEST_LOAD");
  if (!how)
    return;
  if (!strcmp(how, "hang"))
    for (;;)
      pause();
  if (!strcmp(how, "crash"))
    __builtin_trap();
  exit(atoi(how));
}

PLUGIN("load", 0, .threads = 1);
