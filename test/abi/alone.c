/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header needs nothing before it, and may be included twice. Compiled as C
 * and as C++. */

#include "dtlto/PluginAPI.h"

#include "dtlto/PluginAPI.h"
