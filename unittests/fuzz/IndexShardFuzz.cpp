//===- IndexShardFuzz.cpp - Index shards of any bytes ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a shard, or the number of a seed (0 to 2) and choices of new names.
//
//===----------------------------------------------------------------------===//

#include "Bitcode/IndexShard.h"
#include "Bitstream.h"
#include "Fuzz.h"
#include "Modules.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  // Combined indexes of a few modules, with functions, variables and aliases.
  for (unsigned NumModules : {1, 2, 5}) {
    ModuleSummaryIndex Index(/*HaveGVs=*/false);
    std::vector<Bytes> Files; // the index refers to them
    for (unsigned I = 0; I != NumModules; ++I) {
      std::string N = std::to_string(I);
      Files.push_back(thinBitcode("@v" + N + " = global i32 7\n@a" + N +
                                  " = alias i32, ptr @v" + N +
                                  "\ndeclare i32 @other()\n"
                                  "define i32 @f" +
                                  N +
                                  "() {\n  %r = call i32 @other()\n"
                                  "  %s = load i32, ptr @v" +
                                  N + "\n  ret i32 %s\n}\n"));
      if (errorToBool(readModuleSummaryIndex(
              {ref(Files.back()), "dir/module" + N + ".o"}, Index)))
        abort();
    }
    std::string Shard;
    raw_string_ostream OS(Shard);
    writeIndexToFile(Index, OS);
    Seeds.push_back(OS.str());
  }
  // Bitcode that isn't a shard.
  Seeds.push_back(
      ref(thinBitcode("define void @f() {\n  ret void\n}\n")).str());
  Seeds.push_back("BC\xC0\xDE");
  Seeds.push_back(std::string(1, '\0') + "\3a/b");
  Seeds.push_back("\1\3a/b\x27" + std::string(80, 'x'));
  Seeds.push_back("\2\1\xff\1\n\3long\4name");
  return Seeds;
}

/// Checks that LLVM reads the same from both shards, except for the names.
static void compare(StringRef Shard, StringRef Renamed,
                    const std::vector<std::string> &NewNames) {
  check(recordsOf(Shard) == recordsOf(Renamed));
  check(moduleNamesOf(Renamed) == NewNames);
  auto Index = must(getModuleSummaryIndex(MemoryBufferRef(Renamed, "shard")));
  check(Index->modulePaths().size() <= NewNames.size());
  for (const std::string &Name : NewNames)
    check(Index->modulePaths().count(Name));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  // A valid shard, with any new names.
  if (Size != 0 && Data[0] < 3) {
    static const std::vector<std::string> &Seeds =
        *new std::vector<std::string>(fuzzSeeds());
    Choices C(Data + 1, Size - 1);
    std::vector<std::string> NewNames;
    Expected<ShardBytes> Renamed = renameShardModules(
        Seeds[Data[0]], [&](StringRef) -> std::optional<std::string> {
          std::string Name = C.text(40) + "." + std::to_string(NewNames.size());
          NewNames.push_back(Name);
          return Name;
        });
    compare(Seeds[Data[0]], ref(must(std::move(Renamed))), NewNames);
  }

  // Any bytes.
  StringRef Shard(reinterpret_cast<const char *>(Data), Size);
  std::vector<std::string> Names;
  Expected<ShardBytes> Renamed = renameShardModules(
      Shard, [&](StringRef Name) -> std::optional<std::string> {
        if (Name.size() % 16 == 15)
          return std::nullopt;
        Names.push_back(Name.str());
        return ("m." + Name).str();
      });
  if (!Renamed) {
    check(isLine(toString(Renamed.takeError())));
    return 0;
  }
  // An accepted shard consists of words, like any bitcode file, and can be read
  // again. Renaming to the old names always gives the same bytes.
  check(Renamed->size() % 4 == 0);
  auto back = [&](StringRef From) {
    size_t Next = 0;
    ShardBytes Result = must(renameShardModules(
        From, [&](StringRef Name) -> std::optional<std::string> {
          check(Next < Names.size() && Name.ends_with(Names[Next]));
          return Names[Next++];
        }));
    check(Next == Names.size());
    return Result;
  };
  ShardBytes Back = back(ref(*Renamed));
  check(ref(back(ref(Back))) == ref(Back));
  return 0;
}
