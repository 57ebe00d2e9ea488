//===- PlayParts.h - What the files of Play share ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_PLAYPARTS_H
#define DTLTO_PLUGINCHECK_PLAYPARTS_H

#include "Play.h"
#include <cstring>

namespace dtlto::check {

inline std::string seconds(std::chrono::milliseconds D) {
  return std::to_string((D.count() + 999) / 1000) + " s";
}

inline std::string jobName(uint64_t Id) { return "job " + std::to_string(Id); }

/// A job that the plugin was offered.
struct Play::Record {
  explicit Record(uint64_t Id)
      : Id(Id),
        Lent("the dtlto_job (or what it points at) of job " +
                 std::to_string(Id),
             "a job is yours to read until its job_done(), or until submit() "
             "has refused it: copy what you need for longer, its id too") {}
  const uint64_t Id;
  const Sample *S = nullptr;
  const dtlto_job *Raw = nullptr; // in `Lent`
  Loan Lent;
  Ended E;
  bool InSubmit = true, Refused = false, Cancelled = false;
  bool HasBundle = false;
  const void *MadeHere = nullptr; // the object of the last run()
  dtlto_buffer Object = {};
};

/// Memory of the host that the plugin has become the owner of.
struct Play::HostBuffer {
  std::string What, Bytes;
  std::vector<dtlto_bundle_span> Spans;
  std::atomic<int> Releases{0};
  void release();
};

/// Calls the plugin's function \p Name: `Fn`.
template <typename F> auto Play::call(const char *Name, F Fn) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    CallName = Name;
    CallLimit =
        Clock::now() +
        (std::strcmp(Name, "close") == 0 ? W.closeLimit() : W.callLimit());
  }
  Changed.notify_all();
  struct Reset {
    Play &S;
    Clock::time_point Begin;
    ~Reset() {
      std::lock_guard<std::mutex> Lock(S.Mutex);
      S.addTime(S.CallName, Clock::now() - Begin);
      S.CallName = nullptr;
    }
  } R{*this, Clock::now()};
  return Fn();
}

/// Waits for \p Done, and answers what callbacks ask the link thread for.
template <typename F>
bool Play::wait(std::unique_lock<std::mutex> &Lock, Clock::time_point End,
                F Done) {
  while (!Done()) {
    if (LoadAnswered != LoadWanted) {
      uint64_t Answering = LoadWanted;
      Lock.unlock();
      load();
      Lock.lock();
      LoadAnswered = Answering;
      Changed.notify_all();
      continue;
    }
    if (Changed.wait_until(Lock, End) == std::cv_status::timeout && !Done())
      return false;
  }
  return true;
}

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_PLAYPARTS_H
