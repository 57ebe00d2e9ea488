//===- PluginGuard.cpp - Plugins that hang, crash or exit -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginGuard.h"
#include "Host/PluginLoader.h"
#include "Support/CrashReport.h"
#include "Support/Jobserver.h"
#include "Support/System.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <future>
#include <sys/stat.h>
#include <thread>
#include <typeinfo>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

static constexpr int IOError = 74; // EX_IOERR of <sysexits.h>
// In seconds. A library's constructors have the limit of a plugin's calls.
static constexpr unsigned MaxCleanUp = 2, MaxLoad = 60;

namespace {
enum class Phase { None, Loading, InUse };

/// Data for code that runs while the process ends: never destroyed.
struct Names {
  std::string Program, Plugin;
  std::string PipeError; // an error line
  std::string CrashNote; // lines for a crash report
};

/// The process's state before the plugin was loaded.
struct Settings {
  SmallString<256> Folder;
  unsigned Mask;
};
} // namespace

static std::atomic<Phase> LoadPhase = Phase::None;
static const Names *TheNames = nullptr;
static Settings InitialSettings;
static std::terminate_handler DefaultTerminate;

static std::string errorLine(const Names &N, const std::string &Text) {
  return N.Program + ": error: dtlto: plugin '" + N.Plugin + "': " + Text +
         "\n";
}

static void writeLine(const std::string &Line) {
  (void)!::write(2, Line.data(), Line.size());
}

/// Ends the process without destructors, which can't help: the loader's lock
/// may be held.
[[noreturn]] static void endNow(int Code) {
  sys::RunInterruptHandlers(); // removes temporary files
  Jobserver::releaseAllTokens();
  ::_exit(Code);
}

[[noreturn]] static void die(const std::string &Text, int Code) {
  endWithin(MaxCleanUp); // the heap's lock may be held as well
  writeLine(errorLine(*TheNames, Text));
  endNow(Code);
}

/// An on_exit() handler. LLD itself ends by _exit() once its LTO has begun.
static void atExit(int Code) {
  if (LoadPhase == Phase::None)
    return;
  endWithin(MaxCleanUp);
  waitIfCrashing(); // a plugin's handler of SIGABRT may call exit()
  std::string Text;
  if (LoadPhase == Phase::Loading)
    Text = "it called exit(" + std::to_string(Code) +
           ") while it was loaded; report this to its vendor";
  else if (Code == 1) // LLVM exits with 1 after some errors it has reported
    Text = "exit(1) was called, by the plugin or, after an error above, by "
           "LLVM; the link has failed; in the first case, report this to the "
           "plugin's vendor";
  else
    Text =
        "exit(" + std::to_string(Code) +
        ") was called, most likely by the plugin; the link has failed; report "
        "this to its vendor";
  die(Text, Code ? Code : 1);
}

/// Makes writes beyond `ulimit -f` fail (EFBIG) instead of ending the process:
/// many files, such as caches, are not essential. Child processes don't inherit
/// the handler.
static void surviveFileLimit() {
#ifdef SIGXFSZ
  struct sigaction Action = {};
  Action.sa_handler = [](int) {};
  Action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &Action, nullptr);
#endif
}

/// Explains the exception of std::thread when LLD can't start another thread.
static void onTerminate() {
  const std::type_info *Type = abi::__cxa_current_exception_type();
  if (Type && StringRef(Type->name()) == "St12system_error")
    die(std::string("std::system_error was thrown, most likely because ") +
            NoThread,
        1);
  DefaultTerminate();
}

/// Prepares the process for the plugin \p Plugin, which is about to be loaded.
static void beginLoading(StringRef Program, StringRef Plugin, bool IsShipped) {
  std::string Text =
      "a SIGPIPE has ended the link, most likely because a peer closed one of "
      "the plugin's connections; ask its vendor to send with MSG_NOSIGNAL";
  auto *N = new Names{Program.str(), Plugin.str(), "", ""};
  N->PipeError = errorLine(*N, Text);
  surviveFileLimit();
  // A crash in one of our own plugins is ours.
  if (!IsShipped)
    N->CrashNote = N->Program + ": note: dtlto: plugin '" + N->Plugin +
                   "' is in this process; if its functions are on the stack, "
                   "report this to its vendor\n";
  installCrashReport(N->CrashNote);
  if (sys::fs::current_path(InitialSettings.Folder))
    InitialSettings.Folder.clear();
  InitialSettings.Mask = sys::fs::getUmask();
  TheNames = N;
  DefaultTerminate = std::set_terminate(onTerminate);
  LoadPhase = Phase::Loading;
#ifdef __GLIBC__
  ::on_exit([](int Code, void *) { atExit(Code); }, nullptr);
#else
  std::atexit([] { atExit(0); }); // atexit() doesn't pass the exit code
#endif
}

Expected<const dtlto_plugin *> dtlto::loadGuarded(StringRef Program,
                                                  StringRef Name,
                                                  ArrayRef<std::string> Folders,
                                                  unsigned Limit,
                                                  bool LimitsInterrupts) {
  const std::string Plugin = Name.str();
  PrettyStackTraceFormat StackEntry("loading plugin '%s'", Plugin.c_str());
  beginLoading(Program, Name, isShippedPlugin(Name, Folders.front()));
  std::promise<void> Loaded;
  // If no thread can be started, there is no watchdog.
  startThread([IsLoaded = Loaded.get_future().share(),
               Limit = std::chrono::seconds(std::min(MaxLoad, Limit))] {
    if (IsLoaded.wait_for(Limit) == std::future_status::timeout)
      die("it has not been loaded within " + std::to_string(Limit.count()) +
              " s: its constructors hang; report this to its vendor",
          1);
  });
  if (LimitsInterrupts)
    limitInterrupts();
  auto Result = loadPlugin(Name, Folders);
  Loaded.set_value();
  limitAbortHandler();
  LoadPhase = Phase::None;
  return Result;
}

/// Reports a fatal error as LLVM does, and ends the process. LLVM would call
/// exit(), whose destructors destroy what other threads are using.
static void fatalError(void *, const char *Reason, bool IsCrash) {
  // The first error ends the process. It may cause further errors on other
  // threads, such as a missing temporary file; suppress these.
  static std::atomic<bool> IsEnding = false;
  if (IsEnding.exchange(true))
    while (true)
      std::this_thread::sleep_for(std::chrono::hours(1));
  // LLVM's thread pools fail without threads. That is a limit, not a crash.
  if (StringRef(Reason).contains("pthread_create"))
    die(std::string("LLVM: ") + Reason + ": " + NoThread, 1);
  writeLine("LLVM ERROR: " + std::string(Reason) + "\n");
  if (IsCrash)
    return; // LLVM calls abort()
  endWithin(MaxCleanUp);
  endNow(1);
}

/// Ends the process after SIGPIPE. LLVM's handler has removed temporary files.
/// It would call exit(), which deadlocks if this thread was interrupted while
/// it held the allocator's lock, or one that a destructor needs.
static void brokenPipe() {
  if (!isOutputBroken())
    writeLine(TheNames->PipeError);
  Jobserver::releaseAllTokens();
  ::_exit(IOError);
}

std::string dtlto::restoreProcess() {
  std::string Changed;
  if (!TheNames)
    return Changed;
  SmallString<256> Folder;
  if (!InitialSettings.Folder.empty() &&
      (sys::fs::current_path(Folder) || Folder != InitialSettings.Folder) &&
      !sys::fs::set_current_path(InitialSettings.Folder))
    Changed = "working folder";
#ifndef _WIN32
  if (::umask(InitialSettings.Mask) != InitialSettings.Mask)
    Changed += Changed.empty() ? "umask" : " and umask";
#endif
  return Changed;
}

void dtlto::nameWorkersAtCrash(ArrayRef<std::string> Workers) {
  waitIfCrashing(); // otherwise the link could end first, as a success
  constexpr size_t MaxNames = 8;
  if (!TheNames || Workers.empty())
    return;
  std::string Text = TheNames->Program +
                     ": note: dtlto: objects of this link come from " +
                     join(Workers.take_front(MaxNames), ", ");
  if (Workers.size() > MaxNames)
    Text += " and " + std::to_string(Workers.size() - MaxNames) + " more";
  Text += "; if one of them causes the crash, --thinlto-dist-plugin=local, "
          "which compiles all modules locally, avoids it\n";
  installCrashReport(TheNames->CrashNote + Text);
}

void dtlto::guardAgainstExit() {
  if (!TheNames || LoadPhase.exchange(Phase::InUse) == Phase::InUse)
    return;
  install_fatal_error_handler(fatalError);
  sys::SetOneShotPipeSignalFunction(brokenPipe);
#ifdef SIGPIPE
  // If LLVM's other handlers were installed before the pipe function was set,
  // LLVM has no handler of SIGPIPE. This happens if the process contains LLVM
  // 22.
  struct sigaction Is;
  if (::sigaction(SIGPIPE, nullptr, &Is) == 0 && Is.sa_handler == SIG_DFL) {
    Is.sa_handler = [](int) {
      sys::RunInterruptHandlers(); // removes temporary files
      brokenPipe();
    };
    ::sigaction(SIGPIPE, &Is, nullptr);
  }
#endif
}

void dtlto::endGuard() {
  if (!TheNames || LoadPhase.exchange(Phase::None) != Phase::InUse)
    return;
  remove_fatal_error_handler();
  std::set_terminate(DefaultTerminate);
}

void dtlto::limitDestructors() {
#ifdef __GLIBC__
  // Runs before the plugin's destructors, since it is registered after these.
  ::on_exit(
      [](int Code, void *) {
        waitIfCrashing();
        std::fflush(nullptr);
        startThread([Code] {
          std::this_thread::sleep_for(std::chrono::seconds(MaxCleanUp));
          ::_exit(Code);
        });
      },
      nullptr);
#endif
}
