// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
