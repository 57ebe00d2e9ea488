//===- ModuleStore.h - Where optimised modules are kept ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder, or the store of the plugin's farm: bytes under keys. It knows
// nothing of modules, and its bytes may be any (KeptModules.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_MODULESTORE_H
#define DTLTO_LTO_MODULESTORE_H

#include "Bundle/Bundle.h"
#include "Host/HostContext.h"
#include "Support/Buffer.h"
#include <optional>

namespace dtlto {

/// Any thread. What goes wrong is told here, once.
class ModuleStore {
public:
  virtual ~ModuleStore() = default;

  /// Whether others write there, too: then nothing is this machine's own.
  virtual bool isShared() const = 0;
  /// What is there, or nothing at all; no value: that isn't known yet. Where
  /// isShared(), it may take a while.
  virtual std::optional<Buffer> get(const BundleId &Key) = 0;
  /// False: it could surely not be put there.
  virtual bool mayPut() const { return true; }
  /// Puts \p Head and \p Bytes there. False: it didn't work.
  virtual bool put(const BundleId &Key, llvm::StringRef Head,
                   llvm::StringRef Bytes) = 0;
  /// Sees to it that nothing is there. False: it didn't work.
  virtual bool remove(const BundleId &Key) = 0;
  /// How messages name what is there.
  virtual std::string name(const BundleId &Key) const = 0;
  /// After the last job.
  virtual void finish() {}
};

/// \p Folder is made when it is needed.
std::unique_ptr<ModuleStore> makeFolderStore(Messages &Msg, std::string Folder);
/// Of the session to come, by \p Host.Store. All that it gets takes no more
/// than the memory of jobs in flight.
std::unique_ptr<ModuleStore> makeFarmStore(const HostContext &Host);

} // namespace dtlto

#endif // DTLTO_LTO_MODULESTORE_H
