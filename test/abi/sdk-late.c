/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A system header is included first, so the SDK's can't define _GNU_SOURCE:
 * only with -D_GNU_SOURCE. */

#include "dtlto/PluginAPI.h"

#include "dtlto/sdk/RunJob.h"
