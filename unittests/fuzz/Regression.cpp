//===- Regression.cpp - A fuzz target as a test ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   <target> [<corpus folder>]       the seeds, the files of the folder, and
//                                    2000 changed inputs, always the same
//   <target> <file>                  one input
//   <target> --changed <count> <n> [<corpus folder>]
//                                    <count> changed inputs, which depend on
//                                    <n>
//   <target> --write-seeds <folder>  the seeds as files, for libFuzzer
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <random>

using namespace llvm;

/// The current input, shown after a crash.
static std::string Current;

static void run(const std::string &Input, const Twine &Name) {
  Current = Name.str();
  // The copy lets sanitizers detect a read past the end.
  std::vector<uint8_t> Copy(Input.begin(), Input.end());
  LLVMFuzzerTestOneInput(Copy.data(), Copy.size());
}

static std::string change(const std::vector<std::string> &Inputs,
                          std::mt19937 &Random) {
  auto below = [&](size_t N) { return N ? size_t(Random() % N) : 0; };
  std::string Text = Inputs[below(Inputs.size())];
  if (LLVMFuzzerCustomMutator != nullptr && below(8) != 0) {
    auto *Data = reinterpret_cast<uint8_t *>(Text.data());
    Text.resize(LLVMFuzzerCustomMutator(Data, Text.size(), Text.size(),
                                        unsigned(Random())));
    return Text;
  }
  for (size_t Times = 1 + below(4); Times != 0; --Times) {
    size_t At = below(Text.size());
    switch (below(7)) {
    case 0: // a bit
      if (!Text.empty())
        Text[At] = char(Text[At] ^ (1 << below(8)));
      break;
    case 1: // a byte
      if (!Text.empty())
        Text[At] = char(Random());
      break;
    case 2: { // an extreme number
      const uint32_t Edges[] = {0,          1,          0x7f,       0x80,
                                0xff,       0x7fff,     0xffff,     0x7fffffff,
                                0x80000000, 0xffffffff, 0xfffffffe, 0x10000};
      uint32_t Edge = Edges[below(std::size(Edges))];
      for (size_t I = 0; I != 4 && At + I < Text.size(); ++I)
        Text[At + I] = char(Edge >> 8 * I);
      break;
    }
    case 3: // erase
      Text.erase(At, 1 + below(16));
      break;
    case 4: // truncate
      Text.resize(At);
      break;
    case 5: // insert
      Text.insert(At, 1 + below(16), char(Random()));
      break;
    case 6: { // append the end of another input
      const std::string &Other = Inputs[below(Inputs.size())];
      Text.resize(At);
      Text += Other.substr(below(Other.size()));
      break;
    }
    }
  }
  return Text;
}

static int writeSeeds(const std::vector<std::string> &Seeds, StringRef Folder) {
  if (sys::fs::create_directories(Folder))
    return 1;
  for (size_t I = 0; I != Seeds.size(); ++I) {
    std::error_code EC;
    raw_fd_ostream OS((Folder + "/seed" + Twine(I)).str(), EC);
    if (EC)
      return 1;
    OS << Seeds[I];
  }
  return 0;
}

int main(int Argc, char **Argv) {
  bool IsFile = Argc == 2 && sys::fs::is_regular_file(Argv[1]);
  std::vector<std::string> Inputs;
  if (!IsFile)
    Inputs = dtlto::test::fuzzSeeds();
  if (Argc == 3 && StringRef(Argv[1]) == "--write-seeds")
    return writeSeeds(Inputs, Argv[2]);
  unsigned NumChanged = IsFile ? 0 : 2000, First = 1;
  if (Argc >= 4 && StringRef(Argv[1]) == "--changed" &&
      (StringRef(Argv[2]).getAsInteger(10, NumChanged) ||
       StringRef(Argv[3]).getAsInteger(10, First)))
    return 1;

  sys::AddSignalHandler(
      [](void *) { errs() << "crash in " << Current << '\n'; }, nullptr);
  size_t NumSeeds = Inputs.size();
  std::error_code EC;
  std::vector<std::string> Files;
  if (IsFile)
    Files.push_back(Argv[1]);
  else if (Argc == 2 || Argc == 5)
    for (sys::fs::directory_iterator I(Argv[Argc - 1], EC), E; I != E && !EC;
         I.increment(EC))
      Files.push_back(I->path());
  std::sort(Files.begin(), Files.end());
  for (const std::string &File : Files) {
    auto Contents = MemoryBuffer::getFile(File);
    if (!Contents) {
      errs() << "can't read " << File << '\n';
      return 1;
    }
    Inputs.push_back((*Contents)->getBuffer().str());
  }

  for (size_t I = 0; I != Inputs.size(); ++I)
    run(Inputs[I], I < NumSeeds ? "seed " + Twine(I) : Files[I - NumSeeds]);
  std::mt19937 Random(First);
  for (unsigned I = 0; I != NumChanged; ++I)
    run(change(Inputs, Random), "changed input " + Twine(I));
  outs() << Inputs.size() << " inputs and " << NumChanged << " changed ones\n";
  return 0;
}
