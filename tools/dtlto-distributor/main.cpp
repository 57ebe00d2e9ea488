//===- main.cpp - The plugins for other linkers ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stock LLD of LLVM 21 or later starts this program for its
// --thinlto-distributor=. A build system runs it on the files of
// --thinlto-index-only.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Ending.h"
#include "Files/FileJobs.h"
#include "Host/PluginCheck.h"
#include "Host/PluginGuard.h"
#include "Report/PlainMessages.h"
#include "Report/Report.h"
#include "Run/Configuration.h"
#include "Run/LinkRun.h"
#include "Run/LogObserver.h"
#include "Run/RemoteCache.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Threading.h"
#include <csignal>
#include <set>
#include <thread>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Program = "dtlto-distributor";
// Time for the compilers to end after they were asked to.
static constexpr std::chrono::seconds MaxEnd(5);

static std::string executablePath(const char *Argv0) {
  return sys::fs::getMainExecutable(Argv0,
                                    reinterpret_cast<void *>(&executablePath));
}

/// Returns the folders that have plugins, those of dtlto first.
static std::vector<std::string> folders(const char *Argv0,
                                        const Options &Opts) {
  SmallString<256> Folder(executablePath(Argv0));
  sys::path::remove_filename(Folder); // bin
  sys::path::append(Folder, "..", "lib", "dtlto");
  sys::path::remove_dots(Folder, /*remove_dot_dot=*/true);
  return pluginFolders(Opts, Folder);
}

static Expected<const dtlto_plugin *> load(const char *Argv0, StringRef Name,
                                           const Options &Opts) {
  return loadGuarded(Program, Name, folders(Argv0, Opts), Opts.TimeoutSeconds);
}

static Expected<JobList> readJobs(const Command &C) {
  if (!C.IndexFolder.empty())
    return readIndexFolder(C.IndexFolder, C.Prefix, C.Compiler);
  Expected<std::unique_ptr<MemoryBuffer>> File = openFile(C.List);
  if (!File)
    return File.takeError();
  return parseJobList((*File)->getBuffer(), C.List);
}

/// Checks the inputs and outputs: different names may denote one file, and
/// outputs are removed before they are written.
static Error checkFiles(const JobList &List) {
  auto IdOf = [](StringRef Path) {
    sys::fs::UniqueID Id;
    return sys::fs::getUniqueID(Path, Id) ? std::nullopt : std::optional(Id);
  };
  StringSet<> SeenPaths;
  std::set<sys::fs::UniqueID> Inputs;
  for (const FileJob &J : List.Jobs)
    for (StringRef Path : J.Inputs)
      if (SeenPaths.insert(Path).second)
        if (auto Id = IdOf(Path))
          Inputs.insert(*Id);
  std::set<std::pair<sys::fs::UniqueID, StringRef>> Outputs;
  for (size_t I = 0; I != List.Jobs.size(); ++I)
    for (StringRef Path : List.Jobs[I].Outputs) {
      std::string Place =
          "jobs[" + std::to_string(I) + "]: output '" + printable(Path);
      if (auto Id = IdOf(Path); Id && Inputs.count(*Id))
        return failure(Place + "' is also an input, by another name");
      StringRef Folder = sys::path::parent_path(Path);
      auto Id = IdOf(Folder.empty() ? "." : Folder);
      if (Id && !Outputs.emplace(*Id, sys::path::filename(Path)).second)
        return failure(Place + "' is also written by another name");
    }
  return Error::success();
}

/// Removes old outputs, since objects of an earlier run would pass for new
/// ones.
static Error removeOldOutputs(const JobList &List) {
  for (const FileJob &J : List.Jobs)
    for (StringRef Path : J.Outputs)
      if (std::error_code EC = sys::fs::remove(Path))
        return failure("'" + printable(Path) +
                       "' cannot be removed: " + EC.message());
  return Error::success();
}

/// Checks that all outputs exist: exit code 0 promises that to the linker.
static Error checkComplete(const JobList &List) {
  for (const FileJob &J : List.Jobs)
    for (StringRef Path : J.Outputs) {
      uint64_t Size = 0;
      std::error_code EC = sys::fs::file_size(Path, Size);
      if (EC || (Size == 0 && Path == J.object()))
        return failure("internal error: all jobs have ended, but '" +
                       printable(Path) + "' is not a complete object: " +
                       (EC ? EC.message() : "it is empty"));
    }
  return Error::success();
}

/// Makes the folder for unfinished objects, and removes old outputs.
static Expected<std::string> prepareFiles(const JobList &List) {
  SmallString<128> Folder;
  if (std::error_code EC = sys::fs::createUniqueDirectory("dtlto", Folder))
    return failure("cannot create the temporary folder '" + Folder +
                   "': " + EC.message());
  removeWhenProcessEnds(Folder.str().str());
  if (Error E = checkFiles(List))
    return std::move(E);
  if (Error E = removeOldOutputs(List))
    return std::move(E);
  return Folder.str().str();
}

/// Answers --plugin=list and --plugin-help.
static Error answerQuery(const char *Argv0, Options &Opts, PlainMessages &Msg) {
  return showPlugins(Opts, folders(Argv0, Opts), "--", Msg,
                     [&](StringRef Name) {
                       auto Plugin = load(Argv0, Name, Opts);
                       guardAgainstExit();
                       return Plugin;
                     });
}

/// On a signal, ends the jobs of \p Source and removes \p Folder. With
/// \p HasParent, a linker has started this process: it doesn't remove outputs,
/// while a build system keeps the good ones.
static void endJobsOnSignals(std::shared_ptr<FileJobs> Source,
                             const JobList &List, const std::string &Folder,
                             bool HasParent) {
  endOnSignals(
      [=] {
        Source->interrupt();
        for (auto End = Clock::now() + MaxEnd;
             Source->numRunning() != 0 && Clock::now() < End;)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        removeFolder(Folder);
        if (HasParent)
          consumeError(removeOldOutputs(List));
      },
      HasParent);
}

/// Runs the jobs. Destroys nothing: a plugin that is still running may use all
/// of it.
static Error run(const char *Argv0, Command &C, PlainMessages &Msg) {
  Options &Opts = C.Opts;
  auto Load = [&](StringRef Name) { return load(Argv0, Name, Opts); };
  auto Plugin = loadNamedPlugin(Opts, Msg, Load);
  if (!Plugin)
    return Plugin.takeError();
  auto StorePlugin = loadStorePlugin(Opts, Load);
  if (!StorePlugin)
    return StorePlugin.takeError();
  showNotes(Opts, Msg);
  if (!Opts.Report.empty())
    if (Error E = checkReport(Opts.Report))
      return E;
  if (!Opts.Log.empty())
    if (Error E = checkLog(Opts.Log))
      return E;
  auto StartTime = std::chrono::steady_clock::now();
  Expected<JobList> List = readJobs(C);
  if (!List)
    return List.takeError();
  if (!List->UnknownKeys.empty()) {
    std::string Keys = join(List->UnknownKeys, ", ");
    Msg.warning("'" + printable(C.List) + "' has keys that this version of " +
                Program + " does not know: " + Keys + "; they are ignored");
  }
  if (List->Jobs.empty())
    return Error::success();
  Expected<Compiler> TheCompiler = queryCompiler(List->Args);
  if (!TheCompiler)
    return TheCompiler.takeError();
  Msg.debug("'" + TheCompiler->Program + "' is clang " + TheCompiler->Version +
            " for " + TheCompiler->Triple);
  Expected<std::string> Folder = prepareFiles(*List);
  if (!Folder)
    return Folder.takeError();

  Opts.OutputFile = List->LinkerOutput;
  Opts.Linker = TheCompiler->Linker;
  auto *Host = new HostContext{
      *Plugin, Msg, Opts, TheCompiler->Version,
      C.Jobs ? C.Jobs
             : heavyweight_hardware_concurrency().compute_thread_count()};
  Host->Config = configurePlugin(*Host, List->Jobs.size());
  auto Store = openRemoteStore(Opts, *StorePlugin, Msg);
  if (!Store)
    return Store.takeError();
  auto *Context =
      new RunContext{*Host, Opts, nullptr, *Store, StartTime, StartTime};
  auto Source = std::make_shared<FileJobs>(
      *Context, *List, *TheCompiler, *Folder, launcher(executablePath(Argv0)));
  endJobsOnSignals(Source, *List, *Folder,
                   /*HasParent=*/C.IndexFolder.empty());
  guardAgainstExit();
  Error Why = LinkRun(*Context, Source).run();
  countFindings();
  if (*Store)
    (*Store)->finish();
  removeFolder(*Folder);
  return Why ? std::move(Why) : checkComplete(*List);
}

int main(int Argc, char **Argv) {
#ifdef _WIN32
  InitLLVM Arguments(Argc, Argv); // makes the arguments UTF-8
#endif
  runAsLauncher(Argc, Argv);
  // Otherwise a file opened later could get the descriptors, and our messages.
  (void)sys::Process::FixupStandardFileDescriptors();
  recordParent();
#ifndef _WIN32
  ::signal(SIGPIPE, SIG_IGN);
  // If SIGCHLD is ignored, children can't be waited for.
  ::signal(SIGCHLD, SIG_DFL);
#endif
  auto *Errors = new StatusLine(errs());
  auto Refuse = [&](Error E) {
    handleAllErrors(std::move(E), [&](const ErrorInfoBase &Info) {
      std::string Text = Info.message();
      StringRef Message = Text;
      Message.consume_front("dtlto: ");
      PlainMessages(*Errors, Program, "", false).error(Message);
    });
    return 1;
  };
  Expected<Command> ParsedCommand = readCommand({Argv + 1, Argv + Argc});
  if (!ParsedCommand)
    return Refuse(ParsedCommand.takeError());
  auto *C = new Command(std::move(*ParsedCommand));
  if (C->Help)
    printUsage(outs());
  if (C->Version)
    outs() << Program << ' ' << DTLTO_VERSION << ", plugin ABI "
           << DTLTO_ABI_MAJOR << '.' << DTLTO_ABI_MINOR << '\n';
  if (C->Help || C->Version)
    return 0;
  if (Error E = readEnvironment(C->Opts))
    return Refuse(std::move(E));
  auto *Msg =
      new PlainMessages(*Errors, Program, "", C->Verbose, C->Opts.DumbTerminal);
  int Code = 0;
  if (Error E = C->Opts.isPluginQuery() ? answerQuery(Argv[0], C->Opts, *Msg)
                                        : run(Argv[0], *C, *Msg))
    Code = Refuse(std::move(E));
  outs().flush();
  waitIfEnding();
  // Threads of a plugin may still be running.
  sys::Process::Exit(Code, /*NoCleanup=*/true);
}
