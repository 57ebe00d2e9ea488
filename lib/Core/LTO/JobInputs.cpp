//===- JobInputs.cpp - The bitcode and index of a link's jobs -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobInputs.h"
#include "Bitcode/Assembly.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/Index.h"
#include "LLVM/Module.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

static std::vector<StringRef> modules(const ModuleSummaryIndex &Index) {
  std::vector<StringRef> Names;
  for (const auto &Entry : Index.modulePaths())
    Names.push_back(Entry.first());
  return Names;
}

JobInputs::JobInputs(const LinkContext &Ctx, SlimImports *Slim)
    : Ctx(Ctx), Slim(Slim), Names(modules(Ctx.Index)) {}

/// Returns the bytes of the file of \p Module.
Expected<StringRef> JobInputs::wholeBytes(const BitcodeModule &Module) const {
  if (auto Input = Ctx.Inputs.find(Module))
    return Input->Bytes;
  return failure("the file of module '" + Module.getModuleIdentifier() +
                 "' is not in memory");
}

/// Makes the file of \p Module with contents \p Bytes, out of \p Whole.
Expected<std::unique_ptr<ModuleFile>>
JobInputs::makeFile(const BitcodeModule &Module, StringRef Bytes,
                    StringRef Whole, bool MayReadFiles) const {
  StringRef Name = Module.getModuleIdentifier();
  std::optional<std::string> Path = Names.encode(Name);
  if (!Path)
    return failure("the name of module '" + Name +
                   "' is too long for other machines");
  auto File = std::make_unique<ModuleFile>();
  File->Path = std::move(*Path);
  File->Name = Name.str();
  File->WholeSize = Whole.size();
  File->Bytes = Bytes;
  File->MayReadFiles = MayReadFiles;
  File->MayDrawNumbers = mayUseRandomNumbers(Module.getBuffer());
  return File;
}

/// Returns the whole file of \p Module, for jobs that compile it and for those
/// that import from it.
Expected<ModuleFile *> JobInputs::getWholeFile(const BitcodeModule &Module) {
  StringRef Name = Module.getModuleIdentifier();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = Files.find(Name); It != Files.end())
      return It->second.get();
  }
  Expected<StringRef> Whole = wholeBytes(Module);
  if (!Whole)
    return Whole.takeError();
  auto File = makeFile(Module, *Whole, *Whole,
                       assemblyMayReadFiles(Module.getBuffer()));
  if (!File)
    return File.takeError();
  // Another thread may have been faster.
  std::lock_guard<std::mutex> Lock(Mutex);
  return Files.try_emplace(Name, std::move(*File)).first->second.get();
}

/// Returns the file of \p Module with what jobs import from it.
Expected<ModuleFile *> JobInputs::getImportFile(const BitcodeModule &Module) {
  StringRef Name = Module.getModuleIdentifier();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = ImportFiles.find(Name); It != ImportFiles.end())
      return It->second;
  }
  Expected<StringRef> Whole = wholeBytes(Module);
  if (!Whole)
    return Whole.takeError();
  // Don't hold Mutex: this takes a while, and threads that want the same module
  // wait inside getImportFile().
  SlimImports::Import Import = Slim->getImportFile(Module, *Whole);
  if (Import.IsWhole) {
    Expected<ModuleFile *> File = getWholeFile(Module);
    if (!File)
      return File.takeError();
    std::lock_guard<std::mutex> Lock(Mutex);
    return ImportFiles[Name] = *File;
  }
  auto File = makeFile(Module, Import.Bytes, *Whole, Import.MayReadFiles);
  if (!File)
    return File.takeError();
  // Another thread may have been faster.
  std::lock_guard<std::mutex> Lock(Mutex);
  auto [It, IsNew] = ImportFiles.try_emplace(Name, File->get());
  if (IsNew)
    SlimFiles.push_back(std::move(*File));
  return It->second;
}

/// Slims what the job will import from, except modules that another thread has
/// begun. Jobs prepared side by side thus share the work.
void JobInputs::startSlimming(ArrayRef<StringRef> Imported, const Task &T) {
  for (StringRef Name : Imported)
    if (auto It = T.ModuleMap->find(Name); It != T.ModuleMap->end())
      if (auto Input = Ctx.Inputs.find(It->second))
        Slim->start(It->second, Input->Bytes);
}

Error JobInputs::addModule(BuiltJob &Built, uint32_t Role, StringRef Name,
                           ModuleFile &File, NameMap &Paths) {
  if (File.MayReadFiles)
    return failure("assembly that may read files (.incbin, .include, macros)");
  if (File.MayDrawNumbers)
    return failure("-falloc-token-mode=random (tokens depend on the module's "
                   "name)");
  Built.Inputs.emplace_back(Role, File);
  if (Role == DTLTO_ROLE_IMPORT)
    Built.WholeImportBytes += File.WholeSize;
  Paths[Name] = File.Path;
  return Error::success();
}

/// Makes the shard of \p T with \p Imports. \p Paths has the module and all its
/// imports.
Expected<JobInputs::Shard>
JobInputs::makeShard(const Task &T,
                     const FunctionImporter::ImportMapTy &Imports,
                     const NameMap &Paths) const {
  std::vector<ShardModule> Modules;
  ShardBytes Original =
      writeShard(Ctx.Index, Ctx.Defined, T.name(), Imports, &Modules);
  for (ShardModule &M : Modules) {
    auto It = Paths.find(M.Name);
    if (It == Paths.end())
      return failure("module '" + printable(M.Name) + "' has no encoded name");
    M.Name = It->second.str();
  }
  Expected<ShardBytes> Renamed =
      replaceShardModules(toStringRef(Original), Modules);
  if (!Renamed)
    return Renamed.takeError();
  return std::make_shared<const ShardBytes>(std::move(*Renamed));
}

/// Returns the shard of \p T with the thin link's imports. LLVM takes half a
/// millisecond to write a shard (LLD's modules). The jobs of a module have the
/// same shard and are mostly prepared one after the other. So their shard is
/// made once, and lives as long as one of them.
Expected<JobInputs::Shard> JobInputs::getShard(const Task &T,
                                               const NameMap &Paths) {
  SharedShard *OfModule;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    OfModule = &Shards[T.name()];
  }
  std::lock_guard<std::mutex> Lock(OfModule->Mutex);
  if (Shard Bytes = OfModule->Bytes.lock())
    return Bytes;
  Expected<Shard> New = makeShard(T, *T.ImportList, Paths);
  if (New)
    OfModule->Bytes = *New;
  return New;
}

Error JobInputs::addIndex(BuiltJob &Built, Expected<Shard> TheShard) const {
  if (!TheShard)
    return TheShard.takeError();
  Built.Shard = std::move(*TheShard);
  Built.Inputs.emplace_back(DTLTO_ROLE_INDEX, IndexPath.data(), Built.shard());
  return Error::success();
}

Error JobInputs::add(BuiltJob &Built, const Task &T, bool WholeImports) {
  // The primary module comes first, then imports in the importer's order.
  SmallVector<StringRef, 0> Imported = importedModules(*T.ImportList);
  sort(Imported);
  const bool IsSlim = Slim && !WholeImports;
  if (IsSlim)
    startSlimming(Imported, T);
  NameMap Paths;
  Expected<ModuleFile *> Primary = getWholeFile(T.Module);
  if (!Primary)
    return Primary.takeError();
  if (Error E =
          addModule(Built, DTLTO_ROLE_PRIMARY, T.name(), **Primary, Paths))
    return E;
  for (StringRef Name : Imported) {
    auto It = T.ModuleMap->find(Name);
    if (It == T.ModuleMap->end())
      return failure("no imported module '" + Name + "'");
    Expected<ModuleFile *> File =
        IsSlim ? getImportFile(It->second) : getWholeFile(It->second);
    if (!File)
      return File.takeError();
    if (Error E = addModule(Built, DTLTO_ROLE_IMPORT, Name, **File, Paths))
      return E;
  }
  return addIndex(Built, getShard(T, Paths));
}

Error JobInputs::addOptimized(BuiltJob &Built, const Task &T,
                              ModuleFile &Optimized) {
  // Give it the name of the file that it was made from.
  Expected<ModuleFile *> Source = getWholeFile(T.Module);
  if (!Source)
    return Source.takeError();
  NameMap Paths;
  if (Error E =
          addModule(Built, DTLTO_ROLE_PRIMARY, T.name(), Optimized, Paths))
    return E;
  Built.Inputs.back().path = (*Source)->Path.c_str();
  Paths[T.name()] = (*Source)->Path;
  OwningImportList NoImports;
  return addIndex(Built, makeShard(T, NoImports.List, Paths));
}
