/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The SDK's C header doesn't depend on earlier includes and may be included
 * twice. Unused functions cause no warning. Compiled as C and as C++. */

#include "dtlto/sdk/RunJob.h"

#include "dtlto/sdk/RunJob.h"
