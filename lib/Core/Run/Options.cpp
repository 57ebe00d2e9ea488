//===- Options.cpp - The --thinlto-dist-... options -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Options.h"
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
struct Given {
  StringRef Spelling, Value;
  StringRef Expected; // as shown in messages and the help
};

struct OptionInfo {
  StringLiteral Name;
  StringLiteral Value; // as shown in messages and the help
  Error (*Set)(Options &, Given);
  StringLiteral Help;
  StringLiteral Default = ""; // if no value is given; empty if one is required
};

} // namespace

static Error wrongValue(const Given &G, const Twine &Expected) {
  return failure("invalid value '" + G.Value + "' for " + G.Spelling +
                 ": expected " + Expected);
}

static Error setNumber(unsigned &Field, const Given &G, unsigned Min,
                       unsigned Max, StringRef What) {
  unsigned N = 0;
  if (G.Value.getAsInteger(10, N) || N < Min || N > Max)
    return wrongValue(G, What + " from " + Twine(Min) + " to " + Twine(Max));
  Field = N;
  return Error::success();
}

/// Returns the index of the value among the expected ones, "a|b|c".
static Expected<size_t> findChoice(const Given &G) {
  SmallVector<StringRef, 4> Known;
  G.Expected.split(Known, '|');
  if (auto It = llvm::find(Known, G.Value); It != Known.end())
    return It - Known.begin();
  std::string Names;
  size_t Left = Known.size();
  for (StringRef Name : Known)
    Names += ("'" + Name + "'" +
              (--Left > 1 ? ", "
               : Left     ? " or "
                          : ""))
                 .str();
  if (StringRef Nearest = nearestWord(G.Value, Known); !Nearest.empty())
    Names += (", did you mean '" + Nearest + "'?").str();
  return wrongValue(G, Names);
}

/// The enumerators, from \p First on, are in the order of the help.
template <auto Field, size_t First = 0>
static Error setChoice(Options &O, Given G) {
  Expected<size_t> Place = findChoice(G);
  if (!Place)
    return Place.takeError();
  O.*Field = static_cast<std::decay_t<decltype(O.*Field)>>(First + *Place);
  return Error::success();
}

// As everywhere in LLD, the last option counts.
template <std::string Options::*Field>
static Error setText(Options &O, Given G) {
  O.*Field = G.Value.str();
  return Error::success();
}

template <unsigned Options::*Field>
static Error setPercent(Options &O, Given G) {
  G.Value.consume_back("%");
  return setNumber(O.*Field, G, 0, 100, "percent, a number");
}

static Error setSlim(Options &O, Given G) {
  O.SlimFrom = DefaultSlimFrom;
  if (G.Value == "off")
    O.SlimFrom.reset();
  if (G.Value == "on" || G.Value == "off")
    return Error::success();
  return setNumber(*O.SlimFrom, G, 0, 1000000000,
                   "'on', 'off' or a number of bytes");
}

static Error setSplit(Options &O, Given G) {
  if (G.Value == "off" || G.Value == "auto") {
    O.Split = G.Value == "off" ? 0 : MinAutoPart;
    O.SplitIsAuto = G.Value == "auto";
    return Error::success();
  }
  O.SplitIsAuto = false;
  return setNumber(O.Split, G, 1, 1000000000, "'off', 'auto' or a number");
}

static Error setPluginArg(Options &O, Given G) {
  O.PluginArgs.push_back(G.Value.str());
  return Error::success();
}

static Error setLocalJobs(Options &O, Given G) {
  if (G.Value == "auto") {
    O.LocalJobs.reset();
    return Error::success();
  }
  unsigned N = 0;
  if (Error E = setNumber(N, G, 0, 4096, "auto or a number"))
    return E;
  O.LocalJobs = N;
  return Error::success();
}

/// A number of bytes, or of K, M or G.
static Error setMemory(Options &O, Given G) {
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
  O.Memory = O.MemoryHere = N << Shift;
  return Error::success();
}

static Error setTimeout(Options &O, Given G) {
  return setNumber(O.TimeoutSeconds, G, 1, 1000000, "seconds, a number");
}

static Error setVerify(Options &O, Given G) {
  auto [Percent, Text] = G.Value.split(':');
  std::optional<uint64_t> Seed;
  if (G.Value.contains(':') && Text.getAsInteger(10, Seed.emplace()))
    return wrongValue(G, "a number after the colon");
  O.VerifySeed = Seed;
  G.Value = Percent;
  return setPercent<&Options::VerifyPercent>(O, G);
}

static Error setReport(Options &O, Given G) {
  if (!reportKind(G.Value))
    return wrongValue(G, "a file whose name ends in .html or .json");
  O.Report = G.Value.str();
  return Error::success();
}

static Error setCosts(Options &O, Given G) {
  O.Costs = G.Value == "off" ? "" : G.Value.str();
  return Error::success();
}

// In the order of the help. A test compares this with the manual page and the
// README, which explain more.
static constexpr OptionInfo Table[] = {
    {"thinlto-dist-plugin", "<name or path>", setText<&Options::Plugin>,
     "Run the jobs of ThinLTO with this plugin: local, distcc, icecc, ..."},
    {"thinlto-distribute", "<name>", setText<&Options::Plugin>,
     "The same (default: with the plugin local)", "local"},
    {"thinlto-dist-plugin-arg", "<text>", setPluginArg,
     "Pass <text> to the plugin; may be repeated"},
    {"thinlto-dist-fallback", "local|none", setChoice<&Options::Fallback>,
     "Compile a job that the plugin can't run in the linker (default), or "
     "fail the link"},
    {"thinlto-dist-local-jobs", "<n>|auto", setLocalJobs,
     "Run at most <n> jobs in the linker while the plugin is full (default: "
     "as many as pay off)"},
    {"thinlto-dist-duplicate", "<percent>",
     setPercent<&Options::DuplicatePercent>,
     "Limit the work done twice to replace slow workers (default: 25)"},
    {"thinlto-dist-order", "cost|link", setChoice<&Options::Order>,
     "Start the longest jobs first (default), or those that come first in the "
     "link"},
    {"thinlto-dist-memory", "<bytes>", setMemory,
     "Limit the memory of jobs in flight, and here; K, M or G may follow "
     "(default: 1/4 and 1/2)"},
    {"thinlto-dist-timeout", "<seconds>", setTimeout,
     "Give up a job after <seconds> without a sign of life (default: 600)"},
    {"thinlto-dist-verify", "<percent>[:<seed>]", setVerify,
     "Compile this share of the jobs in the linker as well, and compare the "
     "objects (default: 0)"},
    {"thinlto-dist-cache", "separate|shared", setChoice<&Options::Cache>,
     "Hide other machines' cached objects from links without a plugin "
     "(default), or don't"},
    {"thinlto-dist-save-jobs", "<folder>", setText<&Options::SaveJobs>,
     "Save each job to a file in <folder>, for dtlto-codegen"},
    {"thinlto-dist-keep-ir", "<folder>|farm", setText<&Options::KeepIR>,
     "Keep optimised modules in <folder> or the farm's store, for links that "
     "only change codegen"},
    {"thinlto-dist-slim", "on|off|<bytes>", setSlim,
     "Send only what is imported from other modules (default: on)"},
    {"thinlto-dist-split", "off|auto|<n>", setSplit,
     "Compile a long module in parts of about <n> instructions (default: off)"},
    {"thinlto-dist-costs", "<file>|off", setCosts,
     "Record how long each module took in <file> (default: in the user's "
     "cache folder)"},
    {"thinlto-dist-progress", "auto|always|never",
     setChoice<&Options::Progress>,
     "Show how far the link is (default: on a terminal)"},
    {"thinlto-dist-status", "table|json",
     setChoice<&Options::Status, /*First=*/1>,
     "Show the workers of the plugin's farm instead of linking (default: "
     "table)",
     "table"},
    {"thinlto-dist-report", "<file>.html|<file>.json", setReport,
     "Write a report of what ran where and when"},
    {"thinlto-dist-log", "<file>", setText<&Options::Log>,
     "Write a log of every decision, to attach to a bug report"},
};

void dtlto::printHelp(raw_ostream &OS, bool IsCOFF) {
  OS << "\nDTLTO OPTIONS (ld.dtlto(1) says more):\n";
  for (const OptionInfo &Info : Table) {
    std::string Value = ((IsCOFF ? ":" : "=") + Info.Value).str();
    OS << "  " << (IsCOFF ? "/" : "--") << Info.Name
       << (Info.Default.empty() ? Value : "[" + Value + "]") << '\n';
    OS.indent(26) << Info.Help << '\n';
  }
}

static constexpr StringLiteral OptionPrefix = "thinlto-dist-";

bool dtlto::isOurOption(StringRef Name) {
  return Name.starts_with(OptionPrefix) || Name == "thinlto-dist" ||
         Name == "thinlto-distribute";
}

Error dtlto::setOption(Options &Opts, StringRef Name,
                       std::optional<StringRef> Value, StringRef Spelling) {
  for (const OptionInfo &Info : Table) {
    if (Info.Name != Name)
      continue;
    if (!Value && !Info.Default.empty())
      Value = Info.Default;
    if (!Value || (Value->empty() && Name != "thinlto-dist-plugin-arg"))
      return failure(Spelling + " needs a value: " + Spelling + "=" +
                     Info.Value);
    if (Opts.FirstOption.empty())
      Opts.FirstOption = Spelling.str();
    return Info.Set(Opts, {Spelling, *Value, Info.Value});
  }

  // Don't compare the prefix that all options share.
  StringRef Word = Name;
  const bool HasPrefix = Word.consume_front(OptionPrefix);
  SmallVector<StringRef, 32> Known;
  for (const OptionInfo &Info : Table) {
    StringRef Other = Info.Name;
    if (Other.consume_front(OptionPrefix) == HasPrefix)
      Known.push_back(Other);
  }
  std::string Text = ("unknown option " + Spelling).str();
  if (StringRef Nearest = nearestWord(Word, Known); !Nearest.empty()) {
    // The distributor's options have no prefix.
    StringRef Left = Spelling.ends_with(Name) ? "" : OptionPrefix;
    std::string Full = ((HasPrefix ? OptionPrefix : "") + Nearest).str();
    StringRef Meant = Full;
    if (Meant.consume_front(Left))
      Text += (", did you mean " +
               Spelling.drop_back(Name.size() - Left.size()) + Meant + "?")
                  .str();
  }
  return failure(Text);
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
  Opts.MakeFlags = sys::Process::GetEnv("MAKEFLAGS").value_or("");
  Opts.DumbTerminal = sys::Process::GetEnv("TERM") == "dumb";
  return Error::success();
}

// Not in the folder of the ThinLTO cache, which has only what stock LLD puts
// there. The number is the format's, so that two versions don't replace each
// other's file.
std::string dtlto::costHistoryPath(const Options &Opts) {
  if (Opts.Costs)
    return *Opts.Costs;
  SmallString<256> Path;
  // The XDG Base Directory Specification says to ignore a relative
  // XDG_CACHE_HOME, which would depend on the current folder.
  if (!sys::path::cache_directory(Path) || !sys::path::is_absolute(Path)) {
    if (!sys::path::home_directory(Path) || !sys::path::is_absolute(Path))
      return "";
    sys::path::append(Path, ".cache");
  }
  sys::path::append(Path, "dtlto", "costs-1.txt");
  return Path.str().str();
}
