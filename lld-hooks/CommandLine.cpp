//===- CommandLine.cpp - Our options on LLD's command line ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Host/PluginLoader.h"
#include "Support/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <array>

using namespace llvm;
using namespace dtlto;

namespace {

/// One of our options, as written.
struct ParsedOption {
  StringRef Spelling; // up to the value, for messages
  std::string Name;   // without dashes; in lower case for lld-link
  std::optional<StringRef> Value;
};

} // namespace

/// Returns the distributor plugin's argument for an option of LLD's own, or "".
static StringRef distributorArgument(StringRef Name) {
  return StringSwitch<StringRef>(Name)
      .Case("thinlto-distributor", "program")
      .Case("thinlto-distributor-arg", "arg")
      .Case("thinlto-remote-compiler", "compiler")
      .Case("thinlto-remote-compiler-arg", "compiler-arg")
      .Case("thinlto-remote-compiler-prepend-arg", "compiler-prepend-arg")
      .Default("");
}

static constexpr StringLiteral DistributeCC = "distribute-cc";

namespace {

/// Decides which names are for us: our options, and other options that are
/// arguments of the plugin.
struct Filter {
  bool HasDistributor = true;  // the plugin for LLD's own options is named
  bool HasDistributeCC = true; // next to --thinlto-distribute

  bool operator()(StringRef Name) const {
    return isDistOption(Name) ||
           (HasDistributor && !distributorArgument(Name).empty()) ||
           (HasDistributeCC && Name == DistributeCC);
  }
};

} // namespace

static bool consumeDashes(StringRef &S) {
  return S.consume_front("--") || S.consume_front("-");
}

static std::optional<ParsedOption> parseName(StringRef Word, StringRef Rest,
                                             bool IsCOFF,
                                             const Filter &IsDtltoOption) {
  size_t End = Rest.find_first_of(IsCOFF ? ":=" : "=");
  StringRef Name = Rest.take_front(End);
  std::string Lower;
  if (IsCOFF)
    Name = Lower = Name.lower();
  if (!IsDtltoOption(Name))
    return std::nullopt;
  ParsedOption F;
  F.Name = Name.str();
  F.Spelling = Word.drop_back(Rest.size() - Name.size());
  if (End != StringRef::npos)
    F.Value = Rest.drop_front(End + 1);
  return F;
}

/// Returns our option that begins at \p Args[I], if any, and moves \p I to its
/// last word.
static std::optional<ParsedOption> parseOption(ArrayRef<const char *> Args,
                                               size_t &I, bool IsCOFF,
                                               const Filter &IsDtltoOption) {
  StringRef Word = Args[I];
  StringRef Rest = Word;
  if (IsCOFF) {
    if (!Rest.consume_front("/") && !consumeDashes(Rest))
      return std::nullopt;
    return parseName(Word, Rest, IsCOFF, IsDtltoOption);
  }
  if (!consumeDashes(Rest))
    return std::nullopt;
  if (Rest.consume_front("plugin-opt=")) {
    consumeDashes(Rest);
    return parseName(Word, Rest, IsCOFF, IsDtltoOption);
  }
  if (Rest == "plugin-opt" && I + 1 < Args.size()) {
    StringRef Next = Args[I + 1];
    StringRef NextRest = Next;
    consumeDashes(NextRest);
    std::optional<ParsedOption> F =
        parseName(Next, NextRest, IsCOFF, IsDtltoOption);
    if (F)
      ++I;
    return F;
  }
  return parseName(Word, Rest, IsCOFF, IsDtltoOption);
}

/// Returns the filter for the plugin that is named last, or else \p Plugin.
/// Fails for
/// --distribute-cc without its plugin, since LLD doesn't know the option.
static Expected<Filter> findFilter(ArrayRef<const char *> Args, bool IsCOFF,
                                   StringRef Plugin) {
  StringRef CC;
  bool HasDistribute = false;
  for (size_t I = 1; I < Args.size(); ++I)
    if (std::optional<ParsedOption> F =
            parseOption(Args, I, IsCOFF, Filter())) {
      if (F->Name == "thinlto-dist-plugin" || F->Name == "thinlto-distribute")
        Plugin = F->Value.value_or("");
      HasDistribute |= F->Name == "thinlto-distribute" && !F->Value;
      if (F->Name == DistributeCC)
        CC = F->Spelling;
    }
  if (!CC.empty() && !HasDistribute)
    return failure(CC + " needs " + CC.drop_back(DistributeCC.size()) +
                   "thinlto-distribute without a name, so that the plugin make "
                   "runs the jobs with that tool");
  return Filter{shortPluginName(Plugin) == "distributor", !CC.empty()};
}

/// Sets \p F as our own option or argument. Fails with a message that names it.
static Error setParsedOption(const ParsedOption &F, const Filter &IsDtltoOption,
                             Options &Opts) {
  std::string Argument = distributorArgument(F.Name).str();
  if (F.Name == DistributeCC)
    Argument = "cc";
  if (!Argument.empty()) {
    if (!F.Value)
      return failure(F.Spelling + " needs a value: " + F.Spelling + "=<text>");
    return setOption(Opts, "thinlto-dist-plugin-arg",
                     (Twine(Argument) + "=" + *F.Value).str(), F.Spelling);
  }
  if (F.Name == "thinlto-distribute" && !F.Value &&
      IsDtltoOption.HasDistributeCC)
    return setOption(Opts, F.Name, StringRef("make"), F.Spelling);
  return setOption(Opts, F.Name, F.Value, F.Spelling);
}

/// Returns the words for us, as they are in \p Args.
static SmallVector<const char *, 16>
findDtltoArgs(ArrayRef<const char *> Args, bool IsCOFF,
              const Filter &IsDtltoOption) {
  SmallVector<const char *, 16> DtltoArgs;
  for (size_t I = 1; I < Args.size(); ++I) {
    size_t First = I;
    if (parseOption(Args, I, IsCOFF, IsDtltoOption))
      DtltoArgs.append(Args.begin() + First, Args.begin() + I + 1);
  }
  return DtltoArgs;
}

bool dtlto::isMachO(ArrayRef<const char *> Args) {
  if (Args.size() > 2 && StringRef(Args[1]) == "-flavor")
    return is_contained({"darwin", "ld64.lld", "ld64"},
                        StringRef(StringRef(Args[2]).lower()));
  return sys::path::filename(Args[0]).contains_insensitive("ld64");
}

/// Returns the quoting style of response files, as LLD's drivers choose it.
static cl::TokenizerCallback quotingStyle(ArrayRef<const char *> Args,
                                          bool IsCOFF) {
  if (isMachO(Args))
    return cl::TokenizeGNUCommandLine;
  bool IsWindows = IsCOFF || Triple(sys::getProcessTriple()).isOSWindows();
  for (StringRef Arg : drop_begin(Args))
    if (consumeDashes(Arg) && Arg.consume_front("rsp-quoting="))
      IsWindows = Arg == "windows";
  return IsWindows ? cl::TokenizeWindowsCommandLine
                   : cl::TokenizeGNUCommandLine;
}

/// Whether LLD's driver for MinGW runs, by the rule of its DriverDispatcher.
static bool isMinGW(ArrayRef<const char *> Args) {
  for (size_t I = 1; I + 1 < Args.size(); ++I)
    if (StringRef(Args[I]) == "-m")
      return is_contained(
          {"i386pe", "i386pep", "thumb2pe", "arm64pe", "arm64ecpe"},
          StringRef(Args[I + 1]));
  return false;
}

/// Notes a word of lld-link.
static void readCOFFOption(StringRef Arg, std::vector<std::string> &LLVMOptions,
                           Options &Opts) {
  // lld-link ignores names with two dashes.
  if (!Arg.consume_front("/") && !Arg.consume_front("-"))
    return;
  Arg.consume_front("?");
  if (Arg.consume_front_insensitive("mllvm:"))
    LLVMOptions.push_back(Arg.str());
  else if (Arg.consume_front_insensitive("out:"))
    Opts.OutputFile = Arg.str();
  else if (Arg.consume_front_insensitive("lldltocache:"))
    Opts.CacheFolder = Arg.str();
}

/// Whether \p Arg, of -plugin-opt, is for GCC's plugin: GCC's driver passes it
/// to each linker, and LLD ignores it.
static bool isForGCC(StringRef Arg) {
  return Arg.starts_with("-fresolution=") || Arg.starts_with("-pass-through=");
}

/// Notes LLVM's own options, the output's name, the cache's folder, and whether
/// LLD will only print its version. LLD parses them again. The last of repeated
/// options counts, so they are stored in the order in which LLD's drivers
/// process them, not that of the command line. \p Args has none of our options.
/// \p Environment is for MinGW.
static void readLLDOptions(ArrayRef<const char *> Args, bool IsCOFF,
                           ArrayRef<const char *> Environment, Options &Opts) {
  const bool MinGW = !IsCOFF && isMinGW(Args);
  // In the drivers for ELF and wasm, only the output option begins with one
  // dash and an `o`.
  const bool JoinsOutput = !MinGW && !isMachO(Args);
  // In MinGW's order; ELF puts the second before the first.
  std::vector<std::string> Plain, ForPlugin, FromXlink;
  for (StringRef Arg : Environment)
    readCOFFOption(Arg, Plain, Opts);
  std::vector<StringRef> Xlink;
  for (size_t I = 1; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    bool HasNext = I + 1 < Args.size();
    if (Arg == "--version" || (Arg == "-version" && !IsCOFF))
      Opts.Version = true;
    if (Arg == "-v" || Arg == "--version" ||
        Arg.ltrim("-/").starts_with("thinlto-index-only") ||
        Arg.contains("plugin-opt=thinlto-index-only"))
      Opts.MayNotLink = true;
    if (IsCOFF) {
      readCOFFOption(Arg, Plain, Opts);
      continue;
    }
    if ((Arg == "-o" || Arg == "--output") && HasNext) {
      Opts.OutputFile = Args[++I];
      continue;
    }
    if (Arg.consume_front("--output=") ||
        (JoinsOutput && Arg.consume_front("-o"))) {
      Opts.OutputFile = Arg.str();
      continue;
    }
    if (!consumeDashes(Arg))
      continue;
    // Symbols that parts share would stay in the object.
    if (Arg == "r" || Arg == "relocatable")
      Opts.NoSplitOption = "-r";
    if (Arg.consume_front("thinlto-cache-dir=")) // ELF, MinGW, wasm
      Opts.CacheFolder = Arg.str();
    else if (Arg == "cache_path_lto" && HasNext) // Mach-O
      Opts.CacheFolder = Args[++I];
    else if (Arg == "mllvm" && HasNext)
      Plain.push_back(Args[++I]);
    else if (Arg.consume_front("mllvm="))
      Plain.push_back(Arg.str());
    else if (Arg == "plugin-opt" && HasNext && Args[I + 1][0] == '-')
      ForPlugin.push_back(Args[++I]);
    else if (Arg.consume_front("plugin-opt=") && Arg.starts_with("-"))
      ForPlugin.push_back(Arg.str());
    else if (MinGW && Arg == "Xlink" && HasNext)
      Xlink.push_back(Args[++I]);
    else if (MinGW && Arg.consume_front("Xlink="))
      Xlink.push_back(Arg);
  }
  // For the driver of lld-link, which processes its words last.
  for (StringRef Arg : Xlink)
    readCOFFOption(Arg, FromXlink, Opts);
  erase_if(ForPlugin, isForGCC);
  for (auto *ArgList : MinGW ? std::array{&Plain, &ForPlugin, &FromXlink}
                             : std::array{&ForPlugin, &Plain, &FromXlink})
    Opts.LLVMOptions.insert(Opts.LLVMOptions.end(), ArgList->begin(),
                            ArgList->end());
}

using ArgList = SmallVectorImpl<const char *>;

/// Adds the words that lld-link takes from the environment, in the place where
/// it puts them. LLD reads the environment again, so our options can't be
/// removed there.
static Error addEnvironment(ArgList &Args, StringSaver &Saver,
                            const Filter &IsDtltoOption,
                            function_ref<void(ArgList &)> Expand) {
  for (StringRef Arg : drop_begin(Args))
    if ((Arg.consume_front("/") || consumeDashes(Arg)) &&
        Arg.equals_insensitive("lldignoreenv"))
      return Error::success();
  for (StringRef Name : {"LINK", "_LINK_"})
    if (std::optional<std::string> Text = sys::Process::GetEnv(Name)) {
      SmallVector<const char *, 16> EnvironmentArgs;
      cl::TokenizeWindowsCommandLine(*Text, Saver, EnvironmentArgs);
      Expand(EnvironmentArgs);
      for (size_t I = 0; I != EnvironmentArgs.size(); ++I)
        if (std::optional<ParsedOption> F =
                parseOption(EnvironmentArgs, I, /*IsCOFF=*/true, IsDtltoOption))
          return failure(F->Spelling + " is in the environment variable " +
                         Name +
                         ": write it on the command line, or in a response "
                         "file that the command line names");
      Args.insert(std::next(Args.begin()), EnvironmentArgs.begin(),
                  EnvironmentArgs.end());
    }
  return Error::success();
}

Error dtlto::extractOptions(SmallVectorImpl<const char *> &Args, bool IsCOFF,
                            StringSaver &Saver, Options &Opts) {
  SmallVector<const char *, 256> Expanded(Args.begin(), Args.end());
  auto Expand = [&](ArgList &All) {
    bool HasResponseFile =
        any_of(All, [](StringRef Word) { return Word.starts_with("@"); });
    // LLD reports a file that can't be read, or that includes itself.
    if (HasResponseFile)
      consumeError(
          cl::ExpansionContext(Saver.getAllocator(), quotingStyle(Args, IsCOFF))
              .expandResponseFiles(All));
  };
  Expand(Expanded);

  Expected<Filter> ForPlugin = findFilter(Expanded, IsCOFF, Opts.Plugin);
  if (!ForPlugin)
    return ForPlugin.takeError();
  const Filter IsDtltoOption = *ForPlugin;
  auto FindCurrent = [&] {
    return findDtltoArgs(Expanded, IsCOFF, IsDtltoOption);
  };
  for (auto DtltoArgs = FindCurrent(); !DtltoArgs.empty();
       DtltoArgs = FindCurrent()) {
    // LLD must not see a response file that contains one of our options, or its
    // beginning.
    if (DtltoArgs != findDtltoArgs(Args, IsCOFF, IsDtltoOption))
      Args.assign(Expanded.begin(), Expanded.end());
    SmallVector<const char *, 256> RemainingArgs = {Args.front()};
    for (size_t I = 1; I < Args.size(); ++I) {
      std::optional<ParsedOption> F =
          parseOption(Args, I, IsCOFF, IsDtltoOption);
      if (!F) {
        RemainingArgs.push_back(Args[I]);
        continue;
      }
      if (Error E = setParsedOption(*F, IsDtltoOption, Opts))
        return E;
    }
    Args.assign(RemainingArgs.begin(), RemainingArgs.end());
    // Expand again, as LLD will: a value that followed our option may now
    // follow another option, and be one of ours if that option is -plugin-opt.
    Expanded.assign(Args.begin(), Args.end());
    Expand(Expanded);
  }
  SmallVector<const char *, 16> Environment = {Args.front()};
  if (IsCOFF) {
    if (Error E = addEnvironment(Expanded, Saver, IsDtltoOption, Expand))
      return E;
  } else if (isMinGW(Expanded)) {
    if (Error E = addEnvironment(Environment, Saver, IsDtltoOption, Expand))
      return E;
  }
  readLLDOptions(Expanded, IsCOFF, ArrayRef(Environment).drop_front(), Opts);
  return Error::success();
}
