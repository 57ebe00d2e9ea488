//===- Session.cpp - The calls of the plugin ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto::check;
using Guard = std::lock_guard<std::mutex>;
namespace fs = std::filesystem;

static size_t countFiles(const char *Folder) {
  std::error_code EC;
  fs::directory_iterator I(Folder, EC);
  return static_cast<size_t>(std::distance(I, fs::directory_iterator()));
}

static size_t countThreads() { return countFiles("/proc/self/task"); }

Resources dtlto::check::currentResources() {
  Resources U = {countThreads(), countFiles("/proc/self/fd"), 0};
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 Info = ::mallinfo2();
  U.Memory = Info.uordblks + Info.hblkhd;
#endif
  return U;
}

/// Returns the settings of the process. Calls umask(), which affects all
/// threads.
static Settings settings() {
  std::error_code EC;
  const mode_t Mask = ::umask(077);
  ::umask(Mask);
  Settings All = {{"the working folder", fs::current_path(EC).string()},
                  {"the umask", std::to_string(Mask)},
                  {"the locale", ::setlocale(LC_ALL, nullptr)}};
  for (char **Variable = environ; *Variable; ++Variable) {
    auto [Name, Value] = StringRef(*Variable).split('=');
    All["the environment variable " + Name.str()] = Value.str();
  }
  for (int Fd : {0, 1, 2}) {
    struct stat Info = {}; // zero: closed
    ::fstat(Fd, &Info);
    All["what the descriptor " + std::to_string(Fd) + " is"] =
        std::to_string(Info.st_dev) + ":" + std::to_string(Info.st_ino);
  }
  sigset_t Blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &Blocked);
  for (int Signal = 1; Signal != 32; ++Signal) { // not the real-time ones
    struct sigaction Info = {};
    ::sigaction(Signal, nullptr, &Info); // both handlers share a union
    All["the action of signal " + std::to_string(Signal) + " (" +
        ::strsignal(Signal) + ")"] =
        std::to_string(reinterpret_cast<intptr_t>(Info.sa_handler)) +
        (::sigismember(&Blocked, Signal) == 1 ? ", blocked" : "");
  }
  return All;
}

void Session::beginCall(const char *Name) {
  assert(isLinkThread() && "the plugin is called on one thread");
  change([&] {
    assert(CallName.empty() && "one call of the plugin at a time");
    CallName = Name;
    CallLimit = CallName == "close" ? Opts.closeLimit() : Opts.callLimit();
    CallBegin = Clock::now();
  });
}

void Session::endCall(const char *) {
  Guard Lock(Mutex);
  const std::string Name = std::exchange(CallName, "");
  if (Name == "open")
    LentParams->end("open() has returned");
  if (Name != "submit" && Name != "cancel" && Name != "load")
    return;
  if (!TheRules.tookTime(Name, Clock::now() - CallBegin))
    ::_exit(1);
}

void Session::watchCalls() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!IsQuitting)
    if (CallName.empty())
      Changed.wait(Lock);
    else if (Clock::now() < CallBegin + CallLimit)
      Changed.wait_until(Lock, CallBegin + CallLimit);
    else
      failHungCall();
}

/// Reports that the plugin's function didn't return, and ends the process.
void Session::failHungCall() {
  const std::string What =
      CallName + "() had not returned after " + seconds(CallLimit);
  if (NumReleasing)
    failAndExit("dtlto_buffer",
                What + ", while job_done() waited for the release() of an "
                       "object that is no longer needed",
                "hold no lock while you call job_done(): it may call release() "
                "on the same thread");
  if (HoldsResults && CallName == "submit")
    failAndExit("dtlto_plugin.submit",
                What + ", while " + Twine(Jobs.size() - 1) +
                    " jobs before it had not ended: it waits for one of them",
                "never wait for another job in submit(): if there is no room, "
                "return DTLTO_BUSY, and call load_changed() later");
  TheRules.hung(CallName, CallLimit,
                CallName == "close" && !allDone()
                    ? ", and jobs have no job_done() yet"
                    : "");
  ::_exit(1);
}

Session::Session(const dtlto_plugin &ThePlugin, const Options &Opts,
                 uint32_t More)
    : Host(ThePlugin, Opts, More), Watchdog([this] { watchCalls(); }) {}

Session::Session(const CaseContext &B, uint64_t NumJobs, uint32_t More)
    : Session(B.Plugin, B.Opts, More) {
  if (int32_t Status = open(NumJobs); Status != DTLTO_OK)
    failAndExit("dtlto_plugin.open",
                "open() failed with " + statusName(Status) + ": " +
                    openErrors(),
                "start what the plugin needs, or name it with --plugin-arg; "
                "the check needs a session that works");
}

Session::~Session() {
  close();
  change([&] { IsQuitting = true; });
  Watchdog.join();
}

void Session::configure(const dtlto_session_params &Params) {
  std::string NoFallback;
  Config.size = sizeof(Config);
  fillIn(
      TheRules, "configure", "dtlto_session_config", "configure() has returned",
      Config,
      [&](dtlto_session_config *C) {
        call("configure", [&] { ThePlugin.configure(&Params, C); });
        NoFallback = C->no_fallback ? C->no_fallback : "";
      },
      More);
  NullReason = nullHint(Config.needs);
  Config.no_fallback = NoFallback.empty() ? nullptr : NoFallback.c_str();
  TheRules.config(Config);
  Config.no_fallback = nullptr;
}

int32_t Session::fill(dtlto_load &Load) {
  int32_t Status = DTLTO_OK;
  fillIn(
      TheRules, "load", "dtlto_load", "load() has returned", Load,
      [&](dtlto_load *L) {
        Status = call("load", [&] { return ThePlugin.load(Handle, L); });
      },
      More);
  return Status;
}

int32_t Session::open(uint64_t NumJobs) {
  return open(NumJobs, LLVM_VERSION_STRING);
}

int32_t Session::open(uint64_t NumJobs, const std::string &Version) {
  LLVMVersion = Version;
  // The first session of the process may leave library threads running.
  ThreadsBefore = countThreads();
  SettingsBefore = settings();
  Params.verbose = Opts.Verbose;
  const int32_t Status = Host::open(Opts.PluginArgs, LLVMVersion, NumJobs);
  if (Status == DTLTO_OK && !Handle)
    ::_exit(1); // the case cannot go on
  return Status;
}

void Session::close() {
  if (Phase != Open)
    return;
  WaitsForLoad = false;
  Host::close();
  checkAfterClose();
  Lent.end("close() has returned");
  for (auto &Module : Modules)
    Module.second.first->end("close() has returned");
  // Later calls of the plugin are late. Wait for its threads to end.
  for (unsigned I = 0; I != 50 && countThreads() > ThreadsBefore; ++I)
    std::this_thread::sleep_for(10ms);
  checkBuffers();
}

void Session::checkAfterClose() {
  const Settings After = settings();
  Settings All = SettingsBefore;
  All.insert(After.begin(), After.end());
  auto IsIn = [](const Settings &Some, const auto &Setting) {
    auto I = Some.find(Setting.first);
    return I != Some.end() && I->second == Setting.second;
  };
  std::vector<std::string> Changes;
  for (const auto &Setting : All)
    if (!IsIn(After, Setting) || !IsIn(SettingsBefore, Setting))
      Changes.push_back(Setting.first);
  if (!Changes.empty())
    fail("The process", "the plugin has changed " + join(Changes, ", "),
         "the process is the linker's: leave its working folder, umask, "
         "environment, locale, signals and standard descriptors as they are");
  for (const std::string &Sentence : TheRules.slowCalls())
    note(Sentence);
  if (HasNamelessResult)
    note(NamelessResult);
}

void Session::checkBuffers() {
  // The linker reads objects after the session, and any thread may release
  // them.
  std::thread([this] {
    for (auto &[Id, R] : Jobs) {
      dtlto_buffer &B = R.Buffer;
      expect(R.Status != DTLTO_OK || R.Object.empty() || !B.data ||
                 std::memcmp(B.data, R.Object.data(), B.size) == 0,
             "dtlto_buffer",
             "the object of " + nameOf(Id) +
                 " was changed after its job_done()",
             "the bytes are the host's from then on: free them in release(), "
             "and nowhere else");
      if (B.release)
        B.release(B.owner, B.data, B.size);
      B = {};
    }
  }).join();
  for (const auto &B : Buffers)
    TheRules.isReleased(B->Releases, B->What);
}
