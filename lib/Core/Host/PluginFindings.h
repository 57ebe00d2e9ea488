//===- PluginFindings.h - What the check of a plugin finds ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For PluginCheck.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINFINDINGS_H
#define DTLTO_HOST_PLUGINFINDINGS_H

#include "Host/PluginThreads.h"
#include "Rules/Rules.h"
#include "Support/Messages.h"
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dtlto {

/// The findings of all sessions, each rule once. Never destroyed: threads of
/// the plugin may run until the process ends. Thread-safe.
class PluginFindings {
public:
  PluginFindings(const dtlto_plugin &Plugin, bool AreErrors)
      : Plugin(Plugin), AreErrors(AreErrors) {}

  void add(llvm::StringRef Section, const llvm::Twine &What,
           llvm::StringRef Fix);
  /// A note that is no finding.
  void note(const llvm::Twine &What, MessageLevel Level = MessageLevel::Note);
  Rules::Reporter reporter() {
    return [this](llvm::StringRef Section, const llvm::Twine &What,
                  llvm::StringRef Fix) { add(Section, What, Fix); };
  }
  /// Adds what takeMisuse() has.
  void addMisuses();

  /// Adds that the plugin has installed a handler of SIGABRT, if so.
  void checkAbortHandler();

  /// Calls the plugin's function \p Name by \p Fn.
  template <typename F> auto call(const char *Name, F Fn) {
    struct Scope {
      Scope(PluginFindings &P, const char *Name) : Findings(P) {
        std::lock_guard<std::mutex> Lock(P.Mutex);
        Call = P.Calls.insert({std::chrono::steady_clock::now(), Name});
      }
      ~Scope() {
        std::unique_lock<std::mutex> Lock(Findings.Mutex);
        Findings.Calls.erase(Call);
        Lock.unlock();
        Findings.addMisuses();
        Findings.checkAbortHandler();
      }
      PluginFindings &Findings;
      decltype(Calls)::iterator Call;
      const ThreadName Name{ThreadName::Plugin};
    } TheScope(*this, Name);
    return Fn();
  }

  /// Shows them by \p To, from now on at once.
  void show(Messages &To);
  /// Returns the number of findings, which include calls that haven't returned.
  unsigned count();
  /// Shows the number. Afterwards, shows no more.
  void end();

  const dtlto_plugin &Plugin;
  const bool AreErrors;
  std::atomic<unsigned> NumJobs{0}; // that the plugin has accepted

private:
  /// Releases the mutex: some linkers exit after an error.
  void showPending(std::unique_lock<std::mutex> Lock);

  std::mutex Mutex; // guards the members below
  Messages *Msg = nullptr;
  std::set<std::string> Fixes; // of the broken rules
  std::vector<std::pair<MessageLevel, std::string>> Pending;
  // Those that haven't returned.
  std::multimap<std::chrono::steady_clock::time_point, const char *> Calls;
};

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINFINDINGS_H
