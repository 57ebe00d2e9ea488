//===- CodegenData.h - What code generation learns --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's code generation can emit data that it learns about a module, and can
// use the data of all modules. A process is in one of three states: it has no
// data, emits data, or uses published data.
//
// LLVM 21 has another form of the data and is treated as having none.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_CODEGENDATA_H
#define DTLTO_LLVM_CODEGENDATA_H

#include "Support/System.h"
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/LTO/Config.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CGData/CodeGenData.h"
#include "llvm/CGData/CodeGenDataReader.h"
#include "llvm/CGData/CodeGenDataWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/xxhash.h"
#endif
#include <cstring>
#include <string>
#include <vector>

namespace dtlto {

inline constexpr bool HasCodegenData = LLVM_VERSION_MAJOR >= 22;

inline constexpr llvm::StringLiteral TwoRoundsOption =
    "codegen-data-thinlto-two-rounds";
inline constexpr llvm::StringLiteral CodegenDataOption =
    "codegen-data-use-path";

/// Whether the job itself expresses the option \p Name for the data, so that
/// workers don't get the option. With LLVM 21, workers get no option for the
/// data: the objects would contain names of modules, which differ on workers.
inline bool isExpressedByJob(llvm::StringRef Name) {
  return HasCodegenData &&
         (Name == CodegenDataOption || Name == TwoRoundsOption);
}
inline bool isCodegenData(llvm::StringRef Name) {
  return HasCodegenData ? isExpressedByJob(Name)
                        : Name.starts_with("codegen-data");
}

/// Returns the value of LLVM's option \p Name, or T() if LLVM has no such
/// option.
template <class T> T optionValue(llvm::StringRef Name) {
  llvm::cl::Option *Option = findOption(Name);
  return Option ? static_cast<llvm::cl::opt<T> *>(Option)->getValue() : T();
}

/// Whether LLVM compiles each module twice, the second time with the data of
/// the first. LLVM does so itself, with any backend.
inline bool compilesTwice() { return optionValue<bool>(TwoRoundsOption); }

inline void setCompilesTwice(bool Value) {
  static_cast<llvm::cl::opt<bool> *>(findOption(TwoRoundsOption))
      ->setValue(Value);
}

/// Returns the file of data that LLVM's options name for code generation to
/// read. Empty: none.
inline std::string codegenDataPath() {
  if (!HasCodegenData || compilesTwice() ||
      optionValue<bool>("codegen-data-generate"))
    return {};
  return optionValue<std::string>(CodegenDataOption);
}

/// Whether LLVM's cache keys distinguish links with two rounds.
inline bool keyDistinguishesRounds(const llvm::lto::Config &Conf) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::any_of(Conf.MllvmArgs, [](llvm::StringRef Arg) {
    return Arg.contains(TwoRoundsOption);
  });
#else
  (void)Conf;
  return false;
#endif
}

#if LLVM_VERSION_MAJOR >= 22

/// Makes all code generation of this process emit data. Call it before any
/// other use of the data: LLVM reads its options only once.
inline void emitCodegenData() {
  bool OldValue = compilesTwice();
  setCompilesTwice(true);
  llvm::CodeGenData::getInstance();
  setCompilesTwice(OldValue);
}

/// Whether objects contain data, and so their module's name.
inline bool emitsCodegenData() { return llvm::cgdata::emitCGData(); }

/// Returns the option for which objects contain data, for messages; empty if
/// they contain none.
inline llvm::StringRef emittingOption() {
  if (!emitsCodegenData())
    return "";
  return compilesTwice() ? TwoRoundsOption
                         : llvm::StringLiteral("codegen-data-generate");
}

/// Returns the file whose data this process uses because of LLVM's options.
/// Empty if there is none, or if LLVM can't use it and has warned of it.
inline std::string usedCodegenDataPath() {
  llvm::CodeGenData &Data = llvm::CodeGenData::getInstance();
  if (!Data.hasOutlinedHashTree() && !Data.hasStableFunctionMap())
    return {};
  return optionValue<std::string>(CodegenDataOption);
}

/// Makes code generation use the data in \p File. Set \p Finalize if
/// MergedCodegenData wrote the file.
inline llvm::Error publishCodegenData(llvm::StringRef File, bool Finalize) {
  auto Reader = llvm::CodeGenDataReader::create(
      llvm::MemoryBuffer::getMemBufferCopy(File, CodegenDataOption));
  if (!Reader)
    return Reader.takeError();
  if ((*Reader)->hasOutlinedHashTree())
    if (auto Tree = (*Reader)->releaseOutlinedHashTree(); !Tree->empty())
      llvm::cgdata::publishOutlinedHashTree(std::move(Tree));
  if ((*Reader)->hasStableFunctionMap()) {
    auto Map = (*Reader)->releaseStableFunctionMap();
    if (Finalize)
      Map->finalize();
    if (!Map->empty())
      llvm::cgdata::publishStableFunctionMap(std::move(Map));
  }
  return llvm::Error::success();
}

/// Calls \p Each with each section of data in \p Object. IsMap is true for the
/// map of functions and false for the tree of outlined sequences.
inline llvm::Error forEachCodegenSection(
    llvm::StringRef Object,
    llvm::function_ref<void(bool IsMap, llvm::StringRef Bytes)> Each) {
  auto File = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(Object, "object"));
  if (!File)
    return File.takeError();
  auto Format = (*File)->makeTriple().getObjectFormat();
  std::string TreeName = llvm::getCodeGenDataSectionName(
      llvm::CG_outline, Format, /*AddSegmentInfo=*/false);
  std::string MapName = llvm::getCodeGenDataSectionName(
      llvm::CG_merge, Format, /*AddSegmentInfo=*/false);
  for (const llvm::object::SectionRef &Section : (*File)->sections()) {
    llvm::Expected<llvm::StringRef> Name = Section.getName();
    if (!Name)
      return Name.takeError();
    if (*Name != TreeName && *Name != MapName)
      continue;
    llvm::Expected<llvm::StringRef> Bytes = Section.getContents();
    if (!Bytes)
      return Bytes.takeError();
    if (!Bytes->empty())
      Each(*Name == MapName, *Bytes);
  }
  return llvm::Error::success();
}

/// The data of all modules. Add LLVM's sections in the order of tasks.
class MergedCodegenData {
public:
  void add(bool IsMap, llvm::StringRef Bytes) {
    Combined = llvm::stable_hash_combine(Combined, llvm::xxh3_64bits(Bytes));
    // LLVM's reader skips to addresses that are multiples of 4.
    std::vector<uint64_t> Aligned((Bytes.size() + 7) / 8 + 1);
    std::memcpy(Aligned.data(), Bytes.data(), Bytes.size());
    auto *Data = reinterpret_cast<const unsigned char *>(Aligned.data());
    if (IsMap) {
      llvm::StableFunctionMapRecord Record;
      Record.deserialize(Data);
      Map.merge(Record);
    } else {
      llvm::OutlinedHashTreeRecord Record;
      Record.deserialize(Data);
      Tree.merge(Record);
    }
  }

  /// Returns a hash of all bytes for LLVM's cache keys.
  uint64_t hash() const { return Combined; }

  /// Returns a file for LLVM with all useful data, or an empty string. The map
  /// isn't finalized, since reading a finalized map changes its order and
  /// thereby how code is merged. Call it once.
  llvm::Expected<std::string> write() {
    dropUnmergeable();
    if (Tree.empty() && Map.empty())
      return std::string();
    llvm::CodeGenDataWriter Writer;
    if (!Tree.empty())
      Writer.addRecord(Tree);
    if (!Map.empty())
      Writer.addRecord(Map);
    // LLVM writes only to file descriptors.
    return captureFileOutput(
        [&](llvm::raw_fd_ostream &OS) { return Writer.write(OS); });
  }

private:
  /// Drops the functions that finalize() would drop because nothing can be
  /// merged with them, which are most. finalize() treats each hash separately,
  /// so this doesn't affect the other functions.
  void dropUnmergeable() {
    llvm::StableFunctionMap Final;
    Final.merge(*Map.FunctionMap);
    Final.finalize();
    llvm::StableFunctionMapRecord Mergeable;
    for (const auto &[Hash, Functions] : Map.FunctionMap->getFunctionMap()) {
      if (!Final.contains(Hash))
        continue;
      for (const auto &F : Functions.Entries)
        Mergeable.FunctionMap->insert(
            {Hash, *Map.FunctionMap->getNameForId(F->FunctionNameId),
             *Map.FunctionMap->getNameForId(F->ModuleNameId), F->InstCount,
             llvm::IndexOperandHashVecType(F->IndexOperandHashMap->begin(),
                                           F->IndexOperandHashMap->end())});
    }
    Map = std::move(Mergeable);
  }

  llvm::OutlinedHashTreeRecord Tree;
  llvm::StableFunctionMapRecord Map;
  uint64_t Combined = 0;
};

#else // These are never called.

inline llvm::Error noCodegenData() {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "this LLVM does not support codegen data");
}
inline void emitCodegenData() {}
inline bool emitsCodegenData() { return false; }
inline llvm::StringRef emittingOption() { return ""; }
inline std::string usedCodegenDataPath() { return {}; }
inline llvm::Error publishCodegenData(llvm::StringRef, bool) {
  return noCodegenData();
}
inline llvm::Error
forEachCodegenSection(llvm::StringRef,
                      llvm::function_ref<void(bool, llvm::StringRef)>) {
  return noCodegenData();
}
class MergedCodegenData {
public:
  void add(bool, llvm::StringRef) {}
  uint64_t hash() const { return 0; }
  llvm::Expected<std::string> write() { return noCodegenData(); }
};

#endif

} // namespace dtlto

#endif // DTLTO_LLVM_CODEGENDATA_H
