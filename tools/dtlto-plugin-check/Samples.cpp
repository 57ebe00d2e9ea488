//===- Samples.cpp - Jobs, bundles and symbols, read with LLVM ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file of this program that includes LLVM.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Bundle/ObjectFrame.h"
#include "Runner.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELFObjectFile.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

using namespace dtlto::check;
namespace fs = std::filesystem;

std::string dtlto::check::llvmVersion() { return LLVM_VERSION_STRING; }

void dtlto::check::digestOf(const std::string &Bytes, uint8_t *Digest) {
  std::string Raw = llvm::fromHex(dtlto::bundleDigest(Bytes));
  std::memcpy(Digest, Raw.data(), 32);
}

/// Returns false, and \p Error says why, if there is no job in \p Name.
static bool readSample(const fs::path &Name, bool HasObject, Sample &S,
                       std::string &Error) {
  llvm::Expected<dtlto::Bundle> B =
      dtlto::readBundle(readFile(Name.string()), llvmVersion());
  if (!B) {
    Error =
        "can't read '" + Name.string() + "': " + llvm::toString(B.takeError());
    return false;
  }
  S = {B->Name, B->Triple, B->Output, B->Config, B->Args, {}, {}};
  for (const dtlto::Bundle::Input &In : B->Inputs)
    S.Inputs.push_back({In.Path, In.Role, {In.Bytes.begin(), In.Bytes.end()}});
  S.Object = readFile(fs::path(Name).replace_extension("o").string());
  if (HasObject && S.Object.empty())
    Error = "no object beside '" + Name.string() + "'";
  return Error.empty();
}

std::vector<Sample> dtlto::check::readSamples(const std::string &Folder,
                                              std::string &Error,
                                              bool HaveObjects) {
  std::vector<Sample> All;
  std::vector<fs::path> Names;
  std::error_code EC;
  Error.clear();
  for (auto &Entry : fs::directory_iterator(Folder, EC))
    if (Entry.path().extension() == ".tar")
      Names.push_back(Entry.path());
  std::sort(Names.begin(), Names.end());
  for (const fs::path &Name : Names)
    if (!readSample(Name, HaveObjects, All.emplace_back(), Error))
      return {};
  if (All.empty())
    Error = "no jobs in '" + Folder + "'";
  std::map<std::string, std::string> Whole;
  for (const Sample &S : All)
    for (const Sample::Input &In : S.Inputs)
      if (In.Role == DTLTO_ROLE_PRIMARY)
        Whole[In.Path] = In.Bytes;
  for (Sample &S : All)
    for (Sample::Input &In : S.Inputs)
      if (In.Role == DTLTO_ROLE_IMPORT)
        In.Whole = Whole[In.Path];
  std::sort(All.begin(), All.end(), [](const Sample &L, const Sample &R) {
    return L.Object.size() > R.Object.size();
  });
  return All;
}

std::string dtlto::check::refusedJobs(const std::string &Folder) {
  return Folder + "/refused";
}

JobBundle dtlto::check::makeBundle(const dtlto_job &Job) {
  auto Made = dtlto::makeBundleSpans(Job);
  if (!Made)
    return llvm::consumeError(Made.takeError()), JobBundle();
  auto Own = std::make_shared<dtlto::BundleSpans>(std::move(*Made));
  return {Own->Spans, Own};
}

std::string dtlto::check::takeFromFrame(const dtlto_job &Job,
                                        std::string &Object) {
  auto Made = dtlto::makeBundleSpans(Job);
  if (!Made)
    return llvm::toString(Made.takeError());
  auto Result = dtlto::readFrame(Object, Made->Id);
  if (!Result)
    return llvm::toString(Result.takeError());
  Object = Result->str();
  return {};
}

std::vector<std::string> dtlto::check::exportedSymbols(const std::string &Path,
                                                       std::string &Error) {
  std::vector<std::string> Names;
  auto Binary = llvm::object::createBinary(Path);
  auto *File =
      Binary
          ? llvm::dyn_cast<llvm::object::ELFObjectFileBase>(Binary->getBinary())
          : nullptr;
  if (!File || !File->is64Bit())
    Error = "the plugin is no 64-bit ELF file";
  else
    for (const llvm::object::ELFSymbolRef &S :
         File->getDynamicSymbolIterators()) {
      auto Flags = S.getFlags();
      auto Name = S.getName();
      if (Flags && Name && S.getBinding() == llvm::ELF::STB_GLOBAL &&
          !(*Flags & llvm::object::SymbolRef::SF_Undefined))
        Names.push_back(Name->str());
      llvm::consumeError(Flags.takeError());
      llvm::consumeError(Name.takeError());
    }
  llvm::consumeError(Binary.takeError());
  return Names;
}
