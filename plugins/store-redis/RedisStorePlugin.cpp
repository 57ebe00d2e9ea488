//===- RedisStorePlugin.cpp - The library of redis:// ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RedisStore.h"

DTLTO_STORE_PLUGIN(dtlto::redis::RedisStore, "store_redis", DTLTO_VERSION);
