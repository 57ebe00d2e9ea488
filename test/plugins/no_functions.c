// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: the struct has its full size, but some functions are null.

#include "dtlto/PluginAPI.h"

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    .size = sizeof(dtlto_plugin),
    .abi_major = DTLTO_ABI_MAJOR,
    .abi_minor = DTLTO_ABI_MINOR,
    .name = "no_functions",
    .version = "test",
};
