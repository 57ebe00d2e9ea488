//===- ClientRepair.cpp - Wrong results in the action cache ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Text.h"

using namespace dtlto::reapi;
using dtlto::quote;

// How long the end of a link waits for wrong results to be replaced.
static constexpr std::chrono::milliseconds MaxRepair{4000};

void Client::refuted(uint64_t Job, const std::string &Worker, int32_t Status) {
  // Failures are not taken from the action cache.
  Record.refute(Job, Status == DTLTO_OK && S.CacheUse == Results::Write);
  log(DTLTO_LOG_WARNING, "a result of " +
                             (Worker.empty() ? "the server" : quote(Worker)) +
                             " was wrong");
}

/// The API can't remove a result. Stores a failure in its place: clients ignore
/// failures, and the next execution of the action replaces it.
Fault Client::repair(const BlobName &Action, Stop &Ending) {
  if (Features.TakesResults) {
    re::ActionResult R;
    R.set_exit_code(1);
    R.set_stderr_raw("dtlto: the result was wrong\n");
    if (!putResult(TheServer, Ending, Features.Digest, Action, R))
      return {};
  }
  // Execute the action again. Its blobs may still be there.
  ExecuteOptions O;
  O.Action = Action;
  O.SkipCache = true;
  O.OnState = [](uint32_t, const std::string &, bool) {};
  return reapi::execute(TheServer, Ending, Features.Digest, O).Failed;
}

void Client::repairCache() {
  bool HasEnded;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    HasEnded = !EndReason.empty();
  }
  const std::map<std::string, BlobName> All = Record.takeRepairs();
  if (HasEnded || All.empty())
    return;
  size_t NumGood = 0;
  Fault Last;
  runWithin(MaxRepair, [&](Stop &Ending) {
    for (const auto &[Hash, Name] : All)
      if (Ending.raised())
        break;
      else if (Fault F = repair(Name, Ending))
        Last = std::move(F);
      else
        ++NumGood;
  });
  std::string Of = std::to_string(All.size()) +
                   (All.size() == 1 ? " wrong result" : " wrong results");
  if (NumGood == All.size())
    return log(DTLTO_LOG_NOTE,
               "action cache " + S.Cache.name() + ": replaced " + Of);
  log(DTLTO_LOG_WARNING,
      "action cache " + S.Cache.name() + ": could not replace " +
          std::to_string(All.size() - NumGood) + " of " + Of +
          (Last ? " (" + Last.Text + ")" : "") +
          "; link with results=off, or have them removed from the server");
}
