/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Too late to ask the system for more than C: only with -D_GNU_SOURCE. */

#include "dtlto/PluginAPI.h"

#include "dtlto/sdk/RunJob.h"
