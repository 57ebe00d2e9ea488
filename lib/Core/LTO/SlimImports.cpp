//===- SlimImports.cpp - What jobs of a link import from ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/SlimImports.h"
#include "Bitcode/Assembly.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>
#include <vector>

using namespace llvm;
using namespace dtlto;

SlimImports::SlimImports(ArrayRef<Task> Tasks, size_t MinSize)
    : Tasks(Tasks.begin(), Tasks.end()), MinSize(MinSize) {}

void SlimImports::plan() {
  std::vector<const FunctionImporter::ImportMapTy *> Lists;
  for (const Task &T : Tasks)
    // Jobs of one module share its list.
    if (Lists.empty() || Lists.back() != T.ImportList)
      Lists.push_back(T.ImportList);
  Imported.emplace(Lists);
}

SlimImports::Slice &SlimImports::sliceOf(const BitcodeModule &Module,
                                         bool &WasStarted) {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::unique_ptr<Slice> &Slot = Slices[Module.getModuleIdentifier()];
  if (!Slot)
    Slot = std::make_unique<Slice>();
  WasStarted = std::exchange(Slot->IsStarted, true);
  return *Slot;
}

void SlimImports::make(Slice &S, const BitcodeModule &Module, StringRef Whole) {
  std::string WhyNot;
  if (Whole.size() < MinSize) {
    WhyNot = "smaller than " + utostr(MinSize) + " bytes";
  } else {
    std::call_once(PlanOnce, [&] { plan(); });
    auto GUIDs = Imported->of(Module.getModuleIdentifier());
    Expected<SlimBitcode> Slim =
        slimModule(Module, GUIDSet(GUIDs.begin(), GUIDs.end()));
    if (!Slim)
      WhyNot = toString(Slim.takeError());
    else if (Slim->Bytes.size() >= Whole.size())
      WhyNot = "nothing to leave out";
    else
      S.Slim = std::move(*Slim);
  }
  S.Result.IsWhole = !WhyNot.empty();
  S.Result.Bytes = S.Result.IsWhole
                       ? Whole
                       : StringRef(S.Slim.Bytes.data(), S.Slim.Bytes.size());
  S.Result.MayReadFiles = !S.Result.IsWhole && S.Slim.MayHaveAssembly &&
                          assemblyMayReadFiles(S.Result.Bytes);
  std::lock_guard<std::mutex> Lock(Mutex);
  WholeBytes += Whole.size();
  SlimBytes += S.Result.Bytes.size();
  if (WhyNot.empty()) {
    ++NumSlim;
  } else {
    ++NumWhole;
    ++WholeReasons[WhyNot];
  }
}

SlimImports::Import SlimImports::getImportFile(const BitcodeModule &Module,
                                               StringRef Whole) {
  bool WasStarted;
  Slice &S = sliceOf(Module, WasStarted);
  std::call_once(S.MakeOnce, [&] { make(S, Module, Whole); });
  return S.Result;
}

void SlimImports::start(const BitcodeModule &Module, StringRef Whole) {
  bool WasStarted;
  Slice &S = sliceOf(Module, WasStarted);
  if (!WasStarted)
    std::call_once(S.MakeOnce, [&] { make(S, Module, Whole); });
}

std::vector<std::string> SlimImports::describe() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (NumSlim + NumWhole == 0)
    return {};
  std::vector<std::string> Lines;
  Lines.push_back(
      (Twine(NumSlim) + " of " + Twine(NumSlim + NumWhole) +
       " imported modules were slimmed; total size: " + Twine(WholeBytes) +
       " bytes whole, " + Twine(SlimBytes) + " bytes as sent")
          .str());
  for (const auto &[Why, Count] : WholeReasons)
    Lines.push_back(
        (Twine(Count) + " imported modules were sent whole: " + Why).str());
  return Lines;
}
