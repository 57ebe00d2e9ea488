//===- CallWatch.cpp - Calls that don't return, or take long --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

using namespace dtlto::check;
using namespace std::chrono_literals;

CallWatch::CallWatch(
    const Options &O,
    std::function<void(const std::string &, Milliseconds)> OnStuck)
    : O(O), OnStuck(std::move(OnStuck)), Thread([this] { watch(); }) {}

CallWatch::~CallWatch() {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Quit = true;
  }
  Changed.notify_all();
  Thread.join();
}

void CallWatch::begin(const char *Call) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Name = Call;
    Limit = Name == "close" ? O.closeLimit() : O.callLimit();
    Begin = Clock::now();
  }
  Changed.notify_all();
}

void CallWatch::end() {
  constexpr unsigned Enough = 8;
  constexpr Milliseconds TooLong = 250ms;
  std::lock_guard<std::mutex> Lock(Mutex);
  const std::string Call = std::exchange(Name, "");
  if (Call != "submit" && Call != "cancel" && Call != "load")
    return;
  // A call that takes its time now and then may be this machine's fault.
  Times &T = All[Call];
  T.Long += Clock::now() - Begin >= TooLong;
  if (++T.Calls < Enough || T.Long * 4 < T.Calls * 3)
    return;
  fail("dtlto_plugin." + Call,
       Call + "() took more than " + std::to_string(TooLong.count()) +
           " ms in " + std::to_string(T.Long) + " of " +
           std::to_string(T.Calls) + " calls",
       "all calls of a session share one thread, and the link waits for each: "
       "leave what takes time to a thread of the plugin");
  T = {};
}

void CallWatch::watch() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!Quit)
    if (Name.empty())
      Changed.wait(Lock);
    else if (Clock::now() < Begin + Limit)
      Changed.wait_until(Lock, Begin + Limit);
    else
      OnStuck(Name, Limit);
}
