//===- StoreArguments.h - The URL and arguments of a store ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the libraries for dtlto/ext/store.h share.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_STOREARGUMENTS_H
#define DTLTO_PLUGINS_STOREARGUMENTS_H

#include "Arguments.h"
#include "dtlto/ext/store.h"

namespace dtlto {

/// Sets the arguments of a store. Throws sdk::Error for a wrong one, without
/// showing the value of an unknown one, which may be a secret.
void readStoreArguments(const dtlto_store_params &Params,
                        const ArgumentTable &Table);

/// Quotes \p Url, which may be invalid, without the credentials in it.
std::string urlForMessage(std::string_view Url);

} // namespace dtlto

#endif // DTLTO_PLUGINS_STOREARGUMENTS_H
