//===- JobInputs.h - The bitcode and index of a link's jobs -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_JOBINPUTS_H
#define DTLTO_LTO_JOBINPUTS_H

#include "Bitcode/IndexShard.h"
#include "Host/BuiltJob.h"
#include "Host/ModuleNames.h"
#include "LTO/LinkContext.h"
#include "LTO/SlimImports.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>

namespace dtlto {

/// The modules of a link as files that jobs share, and their index shards.
/// Thread-safe.
class JobInputs {
public:
  /// \p Slim has the files that jobs import from; if null, jobs import from
  /// whole modules. Both parameters outlive this object.
  JobInputs(const LinkContext &Ctx, SlimImports *Slim);

  /// The names that modules have on other machines.
  const ModuleNames &names() const { return Names; }

  /// Adds the module of \p T, the files that it imports from (the whole ones if
  /// \p WholeImports), and the index. Fails if one of them can't be sent to
  /// other machines.
  llvm::Error add(BuiltJob &Built, const Task &T, bool WholeImports);

  /// Adds \p Optimized as the module of \p T, without imports, and the index.
  llvm::Error addOptimized(BuiltJob &Built, const Task &T,
                           ModuleFile &Optimized);

private:
  /// From a module's name in the linker to its name on other machines.
  using NameMap = llvm::StringMap<llvm::StringRef>;
  using Shard = std::shared_ptr<const ShardBytes>;
  struct SharedShard {
    std::mutex Mutex; // held while the shard is made
    std::weak_ptr<const ShardBytes> Bytes;
  };

  llvm::Expected<ModuleFile *> getWholeFile(const llvm::BitcodeModule &Module);
  llvm::Expected<ModuleFile *> getImportFile(const llvm::BitcodeModule &Module);
  llvm::Expected<llvm::StringRef>
  wholeBytes(const llvm::BitcodeModule &Module) const;
  llvm::Expected<std::unique_ptr<ModuleFile>>
  makeFile(const llvm::BitcodeModule &Module, llvm::StringRef Bytes,
           llvm::StringRef Whole, bool MayReadFiles) const;
  void startSlimming(llvm::ArrayRef<llvm::StringRef> Imported, const Task &T);
  llvm::Error addModule(BuiltJob &Built, uint32_t Role, llvm::StringRef Name,
                        ModuleFile &File, NameMap &Paths);
  llvm::Error addIndex(BuiltJob &Built, llvm::Expected<Shard> TheShard) const;
  llvm::Expected<Shard>
  makeShard(const Task &T, const llvm::FunctionImporter::ImportMapTy &Imports,
            const NameMap &Paths) const;
  llvm::Expected<Shard> getShard(const Task &T, const NameMap &Paths);

  const LinkContext &Ctx;
  SlimImports *const Slim; // may be null
  const ModuleNames Names;
  std::mutex Mutex; // guards the maps, not their values
  llvm::StringMap<std::unique_ptr<ModuleFile>> Files;
  std::vector<std::unique_ptr<ModuleFile>> SlimFiles;
  /// The files that jobs import from: in SlimFiles, or in Files if sent whole.
  llvm::StringMap<ModuleFile *> ImportFiles;
  llvm::StringMap<SharedShard> Shards; // by module
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBINPUTS_H
