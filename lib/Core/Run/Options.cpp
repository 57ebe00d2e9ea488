//===- Options.cpp - The --thinlto-dist-... options -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Options.h"
#include "Host/RemoteStore.h"
#include "Report/Progress.h"
#include "Report/Report.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// An option as the user gave it.
struct OptionValue {
  StringRef Spelling, Value;
  StringRef Expected; // as shown in messages and the help
};

enum class ValueKind { Required, Optional, None };

/// An entry of Options.def, which describes the fields.
struct OptionInfo {
  StringLiteral Name, Value;
  ValueKind Kind;
  StringLiteral Default;
  Error (*Set)(Options &, OptionValue);
  StringLiteral Help;
};

} // namespace

static Error wrongValue(const OptionValue &G, const Twine &Expected) {
  return failure("invalid value '" + printable(G.Value) + "' for " +
                 G.Spelling + ": expected " + Expected);
}

static Error setNumber(unsigned &Field, const OptionValue &G, unsigned Min,
                       unsigned Max, StringRef What) {
  unsigned N = 0;
  if (G.Value.getAsInteger(10, N) || N < Min || N > Max)
    return wrongValue(G, What + " from " + Twine(Min) + " to " + Twine(Max));
  Field = N;
  return Error::success();
}

/// Returns the index of the value among the expected ones, "a|b|c".
static Expected<size_t> findChoice(const OptionValue &G) {
  SmallVector<StringRef, 4> Candidates;
  G.Expected.split(Candidates, '|');
  if (auto It = llvm::find(Candidates, G.Value); It != Candidates.end())
    return It - Candidates.begin();
  std::string Names;
  size_t Left = Candidates.size();
  for (StringRef Name : Candidates)
    Names += ("'" + Name + "'" +
              (--Left > 1 ? ", "
               : Left     ? " or "
                          : ""))
                 .str();
  if (StringRef Nearest = nearestWord(G.Value, Candidates); !Nearest.empty())
    Names += (", did you mean '" + Nearest + "'?").str();
  return wrongValue(G, Names);
}

/// The enumerators, from \p First on, are in the order of the help.
template <auto Field, size_t First = 0>
static Error setChoice(Options &O, OptionValue G) {
  Expected<size_t> Place = findChoice(G);
  if (!Place)
    return Place.takeError();
  O.*Field = static_cast<std::decay_t<decltype(O.*Field)>>(First + *Place);
  return Error::success();
}

// As everywhere in LLD, the last option counts.
template <auto Field> static Error setText(Options &O, OptionValue G) {
  O.*Field = G.Value.str();
  return Error::success();
}

template <unsigned Options::*Field>
static Error setPercent(Options &O, OptionValue G) {
  G.Value.consume_back("%");
  return setNumber(O.*Field, G, 0, 100, "percent, a number");
}

static Error setSlim(Options &O, OptionValue G) {
  O.SlimThreshold = DefaultSlimThreshold;
  if (G.Value == "off")
    O.SlimThreshold.reset();
  if (G.Value == "on" || G.Value == "off")
    return Error::success();
  return setNumber(*O.SlimThreshold, G, 0, 1000000000,
                   "'on', 'off' or a number of bytes");
}

template <auto Field> static Error addText(Options &O, OptionValue G) {
  (O.*Field).push_back(G.Value.str());
  return Error::success();
}

static Error setRemoteCache(Options &O, OptionValue G) {
  O.RemoteCache.clear();
  if (G.Value == "off")
    return Error::success();
  if (Error E = storePlugin(G.Value).takeError())
    return failure(G.Spelling + ": " + toString(std::move(E)));
  return setText<&Options::RemoteCache>(O, G);
}

/// A number, or "auto", which leaves the field unset, or "off", which is 0.
template <std::optional<unsigned> Options::*Field, unsigned Min, unsigned Max>
static Error setAutomatic(Options &O, OptionValue G) {
  const bool IsAuto = G.Value == "auto";
  const bool MayBeOff = G.Expected.starts_with("off|");
  unsigned N = 0;
  if (!IsAuto && !(MayBeOff && G.Value == "off"))
    if (Error E = setNumber(N, G, Min, Max,
                            MayBeOff ? "'off', 'auto' or a number"
                                     : "auto or a number"))
      return E;
  O.*Field = IsAuto ? std::nullopt : std::optional(N);
  return Error::success();
}

/// A number of bytes, or of K, M or G.
static Error setMemory(Options &O, OptionValue G) {
  StringRef Number = G.Value;
  unsigned Shift = 0;
  if (Number.consume_back_insensitive("K"))
    Shift = 10;
  else if (Number.consume_back_insensitive("M"))
    Shift = 20;
  else if (Number.consume_back_insensitive("G"))
    Shift = 30;
  uint64_t N = 0;
  if (Number.getAsInteger(10, N) || N == 0 || N > (UINT64_MAX >> 30))
    return wrongValue(G, "bytes, a number over 0 that K, M or G may follow");
  O.Memory = O.LocalMemory = N << Shift;
  return Error::success();
}

static Error setTimeout(Options &O, OptionValue G) {
  return setNumber(O.TimeoutSeconds, G, 1, 1000000, "seconds, a number");
}

static Error setVerify(Options &O, OptionValue G) {
  auto [Percent, Text] = G.Value.split(':');
  std::optional<uint64_t> Seed;
  if (G.Value.contains(':') && Text.getAsInteger(10, Seed.emplace()))
    return wrongValue(G, "a number after the colon");
  O.VerifySeed = Seed;
  G.Value = Percent;
  return setPercent<&Options::VerifyPercent>(O, G);
}

static Error setReport(Options &O, OptionValue G) {
  if (!isReportName(G.Value))
    return wrongValue(G, "a file whose name ends in .html or .json");
  return setText<&Options::Report>(O, G);
}

static Error setCosts(Options &O, OptionValue G) {
  O.Costs = G.Value == "off" ? "" : G.Value.str();
  return Error::success();
}

static constexpr StringLiteral ListWord = "list";

static Error setPlugin(Options &O, OptionValue G) {
  O.ListPlugins |= G.Value == ListWord;
  if (G.Value != ListWord)
    O.Plugin = G.Value.str();
  return Error::success();
}

static Error setShowConfig(Options &O, OptionValue) {
  O.ShowConfig = true;
  return Error::success();
}

static Error setStatus(Options &O, OptionValue G) {
  return setChoice<&Options::Status, /*First=*/1>(O, G);
}

// In the order of the help.
static constexpr OptionInfo Table[] = {
#define OPTION(Name, Value, Kind, Default, Set, Help)                          \
  {Name, Value, ValueKind::Kind, Default, Set, Help},
#include "Run/Options.def"
};

/// Whether the option shows something and ends, and so is for the command line
/// alone.
static bool isQuery(const OptionInfo &Info, StringRef Value = "") {
  return Info.Set == setStatus || Info.Set == setShowConfig ||
         Info.Set == setText<&Options::PluginHelp> ||
         (Info.Set == setPlugin && Value == ListWord);
}

void dtlto::printHelp(raw_ostream &OS, bool IsCOFF) {
  OS << "\nDTLTO OPTIONS (ld.dtlto(1) says more):\n";
  for (const OptionInfo &Info : Table) {
    std::string Value = ((IsCOFF ? ":" : "=") + Info.Value).str();
    OS << "  " << (IsCOFF ? "/" : "--") << Info.Name
       << (Info.Kind == ValueKind::Required   ? Value
           : Info.Kind == ValueKind::Optional ? "[" + Value + "]"
                                              : "")
       << '\n';
    OS.indent(26) << Info.Help;
    if (!Info.Default.empty())
      OS << (Info.Kind == ValueKind::Optional ? " (without a value: "
                                              : " (default: ")
         << Info.Default << ")";
    OS << '\n';
  }
}

void dtlto::printOptions(const Options &Opts, raw_ostream &OS) {
  auto PrintLine = [&](StringRef Place, StringRef Name, StringRef Value) {
    OS << "(" << printable(Place) << ") " << Name << " =";
    if (!Value.empty())
      OS << " " << printable(Value);
    OS << '\n';
  };
  if (Opts.IsDisabled)
    OS << "# DTLTO_DISABLE is set: links use no plugin, and no file or "
          "variable "
          "is read\n";
  for (const OptionInfo &Info : Table) {
    if (isQuery(Info) || Info.Name == "thinlto-distribute")
      continue;
    // Only arguments of the plugin add up.
    std::vector<OptionUse> Uses;
    for (const OptionUse &Use : Opts.Uses)
      if (Use.Name == Info.Name) {
        if (Info.Set != addText<&Options::PluginArgs>)
          Uses.clear();
        Uses.push_back(Use);
      }
    if (Uses.empty())
      PrintLine("default", Info.Name,
                Info.Kind == ValueKind::Optional ? "off" : Info.Default);
    for (const OptionUse &Use : Uses)
      PrintLine(Use.Place, Use.Name, Use.Value);
  }
}

static constexpr StringLiteral OptionPrefix = "thinlto-dist-";

bool dtlto::isDistOption(StringRef Name) {
  return Name.starts_with(OptionPrefix) || Name == "thinlto-dist" ||
         Name == "thinlto-distribute";
}

Error dtlto::setOption(Options &Opts, StringRef Name,
                       std::optional<StringRef> Value, StringRef Spelling,
                       OptionLevel Level, StringRef Place) {
  for (const OptionInfo &Info : Table) {
    if (Info.Name != Name)
      continue;
    const bool IsQuery = isQuery(Info, Value.value_or(""));
    if (IsQuery && Level != OptionLevel::CommandLine)
      return failure(Spelling + (Info.Set == setPlugin ? "=list" : "") +
                     " is for the command line alone");
    if (Info.Kind == ValueKind::None) {
      if (Value)
        return failure(Spelling + " takes no value");
      return Info.Set(Opts, {});
    }
    const bool MayBeEmpty =
        Info.Set == addText<&Options::PluginArgs> ||
        (Info.Set == setText<&Options::PluginHelp> && !Value);
    if (!Value && Info.Kind == ValueKind::Optional)
      Value = Info.Default;
    if (!Value || (Value->empty() && !MayBeEmpty))
      return failure(Spelling + " needs a value: " + Spelling + "=" +
                     Info.Value);
    if (Opts.FirstOption.empty() && Level == OptionLevel::CommandLine &&
        Name != "thinlto-dist-gold")
      Opts.FirstOption = Spelling.str();
    if (!IsQuery)
      Opts.Uses.push_back(
          {Name == "thinlto-distribute" ? "thinlto-dist-plugin" : Name.str(),
           Value->str(), Level, Place.str()});
    return Info.Set(Opts, {Spelling, *Value, Info.Value});
  }

  // Don't compare the prefix that all options share.
  StringRef Word = Name;
  const bool HasPrefix = Word.consume_front(OptionPrefix);
  SmallVector<StringRef, 32> Candidates;
  for (const OptionInfo &Info : Table) {
    StringRef Other = Info.Name;
    if (Other.consume_front(OptionPrefix) == HasPrefix)
      Candidates.push_back(Other);
  }
  std::string Text = ("unknown option " + Spelling).str();
  if (StringRef Nearest = nearestWord(Word, Candidates); !Nearest.empty()) {
    // The distributor's options have no prefix.
    StringRef Left = Spelling.ends_with(Name) ? "" : OptionPrefix;
    std::string Full = ((HasPrefix ? OptionPrefix : "") + Nearest).str();
    StringRef Suggestion = Full;
    if (Suggestion.consume_front(Left))
      Text += (", did you mean " +
               Spelling.drop_back(Name.size() - Left.size()) + Suggestion + "?")
                  .str();
  }
  return failure(Text);
}

// The XDG Base Directory Specification says to ignore a relative path, which
// would depend on the current folder.
std::string dtlto::userFile(function_ref<bool(SmallVectorImpl<char> &)> Folder,
                            StringRef Default, StringRef Name) {
  SmallString<256> Path;
  if (!Folder(Path) || !sys::path::is_absolute(Path)) {
    if (!sys::path::home_directory(Path) || !sys::path::is_absolute(Path))
      return "";
    sys::path::append(Path, Default);
  }
  sys::path::append(Path, Name);
  return Path.str().str();
}

static std::string cacheFile(StringRef Name) {
  return userFile(sys::path::cache_directory, ".cache",
                  ("dtlto/" + Name).str());
}

Error dtlto::readEnvironment(Options &Opts) {
  if (std::optional<std::string> Path =
          sys::Process::GetEnv("DTLTO_PLUGIN_PATH")) {
    SmallVector<StringRef, 4> Folders;
    StringRef(*Path).split(Folders, sys::EnvPathSeparator, -1,
                           /*KeepEmpty=*/false);
    for (StringRef Folder : Folders)
      Opts.PluginPath.push_back(Folder.str());
  }
  Opts.StatusFormat =
      sys::Process::GetEnv("DTLTO_STATUS").value_or(DefaultStatusFormat.str());
  if (Error E = checkStatusFormat(Opts.StatusFormat))
    return failure("DTLTO_STATUS '" + printable(Opts.StatusFormat) +
                   "': " + toString(std::move(E)));
  if (auto Stats = sys::Process::GetEnv("DTLTO_STATS"))
    Opts.StatsFile = *Stats == "off" ? "" : *Stats;
  else
    Opts.StatsFile = cacheFile("stats-1.json");
  Opts.MakeFlags = sys::Process::GetEnv("MAKEFLAGS").value_or("");
  Opts.DumbTerminal = sys::Process::GetEnv("TERM") == "dumb";
  return Error::success();
}

// Not in the folder of the ThinLTO cache, which has only what stock LLD puts
// there. The number is the format's, so that two versions don't replace each
// other's file.
std::string dtlto::costHistoryPath(const Options &Opts) {
  return Opts.Costs ? *Opts.Costs : cacheFile("costs-1.txt");
}
