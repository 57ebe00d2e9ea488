// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: the plugin's struct ends before its functions.

#include "common.h"

#include <stddef.h>

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    .size = offsetof(dtlto_plugin, configure),
    .abi_major = DTLTO_ABI_MAJOR,
    .abi_minor = DTLTO_ABI_MINOR,
    .name = "abi_size",
    .version = "test",
};
