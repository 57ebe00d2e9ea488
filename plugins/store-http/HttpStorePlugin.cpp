//===- HttpStorePlugin.cpp - The library of http:// and https:// ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpStore.h"

DTLTO_STORE_PLUGIN(dtlto::http::HttpStore, "store_http", DTLTO_VERSION);
