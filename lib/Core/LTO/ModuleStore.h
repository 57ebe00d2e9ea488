//===- ModuleStore.h - Where optimised modules are kept ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store of bytes under keys: a folder, or a store that machines share. It
// doesn't depend on the contents.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_MODULESTORE_H
#define DTLTO_LTO_MODULESTORE_H

#include "Bundle/Bundle.h"
#include "Host/RemoteStore.h"
#include "Support/Buffer.h"
#include <memory>

namespace dtlto {

/// Thread-safe. Each store reports its errors itself, once.
class ModuleStore {
public:
  virtual ~ModuleStore() = default;

  /// Whether other machines write to the store: then no entry counts as local.
  virtual bool isShared() const = 0;
  /// Returns the entry, or an empty buffer if there is none. May take a while
  /// if isShared().
  virtual Buffer get(const BundleId &Key) = 0;
  /// Returns false if put() is certain to fail.
  virtual bool mayPut() const { return true; }
  /// Stores \p Head followed by \p Bytes. Returns false on failure.
  virtual bool put(const BundleId &Key, llvm::StringRef Head,
                   llvm::StringRef Bytes) = 0;
  /// Removes the entry, if any. Returns false on failure.
  virtual bool remove(const BundleId &Key) = 0;
  /// Returns the entry's name for messages.
  virtual std::string name(const BundleId &Key) const = 0;
  /// Called after the last job.
  virtual void finish() {}
};

/// \p Folder is created when it is needed.
std::unique_ptr<ModuleStore> makeFolderStore(Messages &Msg, std::string Folder);
/// A store that uses \p Store. All entries that it reads take at most
/// \p Memory bytes.
std::unique_ptr<ModuleStore> makeSharedStore(std::shared_ptr<RemoteStore> Store,
                                             uint64_t Memory);

} // namespace dtlto

#endif // DTLTO_LTO_MODULESTORE_H
