//===- CommandLine.cpp - What dtlto-distributor is asked to do ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Prefix = "thinlto-dist-";
static constexpr unsigned MaxJobs = 4096;

// Of the linker's options, those that mean the same here. A test compares the
// help with the manual page.
static constexpr StringLiteral Shared[] = {
    "plugin",   "plugin-arg", "fallback", "local-jobs", "duplicate",
    "order",    "memory",     "timeout",  "verify",     "costs",
    "progress", "report",     "log"};

static constexpr StringLiteral NotHere[] = {"cache", "keep-ir", "save-jobs",
                                            "slim",  "split",   "status"};

void dtlto::printUsage(raw_ostream &OS) {
  OS << "usage: dtlto-distributor --plugin=<name> [<option>...] <file>.json\n"
        "       dtlto-distributor --plugin=<name> [<option>...] --index-only "
        "<folder> -- <compiler> [<argument>...]\n"
        "\n"
        "Runs the ThinLTO backend compiles of a stock ld.lld 21 or later, or "
        "lld-link 22 or\n"
        "later, which starts it (--thinlto-distributor=), or those that a link "
        "with\n"
        "--thinlto-index-only left, with a plugin of dtlto.\n"
        "\n"
        "  --jobs=<n>               Compile at most <n> modules at a time on "
        "this machine\n"
        "  --index-only <folder>    Compile what has a .thinlto.bc below "
        "<folder>\n"
        "  --prefix-replace=<old>;<new>[;<object>]\n"
        "                           As LLD's --thinlto-prefix-replace\n"
        "  --verbose                Tell what happens to each job\n"
        "  --help, --version\n"
        "\n"
        "Options of dtlto's linker, without its prefix "
        "(dtlto-distributor(1) says more):\n ";
  for (StringRef Name : Shared)
    OS << " --" << Name;
  OS << '\n';
}

/// One of the linker's options. \p Spelling is all of \p Name with its dashes.
static Error setShared(Options &Opts, StringRef Name,
                       std::optional<StringRef> Value, StringRef Spelling) {
  StringRef Short = Name;
  Short.consume_front(Prefix);
  if (is_contained(NotHere, Short))
    return failure("option " + printable(Spelling) +
                   " means nothing to jobs that are files");
  return setOption(Opts, (Prefix + Short).str(), Value, Spelling);
}

Expected<Command> dtlto::readCommand(ArrayRef<const char *> Args) {
  Command C;
  auto Next = [&](StringRef Option) -> Expected<std::string> {
    if (Args.empty())
      return failure(Option + " needs a value");
    std::string Value = Args.front();
    Args = Args.drop_front();
    return Value;
  };
  while (!Args.empty()) {
    StringRef Arg = Args.front();
    Args = Args.drop_front();
    if (Arg == "--") {
      C.Compiler.assign(Args.begin(), Args.end());
      break;
    }
    StringRef Name = Arg;
    if (!Name.consume_front("--")) {
      if (Arg.starts_with("-"))
        return failure("unknown option " + printable(Arg));
      if (!C.List.empty())
        return failure("two files, '" + printable(C.List) + "' and '" +
                       printable(Arg) + "'");
      C.List = Arg.str();
      if (C.List.empty())
        return failure("the name of the file is empty");
      continue;
    }
    std::optional<StringRef> Value;
    if (size_t At = Name.find('='); At != StringRef::npos) {
      Value = Name.drop_front(At + 1);
      Name = Name.take_front(At);
    }
    StringRef Spelling = Arg.take_front(Name.size() + 2);
    auto Has = [&](StringRef Flag) { return Name == Flag && !Value; };
    if (Has("help") || Has("version") || Has("verbose")) {
      (Name == "help"      ? C.Help
       : Name == "version" ? C.Version
                           : C.Verbose) = true;
    } else if (Name == "jobs") {
      if (!Value || Value->getAsInteger(10, C.Jobs) || C.Jobs == 0 ||
          C.Jobs > MaxJobs)
        return failure("invalid value '" + printable(Value.value_or("")) +
                       "' for --jobs: expected a number from 1 to " +
                       Twine(MaxJobs));
    } else if (Name == "index-only") {
      Expected<std::string> Folder = Value ? Value->str() : Next(Spelling);
      if (!Folder)
        return Folder.takeError();
      if (Folder->empty())
        return failure("--index-only needs a folder");
      C.IndexFolder = std::move(*Folder);
    } else if (Name == "prefix-replace") {
      Expected<PrefixReplace> P = parsePrefixReplace(Value.value_or(""));
      if (!P)
        return failure("invalid value '" + printable(Value.value_or("")) +
                       "' for --prefix-replace: " + toString(P.takeError()));
      C.Prefix = std::move(*P);
    } else if (Error E = setShared(C.Opts, Name, Value, Spelling)) {
      return std::move(E);
    }
  }
  if (C.Help || C.Version)
    return C;
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
  return C;
}
