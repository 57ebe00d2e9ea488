//===- Startup.cpp - What precedes a link with a plugin -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Startup.h"
#include "Host/FarmStatus.h"
#include "Host/PluginCheck.h"
#include "Host/PluginGuard.h"
#include "LTO/JobSaver.h"
#include "Report/PlainMessages.h"
#include "Report/Report.h"
#include "Run/Configuration.h"
#include "Run/LogObserver.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/Support/Process.h"
#include <csignal>

using namespace llvm;
using namespace dtlto;

static Expected<const dtlto_plugin *> load(StringRef Name, const Options &Opts,
                                           const Frontend &F) {
  return loadGuarded(F.Program, Name, pluginFolders(Opts, F.PluginFolder),
                     Opts.TimeoutSeconds, /*LimitsInterrupts=*/true);
}

/// Checks that the files that the user wants can be written: after the link, it
/// would be too late to choose others.
static Error checkFiles(const Options &Opts, StringRef Dashes) {
  auto Check = [&](StringRef Path, Error (*Fn)(StringRef),
                   StringRef Option) -> Error {
    if (Path.empty())
      return Error::success();
    if (Error E = Fn(Path))
      return failure(toString(std::move(E)) + " (" + Dashes + Option + ")");
    return Error::success();
  };
  if (Error E = Check(Opts.Report, checkReport, "thinlto-dist-report"))
    return E;
  if (Error E = Check(Opts.Log, checkLog, "thinlto-dist-log"))
    return E;
  return Check(Opts.SaveJobs, checkJobFolder, "thinlto-dist-save-jobs");
}

int dtlto::endWith(Error E, StringRef Program) {
  if (!E)
    return 0;
  errs() << Program << ": error: dtlto: " << toString(std::move(E)) << '\n';
  return 1;
}

int dtlto::showConfig(const Options &Opts, StringRef Program) {
  printOptions(Opts, outs());
  return endWith(flushOutput("options"), Program);
}

int dtlto::showPlugins(Options &Opts, const Frontend &F) {
  if (Error E = readEnvironment(Opts))
    return endWith(std::move(E), F.Program);
  StatusLine Errors(errs());
  PlainMessages Msg(Errors, F.Program, "dtlto: ", F.IsVerbose);
  auto Load = [&](StringRef Name) {
    auto Plugin = load(Name, Opts, F);
    guardAgainstExit();
    return Plugin;
  };
  return endWith(showPlugins(Opts, pluginFolders(Opts, F.PluginFolder),
                             F.Dashes, Msg, Load),
                 F.Program);
}

/// Prints the state of the plugin's farm on standard output, and problems on
/// standard error. Returns the exit code: 0 if a worker takes jobs.
static int showStatus(const Linker &TheLinker, const Frontend &F) {
  StatusLine Errors(errs());
  PlainMessages Msg(Errors, F.Program, "dtlto: ", F.IsVerbose);
  showNotes(TheLinker.Opts, Msg);
  FarmStatus S = queryFarm(*TheLinker.Plugin, TheLinker.Opts, Msg);
  countFindings();
  for (const std::string &P : S.Problems) {
    std::string Text = "plugin '" + S.Plugin + "': " + P;
    if (S.isUp())
      Msg.warning(Text);
    else
      Msg.error(Text);
  }
  if (TheLinker.Opts.Status == StatusKind::JSON)
    printJSON(S, outs());
  else if (S.Workers || S.isUp())
    printTable(S, outs());
  if (Error E = flushOutput("status")) {
    Msg.error(toString(std::move(E)));
    return 1;
  }
  return S.isUp() ? 0 : 1;
}

Error dtlto::startPlugin(Linker &TheLinker, const Frontend &F) {
  Options &Opts = TheLinker.Opts;
#ifndef _WIN32
  // Some programs start others with SIGCHLD ignored; then waiting for child
  // processes fails.
  std::signal(SIGCHLD, SIG_DFL);
#endif
  if (Error E = checkLLVM())
    return E;
  if (Error E = readEnvironment(Opts))
    return E;
  StatusLine Errors(errs());
  PlainMessages Msg(Errors, F.Program, "dtlto: ", F.IsVerbose);
  auto Load = [&](StringRef Name) { return load(Name, Opts, F); };
  if (Error E = loadNamedPlugin(Opts, Msg, Load).moveInto(TheLinker.Plugin))
    return E;
  if (Error E = loadStorePlugin(Opts, Load).moveInto(TheLinker.StorePlugin))
    return E;
  if (Error E = checkFiles(Opts, F.Dashes))
    return E;
  if (Opts.Status == StatusKind::None)
    return Error::success();
  guardAgainstExit();
  int Code = showStatus(TheLinker, F);
  // Skip destructors: a plugin may have been abandoned.
  sys::Process::Exit(Code, /*NoCleanup=*/true);
}
