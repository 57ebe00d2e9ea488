//===- main.cpp - LLD with a plugin for its ThinLTO backends --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One executable under the names of LLD's drivers: ld.lld, lld-link, ld64.lld
// and wasm-ld, and ld.dtlto for `clang -fuse-ld=dtlto`. Removes our options
// from the command line, loads the plugin that they name, and lets LLD's own
// driver do the rest. Without our options, LLD runs as it is, except for lines
// about dtlto in --help and --version. Under the names of other linkers, the
// executable runs these with our plugin (OtherLinkers.h).
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "LLDHooks.h"
#include "LLDMessages.h"
#include "LTOHooks.h"
#include "OtherLinkers.h"
#include "Run/Configuration.h"
#include "Startup.h"
#include "Support/CrashReport.h"
#include "Support/Failure.h"
#include "lld/Common/Driver.h"
#include "lld/Common/ErrorHandler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PluginLoader.h" // -mllvm -load=, which LLD's main has
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"

namespace lld {
/// In LLD's libraries. LLD's Version.h declares it as well, but includes a file
/// that isn't installed.
std::string getLLDVersion();
} // namespace lld

using namespace llvm;
using namespace dtlto;

LLD_HAS_DRIVER(coff)
LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(mingw)
LLD_HAS_DRIVER(macho)
LLD_HAS_DRIVER(wasm)

namespace lld {
// Called by LLD's own main(); lldMain() without crash recovery. No header of
// LLD declares it.
int unsafeLldMain(ArrayRef<const char *> Args, raw_ostream &Stdout,
                  raw_ostream &Stderr, ArrayRef<DriverDef> Drivers,
                  bool ExitEarly);
} // namespace lld

static StringRef programName(StringRef Argv0) {
  StringRef Name = sys::path::filename(Argv0);
  return Name.ends_with_insensitive(".exe") ? Name.drop_back(4) : Name;
}

/// Whether LLD will run its driver for COFF. A wrong guess would only look for
/// our options in the other spelling.
static bool isCOFF(ArrayRef<const char *> Args) {
  if (Args.size() > 2 && StringRef(Args[1]) == "-flavor")
    return StringRef(Args[2]).equals_insensitive("link");
  return programName(Args[0]).contains_insensitive("link");
}

/// Returns `<prefix>/lib/dtlto`, relative to this executable.
static std::string pluginFolder(const char *Argv0) {
  SmallString<256> Path(sys::fs::getMainExecutable(
      Argv0, reinterpret_cast<void *>(&pluginFolder)));
  sys::path::remove_filename(Path); // bin
  sys::path::append(Path, "..", "lib", "dtlto");
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

static int refuse(const char *Argv0, Error E) {
  errs() << programName(Argv0) << ": error: dtlto: " << toString(std::move(E))
         << '\n';
  return 1;
}

static Frontend frontend(ArrayRef<const char *> Args) {
  return {programName(Args[0]), pluginFolder(Args[0]),
          isCOFF(Args) ? "/" : "--",
          is_contained(Args, StringRef("--verbose"))};
}

/// Loads the plugin that the options name, and installs the hooks for it.
static Error usePlugin(Linker &TheLinker, ArrayRef<const char *> Args,
                       raw_ostream *&LLDErrors) {
  TheLinker.Opts.Linker = lld::getLLDVersion();
  if (Error E = startPlugin(TheLinker, frontend(Args)))
    return E;
  auto *Errors = new StatusLine(errs());
  LLDErrors = Errors;
  TheLinker.Msg = new LLDMessages(*Errors, TheLinker.Opts.DumbTerminal);
  TheLinker.IsMachO = isMachO(Args);
  installHooks(TheLinker, [](const Twine &Text) { lld::fatal(Text); });
  return Error::success();
}

static int runLinker(int Argc, char **Argv) {
  sys::Process::UseANSIEscapeCodes(true);
  // As LLD's own main(), for tests of what happens after a crash.
  if (sys::Process::GetEnv("FORCE_LLD_DIAGNOSTICS_CRASH")) {
    errs() << "crashing due to environment variable "
              "FORCE_LLD_DIAGNOSTICS_CRASH\n";
    LLVM_BUILTIN_TRAP;
  }

  SmallVector<const char *, 256> Args(Argv, Argv + Argc);
  if (isOtherLinker(programName(Args[0])))
    return refuse(Args[0], runOtherLinker(Args, pluginFolder(Args[0])));
  // LLD doesn't know this name.
  if (programName(Args[0]) == "ld.dtlto")
    Args.insert(Args.begin() + 1, {"-flavor", "gnu"});

  // Never freed: LLD ends the process without destructors, and threads of an
  // abandoned plugin may use these to the very end.
  auto *TheLinker = new Linker;
  auto *Alloc = new BumpPtrAllocator;
  StringSaver Saver(*Alloc);

  const char *LLVMReport = getBugReportMsg();
  setBugReportMsg(bugReportLine());
  setHelp(isCOFF(Args));
  Options &Opts = TheLinker->Opts;
  if (Error E = readConfiguration(Opts))
    return refuse(Args[0], std::move(E));
  if (Error E = extractOptions(Args, isCOFF(Args), Saver, Opts))
    return refuse(Args[0], std::move(E));
  if (Error E = finishOptions(Opts, "--"))
    return refuse(Args[0], std::move(E));
  if (Opts.ShowConfig)
    return showConfig(Opts, programName(Args[0]));
  if (Opts.isPluginQuery())
    return showPlugins(Opts, frontend(Args));
  raw_ostream *LLDErrors = &errs();
  if (Opts.Plugin.empty())
    setBugReportMsg(LLVMReport); // the rest is LLVM's alone
  else if (Error E = usePlugin(*TheLinker, Args, LLDErrors))
    return refuse(Args[0], std::move(E));
  int Code = lld::unsafeLldMain(Args, outs(), *LLDErrors, LLD_ALL_DRIVERS,
                                /*ExitEarly=*/!Opts.Version);
  // LLD returns only after --version. LLD's line stays the first: some programs
  // parse it.
  if (Code == 0)
    outs() << "dtlto " << DTLTO_VERSION << ", plugin ABI " << DTLTO_ABI_MAJOR
           << '.' << DTLTO_ABI_MINOR << '\n';
  // LLD ignores this error as well.
  outs().flush();
  outs().clear_error();
  return Code;
}

int main(int Argc, char **Argv) {
  // Otherwise a file that is opened later would get our messages.
  (void)sys::Process::FixupStandardFileDescriptors();
  InitLLVM X(Argc, Argv);
  int Code = runLinker(Argc, Argv);
  // LLD exits in the same way. Skip destructors: a plugin's could hang.
  outs().flush();
  errs().flush();
  sys::Process::Exit(Code, /*NoCleanup=*/true);
}
