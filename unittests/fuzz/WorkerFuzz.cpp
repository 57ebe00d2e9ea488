//===- WorkerFuzz.cpp - Jobs of any bytes in a worker ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a byte that says how to read the rest.
//
//   0   the stream of a bundle, as it is: a digest detects any change
//   1   choices of changes to a bundle whose digests are right
//
//===----------------------------------------------------------------------===//

#include "BundleJob.h"
#include "Compile/Worker.h"
#include "Config/ConfigJSON.h"
#include "Fuzz.h"
#include "LTO/JobBuilder.h"
#include "TestLink.h"
#include "llvm/Config/llvm-config.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

/// A job of a link of three modules, and its object.
struct Original {
  std::string Stream;
  Bundle B;
  Bytes Object;
};

/// Returns the jobs. The first module imports from the second.
static std::vector<Original> makeOriginals() {
  std::vector<Original> Jobs;
  TestLink TheLink;
  TheLink.addProgram(3);
  TestLink::Result R =
      TheLink.look(nullptr, [&](const Link &L, std::vector<Task> &Tasks) {
        JobBuilder Builder(L.Jobs, DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS |
                                       DTLTO_JOB_CONFIG);
        for (const Task &T : Tasks) {
          std::unique_ptr<BuiltJob> Job = must(Builder.build(T, 1, 1));
          Bytes Stream = must(writeBundle(Job->Job));
          Jobs.push_back({ref(Stream).str(),
                          must(readBundle(ref(Stream), LLVM_VERSION_STRING)),
                          Bytes()});
        }
      });
  check(R.Error.empty() && Jobs.size() == 3);
  for (Original &O : Jobs)
    O.Object = must(runBundle(O.B, [](StringRef) {})).Object;
  return Jobs;
}

static const std::vector<Original> &originals() {
  static const std::vector<Original> &Jobs =
      *new std::vector<Original>(makeOriginals());
  return Jobs;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  for (const Original &O : originals())
    Seeds.push_back('\0' + O.Stream);
  Seeds.push_back(std::string(1, '\1'));
  Seeds.push_back("\1\1\2\1\1\0\3\2\1");
  Seeds.push_back("\1\2\1\5\4\3\2\1\6\7\x8\x9\xa");
  for (int Step : {3, 11, 37}) {
    std::string Seed = "\1";
    for (int I = 1; I != 40; ++I)
      Seed += char(I * Step);
    Seeds.push_back(Seed);
  }
  return Seeds;
}

/// Reads any stream. An accepted stream must have the digest of one of the
/// jobs, and must be that job.
static void readAny(StringRef Stream) {
  Expected<Bundle> B = readBundle(Stream, LLVM_VERSION_STRING);
  if (!B) {
    check(isLine(toString(B.takeError())));
    return;
  }
  for (const Original &O : originals())
    if (B->Id == O.B.Id) {
      check(same(*B, O.B));
      return;
    }
  abort();
}

/// Returns whether \p Why names the part of \p B that is wrong.
static bool namesPart(StringRef Why, const Bundle &B) {
  for (const Bundle::Input &In : B.Inputs)
    if (Why.contains(In.Path))
      return true;
  return Why.contains("configuration") || Why.contains("LLVM's options") ||
         Why.contains(
             "the index does not describe the imports of the module") ||
         Why.contains("imported but not in the bundle");
}

static void runAny(Choices C) {
  const std::vector<Original> &Jobs = originals();
  const Original &O = Jobs[C.below(Jobs.size())];
  std::vector<BundleJob::File> Files = BundleJob::filesOf(O.B);
  std::string Config = O.B.Config;
  // Other valid files, because LLVM's reader ends the process on some damaged
  // ones, in any linker and compiler.
  auto anyBytes = [&]() -> std::string {
    unsigned Kind = C.below(6);
    if (Kind == 0)
      return "";
    if (Kind == 1)
      return C.text(40);
    const Bundle &Other = Jobs[C.below(Jobs.size())].B;
    const Bundle::Input &In = Other.Inputs[C.below(Other.Inputs.size())];
    return ref(In.Bytes).str();
  };
  for (unsigned Times = C.below(5); Times != 0; --Times) {
    size_t At = C.below(Files.size());
    switch (C.below(7)) {
    case 0:
      Files[At].Bytes = anyBytes();
      break;
    case 1:
      Files[At].Path = C.text(12).c_str();
      break;
    case 2:
      std::swap(Files[At], Files[C.below(Files.size())]);
      break;
    case 3:
      std::swap(Files[At].Path, Files[C.below(Files.size())].Path);
      break;
    case 4:
      Files.push_back(
          {C.text(12).c_str(), 1 + uint32_t(C.below(4)), anyBytes()});
      break;
    case 5:
      if (Files.size() > 1)
        Files.erase(Files.begin() + ptrdiff_t(At));
      break;
    case 6: {
      size_t Begin = (C.take() << 8 | C.take()) % Config.size();
      std::string New = C.text(10).c_str();
      Config.replace(Begin, C.below(12), New);
      break;
    }
    }
  }
  BundleJob Job(Files, O.B.Triple, O.B.Name, O.B.Args, O.B.Output, Config);
  Expected<SmallVector<char, 0>> Stream = writeBundle(Job.get());
  if (!Stream) {
    check(isLine(toString(Stream.takeError())));
    return;
  }
  Bundle B = must(readBundle(ref(*Stream), LLVM_VERSION_STRING));
  // Don't run jobs with another valid configuration: LLVM may end the process,
  // for example if there is no such target.
  if (Config != O.B.Config) {
    if (Expected<ReadConfig> Read = readConfig(Config))
      return;
    else
      consumeError(Read.takeError());
  }
  std::vector<std::string> Said;
  Expected<WorkerResult> R =
      runBundle(B, [&](StringRef Text) { Said.push_back(Text.str()); });
  if (!R) {
    std::string Why = toString(R.takeError());
    check(isLine(Why));
    check(namesPart(Why, B) || !Said.empty());
    check(B.Id != O.B.Id);
    return;
  }
  check(Config == O.B.Config && R->IsProduced);
  // The same job leads to the same object.
  if (B.Id == O.B.Id)
    check(ref(R->Object) == ref(O.Object));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  if (Data[0] % 2 == 0)
    readAny({reinterpret_cast<const char *>(Data) + 1, Size - 1});
  else
    runAny(Choices(Data + 1, Size - 1));
  return 0;
}
