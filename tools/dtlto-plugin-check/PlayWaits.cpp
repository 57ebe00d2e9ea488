//===- PlayWaits.cpp - Waiting for results, and looking at them -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Play.h"
#include "PlayParts.h"
#include <algorithm>

using namespace dtlto::check;
using namespace std::chrono_literals;

void Play::waitForAll() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Each job that ends shows that the others may.
  uint64_t Before;
  do {
    Before = NumEnded;
    wait(Lock, Clock::now() + W.jobLimit(),
         [&] { return NumEnded != Before || NumEnded == Jobs.size(); });
    if (NumEnded == Jobs.size())
      return;
  } while (NumEnded != Before);
  for (auto &Job : Jobs)
    if (!Job.second->Refused && !Job.second->E.Done)
      failAndExit(
          "dtlto_host.job_done",
          jobName(Job.first) +
              " was accepted and had no job_done() "
              "within " +
              seconds(W.jobLimit()),
          "each accepted job has exactly one job_done(), cancelled ones "
          "included (--timeout=S, if yours take that long)");
}

void Play::waitFor(uint64_t Id) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!wait(Lock, Clock::now() + W.jobLimit(),
            [&] { return Id ? Jobs[Id]->E.Done : NumEnded != 0; }))
    failAndExit("dtlto_host.job_done",
                "an accepted job had no job_done() within " +
                    seconds(W.jobLimit()),
                "each accepted job has exactly one job_done(), cancelled ones "
                "included (--timeout=S, if yours take that long)");
}

void Play::waitForSign() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Plugins needn't report states.
  wait(Lock,
       Clock::now() + std::min<std::chrono::milliseconds>(2s, W.jobLimit()),
       [&] { return NumSigns != 0; });
}

bool Play::waitForRoom(uint64_t Before) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  auto Room = [&] { return RoomCount != Before; };
  if (!wait(Lock, Clock::now() + W.jobLimit(),
            [&] { return Room() || NumEnded == Jobs.size(); }))
    return false;
  // The news of the last job's room may follow its end.
  return wait(Lock, Clock::now() + W.callLimit(), Room);
}

uint64_t Play::roomCount() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return RoomCount;
}

void Play::holdResults(bool Hold) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Holding = Hold;
  }
  Changed.notify_all();
}

Ended Play::result(uint64_t Id) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto I = Jobs.find(Id);
  return I == Jobs.end() ? Ended() : I->second->E;
}

size_t Play::numAccepted() { return accepted().size(); }

std::vector<uint64_t> Play::accepted() {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<uint64_t> Ids;
  for (auto &Job : Jobs)
    if (Job.second->E.Accepted)
      Ids.push_back(Job.first);
  return Ids;
}

std::string Play::openErrors() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return OpenErrors;
}

bool Play::hasGivenUp() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return GaveUp;
}

void Play::expectObject(uint64_t Id, const Sample &S) {
  Ended E = result(Id);
  std::string Job = "the job of '" + S.Name + "'";
  if (Id == 0 || !E.Accepted)
    fail("dtlto_plugin.submit", "submit() refused " + Job,
         "take each job that a worker can run, or say DTLTO_BUSY");
  else if (!E.Done)
    fail("dtlto_host.job_done", Job + " has no job_done()",
         "each accepted job has exactly one");
  else if (E.Status != DTLTO_OK)
    fail("dtlto_result.status",
         Job + " ended with " + std::to_string(E.Status) + ": " +
             (E.Message.empty() ? "(no message)" : E.Message),
         "this job compiles without an error in the linker; see the message");
  else if (E.Made != S.Object) {
    size_t At = 0;
    while (At < E.Made.size() && At < S.Object.size() &&
           E.Made[At] == S.Object[At])
      ++At;
    fail(
        "dtlto_result.object",
        Job + " made " + std::to_string(E.Made.size()) +
            " bytes, the linker itself " + std::to_string(S.Object.size()) +
            "; the first difference is at " + std::to_string(At),
        "run exactly the job's command line, with exactly params.llvm_version, "
        "on exactly its inputs under their paths, and return all of `output`");
  } else if (hasGivenUp()) {
    fail("DTLTO_LOG_ERROR",
         "the plugin has said that it can't go on, and " + Job +
             " had its object all the same",
         "log(DTLTO_LOG_ERROR) ends the session; what is wrong with one job "
         "belongs in its job_done()");
  }
}
