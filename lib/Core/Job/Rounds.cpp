//===- Rounds.cpp - Two rounds of code generation -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/Rounds.h"
#include "Bundle/CodegenData.h"
#include "LLVM/CodegenData.h"

using namespace llvm;
using namespace dtlto;

Expected<SmallVector<char, 0>> dtlto::toldBy(StringRef Object) {
  CodegenSections Sections;
  if (Error E = forEachCodegenSection(Object, [&](bool IsMap, StringRef Bytes) {
        Sections.push_back(
            {IsMap ? CodegenSection::FunctionMap : CodegenSection::HashTree,
             Bytes});
      }))
    return std::move(E);
  return packSections(Sections);
}

void Rounds::setUp(uint64_t MaxSentIR, bool MayUseSentHere) {
  RoomForIR = MaxSentIR;
  UsesSentHere = MayUseSentHere;
}

void Rounds::keep(unsigned Number, StringRef Name, StringRef Sections) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Told[Number] = {Name.str(), Sections.str()};
}

void Rounds::keepObject(unsigned Number, SmallVector<char, 0> Object) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (KeepsObjects)
    Objects.try_emplace(Number, std::move(Object));
}

std::optional<SmallVector<char, 0>> Rounds::takeObject(unsigned Number) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Objects.find(Number);
  if (It == Objects.end())
    return std::nullopt;
  SmallVector<char, 0> Object = std::move(It->second);
  Objects.erase(It);
  return Object;
}

void Rounds::keepIR(unsigned Number, std::unique_ptr<MemoryBuffer> IR,
                    bool IsCached) {
  std::lock_guard<std::mutex> Lock(Mutex);
  // The first stays: there may be two attempts, and equal.
  OwnIRs.try_emplace(Number, KeptIR{std::move(IR), IsCached});
}

void Rounds::keepSentIR(unsigned Number, StringRef IR) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IR.size() > RoomForIR) {
    WantsIR = false; // of those to come
    return;
  }
  if (SentIRs.try_emplace(Number, IR.str()).second)
    RoomForIR -= IR.size();
}

bool Rounds::wantsIR() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return WantsIR;
}

std::optional<StringRef> Rounds::ownIR(unsigned Number) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = OwnIRs.find(Number);
  if (It == OwnIRs.end())
    return std::nullopt;
  return It->second.Bytes->getBuffer();
}

std::optional<StringRef> Rounds::irHere(unsigned Number) const {
  if (auto IR = ownIR(Number))
    return IR;
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = SentIRs.find(Number);
  if (It == SentIRs.end() || !UsesSentHere)
    return std::nullopt;
  return StringRef(It->second);
}

std::optional<StringRef> Rounds::irToSend(unsigned Number) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (auto It = SentIRs.find(Number); It != SentIRs.end())
    return StringRef(It->second);
  auto It = OwnIRs.find(Number);
  if (It == OwnIRs.end() || It->second.IsCached)
    return std::nullopt;
  return It->second.Bytes->getBuffer();
}

Error Rounds::merge() {
  MergedCodegenData All;
  for (const auto &Entry : Told) {
    const auto &[Name, Bytes] = Entry.second;
    Expected<CodegenSections> Sections = unpackSections(Bytes, Name);
    if (!Sections)
      return Sections.takeError();
    for (const CodegenSection &S : *Sections)
      All.add(S.Kind == CodegenSection::FunctionMap, S.Bytes);
  }
  Told.clear();
  Objects.clear();
  Hash = All.hash();
  Expected<std::string> Written = All.write();
  if (!Written)
    return Written.takeError();
  Data = std::move(*Written);
  Current = 2;
  if (Data.empty())
    return Error::success();
  return publishCodegenData(Data, /*Finalize=*/true);
}
