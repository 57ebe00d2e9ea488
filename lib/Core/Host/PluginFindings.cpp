//===- PluginFindings.cpp - What the check of a plugin finds --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginFindings.h"
#include "Support/CrashReport.h"
#include "Support/Text.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// The linker abandons a call only after a longer time, except for open(): a
// link may end meanwhile.
static constexpr std::chrono::nanoseconds MaxCall = 250ms, MaxOpenCall = 60s;

void PluginFindings::add(StringRef Section, const Twine &What, StringRef Fix) {
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!Fixes.insert(Fix.str()).second)
    return;
  Pending.push_back({AreErrors ? MessageLevel::Error : MessageLevel::Warning,
                     sanitizedLine(("plugin '" + Twine(Plugin.name) + "': " +
                                    What + " (" + Section + ": " + Fix + ")")
                                       .str())});
  showPending(std::move(Lock));
}

void PluginFindings::note(const Twine &What, MessageLevel Level) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Pending.push_back(
      {Level, ("plugin '" + Twine(Plugin.name) + "': " + What).str()});
  showPending(std::move(Lock));
}

void PluginFindings::showPending(std::unique_lock<std::mutex> Lock) {
  Messages *To = Msg;
  if (!To)
    return;
  const auto New = std::exchange(Pending, {});
  Lock.unlock();
  for (const auto &[Level, Text] : New)
    To->emit(Level, Text);
}

void PluginFindings::addMisuses() {
  while (true) {
    std::unique_lock<std::mutex> Lock(Mutex);
    std::optional<RecordedMisuse> R = takeMisuse();
    Lock.unlock();
    if (!R)
      return;
    add("Memory", R->What, R->Fix);
  }
}

void PluginFindings::checkAbortHandler() {
  if (limitAbortHandler())
    add("The process", "it has installed a handler of SIGABRT",
        "leave the linker's: only that one is sure to end a crash in seconds");
}

void PluginFindings::show(Messages &To) {
  addMisuses();
  std::unique_lock<std::mutex> Lock(Mutex);
  Msg = &To;
  showPending(std::move(Lock));
}

unsigned PluginFindings::count() {
  addMisuses();
  std::unique_lock<std::mutex> Lock(Mutex);
  const auto Running = Calls;
  Lock.unlock();
  for (auto [Begin, Name] : Running) {
    const auto Time = std::chrono::steady_clock::now() - Begin;
    if (Time > (StringRef(Name) == "open" ? MaxOpenCall : MaxCall))
      Rules(Plugin, reporter())
          .hung(Name, std::chrono::round<std::chrono::seconds>(Time));
  }
  Lock.lock();
  return Fixes.size();
}

void PluginFindings::end() {
  const unsigned N = count();
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Msg)
    return; // the plugin was not called
  Msg->note("plugin '" + Twine(Plugin.name) + "': " + Twine(N) +
            (N == 1 ? " finding" : " findings") + " in " + Twine(NumJobs) +
            (NumJobs == 1 ? " job" : " jobs") +
            " (--thinlto-dist-check-plugin)");
  Msg = nullptr;
}
