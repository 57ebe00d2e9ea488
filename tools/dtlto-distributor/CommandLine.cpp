//===- CommandLine.cpp - The command line of dtlto-distributor ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Run/Configuration.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Prefix = "thinlto-dist-";
static constexpr unsigned MaxJobs = 4096;

// The linker's options that have the same meaning here. A test compares the
// help with the manual page.
static constexpr StringLiteral Shared[] = {"plugin",
                                           "plugin-arg",
                                           "plugin-help",
                                           "check-plugin",
                                           "fallback",
                                           "local-jobs",
                                           "duplicate",
                                           "order",
                                           "memory",
                                           "timeout",
                                           "verify",
                                           "costs",
                                           "progress",
                                           "report",
                                           "log",
                                           "remote-cache",
                                           "remote-cache-mode",
                                           "remote-cache-arg"};

static constexpr StringLiteral Unsupported[] = {
#define LINK_OPTION(Name, Value, Kind, Default, Set, Help) Name,
#include "Run/Options.def"
};

void dtlto::printUsage(raw_ostream &OS) {
  OS << R"(usage: dtlto-distributor --plugin=<name> [<option>...] <file>.json
       dtlto-distributor --plugin=<name> [<option>...] --index-only <folder> -- <compiler> [<argument>...]

Runs ThinLTO backend compiles with a plugin of dtlto: those of a stock ld.lld 21
or later, or lld-link 22 or later, which starts dtlto-distributor
(--thinlto-distributor=), or those of a link with --thinlto-index-only.

  --jobs=<n>               Compile at most <n> modules at a time on this machine
  --index-only <folder>    Compile each module with a .thinlto.bc below <folder>
  --prefix-replace=<old>;<new>[;<object>]
                           As LLD's --thinlto-prefix-replace
  --verbose                Report what happens to each job
  --help, --version

Options of dtlto's linker, without its prefix (dtlto-distributor(1) says more):
 )";
  for (StringRef Name : Shared)
    OS << " --" << Name;
  OS << '\n';
}

/// Reads the option \p Name, spelled \p Spelling. May take the first of \p Rest
/// as its value.
static Error readOption(Command &C, StringRef Name,
                        std::optional<StringRef> Value, StringRef Spelling,
                        ArrayRef<const char *> &Rest) {
  auto Invalid = [&](const Twine &Why) {
    return failure("invalid value '" + printable(Value.value_or("")) +
                   "' for --" + Name + ": " + Why);
  };
  bool *Flag = Name == "help"      ? &C.Help
               : Name == "version" ? &C.Version
               : Name == "verbose" ? &C.Verbose
                                   : nullptr;
  if (Flag && !Value) {
    *Flag = true;
  } else if (Name == "jobs") {
    if (!Value || Value->getAsInteger(10, C.Jobs) || C.Jobs == 0 ||
        C.Jobs > MaxJobs)
      return Invalid("expected a number from 1 to " + Twine(MaxJobs));
  } else if (Name == "index-only") {
    if (!Value && Rest.empty())
      return failure(Spelling + " needs a value");
    C.IndexFolder = Value ? Value->str() : Rest.front();
    Rest = Rest.drop_front(!Value);
    if (C.IndexFolder.empty())
      return failure("--index-only needs a folder");
  } else if (Name == "prefix-replace") {
    Expected<PrefixReplace> P = parsePrefixReplace(Value.value_or(""));
    if (!P)
      return Invalid(toString(P.takeError()));
    C.Prefix = std::move(*P);
  } else { // an option of the linker
    Name.consume_front(Prefix);
    const std::string FullName = (Prefix + Name).str();
    if (is_contained(Unsupported, FullName))
      return failure("option " + printable(Spelling) +
                     " does not apply to jobs that are files");
    return setOption(C.Opts, FullName, Value, Spelling);
  }
  return Error::success();
}

/// Fails unless \p C is complete and free of contradictions.
static Error checkCommand(const Command &C) {
  if (C.Opts.Plugin.empty())
    return failure("--plugin=<name> is missing");
  if (C.IndexFolder.empty()) {
    if (C.List.empty())
      return failure("no file with jobs: the linker names it in its last "
                     "argument");
    if (!C.Compiler.empty() || C.Prefix.IsSet)
      return failure("a compiler and --prefix-replace are for --index-only");
  } else {
    if (!C.List.empty())
      return failure("both '" + printable(C.List) + "' and --index-only");
    if (C.Compiler.empty())
      return failure("--index-only needs the compiler and its arguments, after "
                     "'--'");
  }
  return Error::success();
}

Expected<Command> dtlto::readCommand(ArrayRef<const char *> Args) {
  Command C;
  if (Error E = readConfiguration(C.Opts))
    return std::move(E);
  while (!Args.empty()) {
    StringRef Arg = Args.front();
    Args = Args.drop_front();
    if (Arg == "--") {
      C.Compiler.assign(Args.begin(), Args.end());
      break;
    }
    if (StringRef Name = Arg; Name.consume_front("--")) {
      std::optional<StringRef> Value;
      if (size_t At = Name.find('='); At != StringRef::npos) {
        Value = Name.drop_front(At + 1);
        Name = Name.take_front(At);
      }
      if (Error E =
              readOption(C, Name, Value, Arg.take_front(Name.size() + 2), Args))
        return std::move(E);
      continue;
    }
    if (Arg.starts_with("-"))
      return failure("unknown option " + printable(Arg));
    if (!C.List.empty())
      return failure("two files, '" + printable(C.List) + "' and '" +
                     printable(Arg) + "'");
    C.List = Arg.str();
    if (C.List.empty())
      return failure("the name of the file is empty");
  }
  selectPluginArgs(C.Opts);
  if (!C.Help && !C.Version && !C.Opts.isPluginQuery())
    if (Error E = checkCommand(C))
      return std::move(E);
  return C;
}
