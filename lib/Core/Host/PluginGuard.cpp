//===- PluginGuard.cpp - Plugins that don't let the linker go on ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginGuard.h"
#include "Support/Jobserver.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cstdlib>
#include <poll.h>
#include <sysexits.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

namespace {
enum class Phase { None, Loading, InUse };

/// For what runs while the process ends: never destroyed.
struct Names {
  std::string Program, Plugin;
};
} // namespace

static std::atomic<Phase> Now = Phase::None;
static const Names *TheNames = nullptr;

/// Ends the process as it is: the loader's lock may be held, and destructors
/// are of no use.
[[noreturn]] static void die(const std::string &Text, int Code) {
  std::string Line = TheNames->Program + ": error: dtlto: plugin '" +
                     TheNames->Plugin + "': " + Text + "\n";
  [[maybe_unused]] ssize_t N = ::write(2, Line.data(), Line.size());
  Jobserver::giveBackAll();
  ::_exit(Code);
}

/// Whether standard output or error is a pipe that nobody reads.
static bool isOutputBroken() {
  pollfd Files[] = {{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  return ::poll(Files, 2, 0) > 0 &&
         (Files[0].revents | Files[1].revents) & POLLERR;
}

/// LLD ends by _exit() once it has begun with its LTO.
static void atExit(int Code) {
  std::string Text;
  switch (Now) {
  case Phase::None:
    return;
  case Phase::Loading:
    Text = "it called exit(" + std::to_string(Code) +
           ") while it was loaded; tell its vendor";
    break;
  case Phase::InUse:
    // So LLVM ends after a fatal error, which it has told.
    if (Code == 1)
      return;
    // And so at a SIGPIPE: when nobody reads what it prints, or a plugin writes
    // to a connection that the other side has closed.
    if (Code == EX_IOERR && isOutputBroken())
      return;
    Text = "exit(" + std::to_string(Code) +
           ") was called, most likely by it; the link has failed; tell its "
           "vendor";
    if (Code == EX_IOERR)
      Text +=
          " that LLVM calls it at a SIGPIPE, which send() with MSG_NOSIGNAL "
          "doesn't cause";
    break;
  }
  die(Text, Code ? Code : 1);
}

LoadGuard::LoadGuard(StringRef Program, StringRef Plugin,
                     std::chrono::seconds Limit)
    : Plugin(Plugin), InStackDump("loading plugin '%s'", this->Plugin.c_str()) {
  TheNames = new Names{Program.str(), Plugin.str()};
  Now = Phase::Loading;
#ifdef __GLIBC__
  ::on_exit([](int Code, void *) { atExit(Code); }, nullptr);
#else
  std::atexit([] { atExit(0); }); // not told the code
#endif
  Watch = std::thread([this, Limit] {
    std::unique_lock<std::mutex> Lock(Mutex);
    if (Changed.wait_for(Lock, Limit, [this] { return Loaded; }))
      return;
    std::string Text = "it has not been loaded within " +
                       std::to_string(Limit.count()) +
                       " s: its constructors hang; tell its vendor";
    die(Text, 1);
  });
}

LoadGuard::~LoadGuard() {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Loaded = true;
  }
  Changed.notify_all();
  Watch.join();
  Now = Phase::None;
}

/// A fatal error of LLVM's, told as LLVM does. It would call exit(), whose
/// destructors take away what other threads are working with.
static void fatalError(void *, const char *Reason, bool IsCrash) {
  std::string Line = "LLVM ERROR: " + std::string(Reason) + "\n";
  [[maybe_unused]] ssize_t N = ::write(2, Line.data(), Line.size());
  if (IsCrash)
    return;                    // to abort()
  sys::RunInterruptHandlers(); // removes temporary files
  Jobserver::giveBackAll();
  ::_exit(1);
}

void dtlto::guardAgainstExit() {
  if (TheNames && Now.exchange(Phase::InUse) != Phase::InUse)
    install_fatal_error_handler(fatalError);
}
