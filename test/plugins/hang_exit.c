// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: a destructor of the library doesn't return.

#include "common.h"

__attribute__((destructor)) static void hang(void) {
  for (;;)
    pause();
}

PLUGIN("hang_exit", 0);
