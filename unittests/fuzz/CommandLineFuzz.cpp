//===- CommandLineFuzz.cpp - Command lines and response files -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte of flags, and lines. Each line is a word of the command line.
// Lines after an empty one are a response file, which a line `@` refers to.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Fuzz.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  const char Zero = 0;
  return {
      Zero + std::string("-o\napp\n--thinlto-dist-plugin=local\na.o\n"
                         "-plugin-opt\nthinlto-dist-timeout=3\n-mllvm\n-one"),
      "\1/out:app.exe\n/thinlto-dist-plugin:x\n/mllvm:-one\na.obj",
      Zero + std::string("@\n-plugin-opt=-thinlto-dist-verify=7%\n\n"
                         "a.o 'b c.o' \"d\\\"e\" f\\ g "
                         "--thinlto-dist-plugin=x\n-thinlto-distribute"),
      "\1@\n--rsp-quoting=windows\n\n"
      "a\\b.obj \"c d\\\\\" /thinlto-dist-plugin=p",
      "\2--rsp-quoting=windows\n@\n\n--thinlto-dist-local-jobs=4 "
      "--thinlto-dist-progress=never --thinlto-dist-fallback=none",
      "\2--thinlto-dist-report=r.html\n-plugin-opt=thinlto-dist-report=r",
      "\2--thinlto-dist-plugin-arg=\n--thinlto-distributor=x\n-plugin-opt=",
      "\2--thinlto-dist-plugin=distributor\n--thinlto-distributor=x\n"
      "--thinlto-distribute\n--distribute-cc=y",
      "\2--thinlto-dist-order=link\n--thinlto-dist-memory=3G\n"
      "--thinlto-dist-duplicate=25%\n--thinlto-dist-cache=shared\n"
      "--thinlto-dist-slim=on\n--thinlto-dist-split=auto\n"
      "--thinlto-dist-costs=off\n--thinlto-dist-status=json\n"
      "--thinlto-dist-save-jobs=d\n--thinlto-dist-keep-ir=farm\n"
      "--thinlto-dist-log=l\n--thinlto-dist-plugin=a",
      // Options of LLD that we record, for each driver.
      "\2-m\ni386pep\n-Xlink\n/mllvm:-a\n-Xlink=-out:b\n-mllvm=-c\n"
      "-plugin-opt=-fresolution=r\n-plugin-opt\n-d\n-O0\n-r\n"
      "--thinlto-cache-dir=e\n--thinlto-dist-plugin=x\n--output=f\n-O\n0",
      "\2-flavor\ndarwin\n-cache_path_lto\nc\n-mllvm\n-d\n"
      "--thinlto-dist-plugin=x\n-no-deduplicate-strings\n--version",
      "\1/lldignoreenv\n/lldltocache:c\n/thinlto-dist-timeout=3\n-?out:d",
  };
}

static const std::string &responseFilePath() {
  // Never destroyed, because the function passed to atexit() below uses it.
  static const std::string &Path = *new std::string([] {
    SmallString<128> P;
    if (sys::fs::createTemporaryFile("dtlto-fuzz", "rsp", P))
      abort();
    atexit([] { sys::fs::remove(responseFilePath()); });
    return P.str().str();
  }());
  return Path;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  bool IsCOFF = Data[0] & 1;
  // Don't read other response files.
  std::string Text(reinterpret_cast<const char *>(Data) + 1, Size - 1);
  for (size_t I = 0; I != Text.size(); ++I)
    if (Text[I] == '@' && !(I == 0 || Text[I - 1] == '\n'))
      Text[I] = 'a';
  auto [Lines, File] = StringRef(Text).split("\n\n");
  std::string FileText = File.str();
  for (char &C : FileText)
    if (C == '@')
      C = 'a';

  BumpPtrAllocator Alloc;
  StringSaver Saver(Alloc);
  SmallVector<const char *, 256> Args = {"ld.lld"};
  SmallVector<StringRef, 16> Words;
  Lines.split(Words, '\n');
  bool HasFile = false;
  for (StringRef Word : Words) {
    if (Word.starts_with("@")) {
      HasFile = true;
      Args.push_back(Saver.save("@" + responseFilePath()).data());
      continue;
    }
    // A word ends at a NUL.
    Args.push_back(Saver.save(Word.split('\0').first).data());
  }
  if (HasFile) {
    std::error_code EC;
    raw_fd_ostream OS(responseFilePath(), EC);
    if (EC)
      abort();
    OS << FileText;
  }

  size_t NumBefore = Args.size();
  static const Options &Defaults = *new Options;
  Options Opts = Defaults;
  if (Error E = extractOptions(Args, IsCOFF, Saver, Opts)) {
    if (toString(std::move(E)).empty())
      abort();
    return 0;
  }
  if (Args.empty() || StringRef(Args[0]) != "ld.lld")
    abort();
  if (!HasFile && Args.size() > NumBefore)
    abort();
  if (Opts.TimeoutSeconds < 1 || Opts.VerifyPercent > 100)
    abort();
  // None of our options is left for LLD.
  SmallVector<const char *, 256> Left = Args;
  Options OfLeft = Defaults;
  if (errorToBool(extractOptions(Left, IsCOFF, Saver, OfLeft)) ||
      ArrayRef(Left) != ArrayRef(Args))
    abort();
  // The recorded options of LLD are those that LLD will read.
  if (OfLeft.OutputFile != Opts.OutputFile ||
      OfLeft.CacheFolder != Opts.CacheFolder ||
      OfLeft.LLVMOptions != Opts.LLVMOptions ||
      OfLeft.NoSplitOption != Opts.NoSplitOption ||
      OfLeft.Version != Opts.Version)
    abort();
  return 0;
}
