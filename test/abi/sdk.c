/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The SDK's header in C needs nothing before it, may be included twice, and
 * nobody hears of functions that aren't used. Compiled as C and as C++. */

#include "dtlto/sdk/RunJob.h"

#include "dtlto/sdk/RunJob.h"
