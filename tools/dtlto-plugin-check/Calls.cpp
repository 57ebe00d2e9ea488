//===- Calls.cpp - Calls of the plugin that don't return, or take long ----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include <utility>

using namespace dtlto::check;
using namespace std::chrono_literals;
using Guard = std::lock_guard<std::mutex>;

std::string dtlto::check::seconds(Milliseconds D) {
  return std::to_string((D.count() + 999) / 1000) + " s";
}

void Session::beginCall(const char *Name) {
  {
    Guard Lock(Mutex);
    CallName = Name;
    CallLimit = CallName == "close" ? O.closeLimit() : O.callLimit();
    CallBegin = Clock::now();
  }
  Changed.notify_all();
}

void Session::endCall() {
  constexpr unsigned Enough = 8;
  constexpr Milliseconds TooLong = 250ms;
  Guard Lock(Mutex);
  const std::string Name = std::exchange(CallName, "");
  if (Name != "submit" && Name != "cancel" && Name != "load")
    return;
  // A call that takes its time now and then may be this machine's fault.
  auto &[All, Long] = NumAllAndLong[Name];
  Long += Clock::now() - CallBegin >= TooLong;
  if (++All < Enough || Long * 4 < All * 3)
    return;
  fail("dtlto_plugin." + Name,
       Name + "() took more than " + std::to_string(TooLong.count()) +
           " ms in " + std::to_string(Long) + " of " + std::to_string(All) +
           " calls",
       "all calls of a session share one thread, and the link waits for each: "
       "leave what takes time to a thread of the plugin");
  All = Long = 0;
}

void Session::watchCalls() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!Quit)
    if (CallName.empty())
      Changed.wait(Lock);
    else if (Clock::now() < CallBegin + CallLimit)
      Changed.wait_until(Lock, CallBegin + CallLimit);
    else
      stuck();
}

/// Reports that the plugin's function didn't return, and ends the process.
void Session::stuck() {
  const std::string What =
      CallName + "() had not returned after " + seconds(CallLimit);
  if (NumReleasing)
    failAndExit("dtlto_buffer",
                What + ", while job_done() waited for the release() of an "
                       "object that nobody needs any more",
                "hold no lock while you call job_done(): it may call release() "
                "on the same thread");
  if (Holding && CallName == "submit")
    failAndExit("dtlto_plugin.submit",
                What + ", while " + std::to_string(Jobs.size() - 1) +
                    " jobs before it had not ended: it waits for one of them",
                "never wait for another job in submit(): where there is no "
                "room, return DTLTO_BUSY, and call load_changed() later");
  if (CallName == "close")
    failAndExit("dtlto_plugin.close",
                What + (NumEnded == Jobs.size()
                            ? ""
                            : ", and jobs have no job_done() yet"),
                "stop jobs that run, join your threads, wait for nothing else");
  failAndExit("dtlto_plugin." + CallName, What,
              "leave what takes time to a thread of the plugin; hold no lock "
              "while you call the host");
}
