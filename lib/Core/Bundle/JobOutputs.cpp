//===- JobOutputs.cpp - The outputs of a backend compile ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/JobOutputs.h"
#include "Support/Failure.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral OutputsMagic = "DTLTOOUT";
static constexpr uint32_t OutputsVersion = 1;

/// The kinds of outputs in the order of the stream: the object, then the kinds
/// with a field each.
static constexpr uint32_t ObjectKind = 1;
static constexpr std::pair<uint32_t, std::optional<StringRef> JobOutputs::*>
    OtherKinds[] = {{2, &JobOutputs::Dwo},
                    {3, &JobOutputs::Remarks},
                    {4, &JobOutputs::Optimized}};

SideFiles dtlto::sideFiles(const lto::Config &Conf, unsigned Task) {
  SideFiles Files;
  // See codegen() in LLVM's LTOBackend.cpp.
  if (!Conf.DwoDir.empty()) {
    SmallString<256> Path(Conf.DwoDir);
    sys::path::append(Path, std::to_string(Task) + ".dwo");
    Files.Dwo = Path.str().str();
  }
  // See setupLLVMOptimizationRemarks() in LTO.cpp.
  if (!Conf.RemarksFilename.empty())
    Files.Remarks = Conf.RemarksFilename + ".thin." + std::to_string(Task) +
                    "." + Conf.RemarksFormat;
  return Files;
}

bool dtlto::arePackedOutputs(StringRef Bytes) {
  return Bytes.starts_with(OutputsMagic);
}

SmallVector<char, 0> dtlto::packOutputs(const JobOutputs &Outputs) {
  SmallVector<std::pair<uint32_t, StringRef>, 4> Parts = {
      {ObjectKind, Outputs.Object}};
  for (const auto &[Kind, Field] : OtherKinds)
    if (Outputs.*Field)
      Parts.push_back({Kind, *(Outputs.*Field)});

  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  support::endian::Writer Out(OS, endianness::little);
  OS << OutputsMagic;
  Out.write(OutputsVersion);
  Out.write(static_cast<uint32_t>(Parts.size()));
  for (const auto &[Kind, Part] : Parts) {
    Out.write(Kind);
    Out.write<uint32_t>(0);
    Out.write<uint64_t>(Part.size());
  }
  for (const auto &[Kind, Part] : Parts)
    OS << Part;
  return Bytes;
}

Expected<JobOutputs> dtlto::unpackOutputs(StringRef Bytes,
                                          const SideFiles &Files) {
  auto Fail = [](const Twine &Why) {
    return failure("not the outputs of the job: " + Why);
  };
  JobOutputs Result;
  SmallVector<std::pair<uint32_t, StringRef *>, 4> Requested = {
      {ObjectKind, &Result.Object}};
  const bool IsRequested[] = {!Files.Dwo.empty(), !Files.Remarks.empty(),
                              Files.Optimized};
  for (size_t I = 0; I != std::size(OtherKinds); ++I)
    if (IsRequested[I])
      Requested.push_back(
          {OtherKinds[I].first, &(Result.*OtherKinds[I].second).emplace()});

  constexpr size_t HeadSize = 16, EntrySize = 16;
  if (!Bytes.starts_with(OutputsMagic))
    return Fail("no magic number");
  size_t ContentsAt = HeadSize + EntrySize * Requested.size();
  if (Bytes.size() < ContentsAt)
    return Fail("cut off");
  auto Read32 = [&](size_t At) {
    return support::endian::read32le(Bytes.data() + At);
  };
  if (Read32(8) != OutputsVersion)
    return Fail("version " + Twine(Read32(8)));
  if (Read32(12) != Requested.size())
    return Fail(Twine(Read32(12)) + " files instead of " +
                Twine(Requested.size()));
  StringRef Rest = Bytes.drop_front(ContentsAt);
  for (size_t I = 0; I != Requested.size(); ++I) {
    size_t At = HeadSize + EntrySize * I;
    if (Read32(At) != Requested[I].first || Read32(At + 4) != 0)
      return Fail("a wrong kind of file");
    uint64_t Size = support::endian::read64le(Bytes.data() + At + 8);
    if (Size > Rest.size())
      return Fail("cut off");
    *Requested[I].second = Rest.take_front(Size);
    Rest = Rest.drop_front(Size);
  }
  if (!Rest.empty())
    return Fail("data after the last file");
  return Result;
}

Error dtlto::writeFile(StringRef Path, StringRef Bytes) {
  std::error_code EC;
  raw_fd_ostream OS(Path, EC, sys::fs::OF_None);
  if (!EC) {
    OS << Bytes;
    if (Path == "-")
      OS.flush();
    else
      OS.close();
    EC = OS.error();
    OS.clear_error();
    if (EC && Path != "-")
      sys::fs::remove(Path);
  }
  return EC ? createFileError(Path, EC) : Error::success();
}

Error dtlto::writeSideFiles(const JobOutputs &Outputs, const SideFiles &Files) {
  if (Outputs.Dwo) {
    StringRef Folder = sys::path::parent_path(Files.Dwo);
    if (!Folder.empty())
      if (std::error_code EC = sys::fs::create_directories(Folder))
        return createFileError(Folder, EC);
    if (Error E = writeFile(Files.Dwo, *Outputs.Dwo))
      return E;
  }
  if (Outputs.Remarks)
    return writeFile(Files.Remarks, *Outputs.Remarks);
  return Error::success();
}
