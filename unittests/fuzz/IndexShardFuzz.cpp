//===- IndexShardFuzz.cpp - Broken index shards ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/IndexShard.h"
#include "Fuzz.h"
#include "Modules.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  // Combined indexes of a few modules, with functions, variables and aliases.
  for (unsigned NumModules : {1, 2, 5}) {
    ModuleSummaryIndex Index(/*HaveGVs=*/false);
    std::vector<Bytes> Files; // the index has references into them
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
  // What is bitcode, but no shard.
  Seeds.push_back(
      ref(thinBitcode("define void @f() {\n  ret void\n}\n")).str());
  Seeds.push_back("BC\xC0\xDE");
  return Seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Shard(reinterpret_cast<const char *>(Data), Size);
  Expected<ShardBytes> Renamed = renameShardModules(
      Shard, [](StringRef Name) -> std::optional<std::string> {
        if (Name.size() % 16 == 15)
          return std::nullopt;
        return ("m." + Name).str();
      });
  if (!Renamed) {
    consumeError(Renamed.takeError());
    return 0;
  }
  // What was accepted is a sequence of words, as every bitcode file.
  if (Renamed->size() % 4 != 0)
    abort();
  return 0;
}
