//===- CommandLine.cpp - Our options out of LLD's command line ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// One of our options, as it was written.
struct Found {
  StringRef Spelling; // up to the value, for messages
  StringRef Name;
  std::optional<StringRef> Value;
};

} // namespace

static bool consumeDashes(StringRef &S) {
  return S.consume_front("--") || S.consume_front("-");
}

static std::optional<Found> parseName(StringRef Word, StringRef Rest,
                                      StringRef Separators) {
  size_t End = Rest.find_first_of(Separators);
  Found F;
  F.Name = Rest.take_front(End);
  if (!isOurOption(F.Name))
    return std::nullopt;
  F.Spelling = Word.drop_back(Rest.size() - F.Name.size());
  if (End != StringRef::npos)
    F.Value = Rest.drop_front(End + 1);
  return F;
}

/// Returns our option that begins at \p Args[I], and moves \p I to its last
/// word.
static std::optional<Found> parseOption(ArrayRef<const char *> Args, size_t &I,
                                        bool IsCOFF) {
  StringRef Word = Args[I];
  StringRef Rest = Word;
  if (IsCOFF) {
    if (!Rest.consume_front("/") && !consumeDashes(Rest))
      return std::nullopt;
    return parseName(Word, Rest, ":=");
  }
  if (!consumeDashes(Rest))
    return std::nullopt;
  if (Rest.consume_front("plugin-opt=")) {
    consumeDashes(Rest);
    return parseName(Word, Rest, "=");
  }
  if (Rest == "plugin-opt" && I + 1 < Args.size()) {
    StringRef Next = Args[I + 1];
    StringRef NextRest = Next;
    consumeDashes(NextRest);
    std::optional<Found> F = parseName(Next, NextRest, "=");
    if (F)
      ++I;
    return F;
  }
  return parseName(Word, Rest, "=");
}

static size_t countOurOptions(ArrayRef<const char *> Args, bool IsCOFF) {
  size_t N = 0;
  for (size_t I = 1; I < Args.size(); ++I)
    if (parseOption(Args, I, IsCOFF))
      ++N;
  return N;
}

/// The quoting style of response files, as each driver chooses it.
static cl::TokenizerCallback quotingStyle(ArrayRef<const char *> Args,
                                          bool IsCOFF) {
  if (IsCOFF)
    return cl::TokenizeWindowsCommandLine;
  cl::TokenizerCallback Style = cl::TokenizeGNUCommandLine;
  for (StringRef Arg : drop_begin(Args))
    if (consumeDashes(Arg) && Arg.consume_front("rsp-quoting="))
      Style = Arg == "windows" ? cl::TokenizeWindowsCommandLine
                               : cl::TokenizeGNUCommandLine;
  return Style;
}

/// Notes LLVM's own options, the output's name, the cache's folder, and whether
/// LLD will only tell its version. LLD parses them again.
static void lookAtOthers(ArrayRef<const char *> Args, bool IsCOFF,
                         Options &Opts) {
  for (size_t I = 1; I < Args.size(); ++I) {
    if (parseOption(Args, I, IsCOFF))
      continue; // ours, `-plugin-opt=-thinlto-dist-...` too
    StringRef Arg = Args[I];
    bool HasNext = I + 1 < Args.size();
    if (Arg == "--version" || (Arg == "-version" && !IsCOFF))
      Opts.Version = true;
    if (IsCOFF) {
      if (!Arg.consume_front("/") && !consumeDashes(Arg))
        continue;
      if (Arg.consume_front_insensitive("mllvm:"))
        Opts.LLVMOptions.push_back(Arg.str());
      else if (Arg.consume_front_insensitive("out:"))
        Opts.OutputFile = Arg.str();
      else if (Arg.consume_front_insensitive("lldltocache:"))
        Opts.CacheFolder = Arg.str();
      continue;
    }
    if (Arg == "-o" && HasNext) {
      Opts.OutputFile = Args[++I];
      continue;
    }
    if (!consumeDashes(Arg))
      continue;
    if (Arg.consume_front("thinlto-cache-dir=")) // ELF, MinGW, wasm
      Opts.CacheFolder = Arg.str();
    else if (Arg == "cache_path_lto" && HasNext) // Mach-O
      Opts.CacheFolder = Args[++I];
    else if (Arg == "mllvm" && HasNext)
      Opts.LLVMOptions.push_back(Args[++I]);
    else if (Arg.consume_front("mllvm="))
      Opts.LLVMOptions.push_back(Arg.str());
    else if (Arg == "plugin-opt" && HasNext && Args[I + 1][0] == '-')
      Opts.LLVMOptions.push_back(Args[++I]);
    else if (Arg.consume_front("plugin-opt=") && Arg.starts_with("-"))
      Opts.LLVMOptions.push_back(Arg.str());
  }
}

Error dtlto::extractOptions(SmallVectorImpl<const char *> &Args, bool IsCOFF,
                            StringSaver &Saver, Options &Opts) {
  SmallVector<const char *, 256> Expanded(Args.begin(), Args.end());
  bool HasResponseFile =
      any_of(Args, [](StringRef Arg) { return Arg.starts_with("@"); });
  // A file that can't be read, or that names itself, is LLD's to report.
  if (HasResponseFile)
    consumeError(
        cl::ExpansionContext(Saver.getAllocator(), quotingStyle(Args, IsCOFF))
            .expandResponseFiles(Expanded));

  if (size_t N = countOurOptions(Expanded, IsCOFF)) {
    // LLD must not see a response file that one of them is in.
    if (N != countOurOptions(Args, IsCOFF))
      Args.assign(Expanded.begin(), Expanded.end());
    SmallVector<const char *, 256> Others = {Args.front()};
    for (size_t I = 1; I < Args.size(); ++I) {
      std::optional<Found> F = parseOption(Args, I, IsCOFF);
      if (!F) {
        Others.push_back(Args[I]);
        continue;
      }
      if (Error E = setOption(Opts, F->Name, F->Value, F->Spelling))
        return E;
    }
    Args.assign(Others.begin(), Others.end());
  }
  lookAtOthers(Expanded, IsCOFF, Opts);
  return Error::success();
}
