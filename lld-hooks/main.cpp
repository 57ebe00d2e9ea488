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
#include "LTOHooks.h"
#include "OtherLinkers.h"
#include "Report/PlainMessages.h"
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

namespace {

/// Shows messages like LLD's own, so that LLD's options for messages apply:
/// --verbose, --fatal-warnings, --no-warnings, --error-limit, colors. Use this
/// only while an LLD driver runs.
class LLDMessages : public Messages {
public:
  /// \p Errors is the stream that LLD writes to. With \p IsDumb, lines there
  /// can't be overwritten, even on a terminal.
  LLDMessages(StatusLine &Errors, bool IsDumb)
      : Errors(Errors), IsDumb(IsDumb) {}

  void emit(MessageLevel Level, const Twine &Text) override;
  void progress(StringRef Line) override {
    if (columns())
      Errors.show(Line);
    else
      Errors.write(Line);
  }
  std::optional<unsigned> columns() const override {
    return IsDumb ? std::nullopt : terminalColumns();
  }
  bool verbose() const override { return lld::errorHandler().verbose; }

private:
  StatusLine &Errors;
  const bool IsDumb;
};

} // namespace

void LLDMessages::emit(MessageLevel Level, const Twine &Text) {
  switch (Level) {
  case MessageLevel::Debug:
    return lld::log("dtlto: " + Text);
  case MessageLevel::Note:
    // LLD has no notes, and message() adds no prefix.
    return lld::message(lld::errorHandler().logName + ": note: dtlto: " + Text,
                        lld::errorHandler().errs());
  case MessageLevel::Warning:
    if (!lld::errorHandler().fatalWarnings)
      return lld::warn("dtlto: " + Text);
    if (!lld::errorHandler().suppressWarnings)
      lld::message(lld::errorHandler().logName + ": warning: dtlto: " + Text,
                   lld::errorHandler().errs());
    return;
  case MessageLevel::Error:
    return lld::error("dtlto: " + Text);
  // As in LLD's diagnosticHandler().
  case MessageLevel::Diagnostic:
    return lld::warn(Text);
  case MessageLevel::Remark:
    return lld::message(Text);
  case MessageLevel::Text:
    return lld::message(Text, lld::errorHandler().errs());
  }
}

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
  const StringRef Program = programName(Args[0]);
  if (isOtherLinker(Program))
    return endWith(runOtherLinker(Args, pluginFolder(Args[0])), Program);
  // LLD doesn't know this name.
  if (Program == "ld.dtlto")
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
    return endWith(std::move(E), Program);
  if (Error E = extractOptions(Args, isCOFF(Args), Saver, Opts))
    return endWith(std::move(E), Program);
  if (Error E = finishOptions(Opts, "--"))
    return endWith(std::move(E), Program);
  if (Opts.ShowConfig)
    return showConfig(Opts, Program);
  if (Opts.isPluginQuery())
    return showPlugins(Opts, frontend(Args));
  raw_ostream *LLDErrors = &errs();
  if (Opts.Plugin.empty())
    setBugReportMsg(LLVMReport); // the rest is LLVM's alone
  else if (Error E = usePlugin(*TheLinker, Args, LLDErrors))
    return endWith(std::move(E), Program);
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
