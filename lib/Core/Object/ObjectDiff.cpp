//===- ObjectDiff.cpp - Where two files differ ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectDiff.h"
#include "Object/WasmFile.h"
#include "Support/AtomicFile.h"
#include "Support/Text.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

/// The maximum number of sections in a description.
static constexpr size_t MaxNames = 4;

namespace {
struct NamedSection {
  std::string Name;
  StringRef Contents; // a part of the file, or empty
};
} // namespace

static std::string sectionName(const WasmSection &S) {
  if (S.Id == wasm::WASM_SEC_CUSTOM)
    return printable(S.Name.take_front(100));
  return S.Id <= wasm::WASM_SEC_LAST_KNOWN
             ? wasm::sectionTypeToString(S.Id).str()
             : "section " + std::to_string(S.Id);
}

/// Returns all sections of an object file of any format. Returns none for other
/// bytes, which may be untrusted.
static std::vector<NamedSection> sectionsOf(StringRef Bytes) {
  std::vector<NamedSection> Sections;
  if (Bytes.starts_with(StringRef("\0asm", 4))) {
    auto Found = wasmSections(Bytes);
    if (!Found)
      consumeError(Found.takeError());
    else
      for (const WasmSection &S : *Found)
        Sections.push_back({sectionName(S), S.Contents});
    return Sections;
  }
  auto File = object::ObjectFile::createObjectFile(MemoryBufferRef(Bytes, ""));
  if (!File) {
    consumeError(File.takeError());
    return Sections;
  }
  for (const object::SectionRef &S : (*File)->sections()) {
    NamedSection Found;
    if (Expected<StringRef> Name = S.getName())
      Found.Name = printable(Name->take_front(100));
    else
      consumeError(Name.takeError());
    if (!S.isVirtual()) {
      if (Expected<StringRef> Contents = S.getContents())
        Found.Contents = *Contents;
      else
        consumeError(Contents.takeError());
    }
    Sections.push_back(std::move(Found));
  }
  return Sections;
}

/// Returns the section among \p Sections of \p File that contains \p Offset.
static std::string sectionAt(ArrayRef<NamedSection> Sections, StringRef File,
                             size_t Offset) {
  for (const NamedSection &S : Sections) {
    if (S.Contents.empty() || S.Contents.begin() < File.begin() ||
        S.Contents.end() > File.end())
      continue;
    size_t Begin = static_cast<size_t>(S.Contents.begin() - File.begin());
    if (Offset >= Begin && Offset - Begin < S.Contents.size())
      return "section " + S.Name + ", byte " + std::to_string(Offset - Begin);
  }
  return "in no section";
}

static std::string differingSections(ArrayRef<NamedSection> Remote,
                                     ArrayRef<NamedSection> Local) {
  std::vector<std::string> Names;
  for (size_t I = 0; I != std::max(Remote.size(), Local.size()); ++I)
    if (I >= Remote.size() || I >= Local.size() ||
        Remote[I].Name != Local[I].Name ||
        Remote[I].Contents != Local[I].Contents)
      Names.push_back(I < Local.size() ? Local[I].Name : Remote[I].Name);
  std::string Text;
  for (size_t I = 0; I != std::min(Names.size(), MaxNames); ++I)
    Text += (I == 0 ? "" : ", ") + Names[I];
  if (Names.size() > MaxNames)
    Text += " and " + std::to_string(Names.size() - MaxNames) + " more";
  return Text;
}

std::string dtlto::describeDifference(StringRef Remote, StringRef Local) {
  size_t Common = std::min(Remote.size(), Local.size()), Offset = 0;
  while (Offset != Common && Remote[Offset] == Local[Offset])
    ++Offset;
  std::string Text = "first in byte " + std::to_string(Offset);
  std::vector<NamedSection> LocalSections = sectionsOf(Local),
                            RemoteSections = sectionsOf(Remote);
  if (!LocalSections.empty() && !RemoteSections.empty()) {
    Text += " (" + sectionAt(LocalSections, Local, Offset) + ")";
    std::string Names = differingSections(RemoteSections, LocalSections);
    if (!Names.empty())
      Text += ", in " + Names;
  }
  Text += "; " + std::to_string(Remote.size()) + " bytes";
  if (Remote.size() != Local.size())
    Text += ", not " + std::to_string(Local.size());
  return Text;
}

std::string dtlto::folderForDifferences(StringRef Output) {
  sys::fs::file_status Status;
  bool IsFile =
      !Output.empty() && Output != "-" &&
      (sys::fs::status(Output, Status) || sys::fs::is_regular_file(Status));
  return (IsFile ? Output : StringRef("a.out")).str() + ".dtlto-verify";
}

Error dtlto::saveResults(const Twine &Stem, StringRef Extension,
                         StringRef Remote, StringRef Local) {
  for (const auto &[Which, Bytes] :
       {std::pair(".remote", Remote), std::pair(".local", Local)}) {
    std::string Path = (Stem + Which + Extension).str();
    if (std::error_code EC =
            sys::fs::create_directories(sys::path::parent_path(Path)))
      return createFileError(Path, EC);
    if (Error E = replaceFile(
            Path, [&Bytes = Bytes](raw_ostream &OS) { OS << Bytes; }))
      return createFileError(Path, std::move(E));
  }
  return Error::success();
}
