//===- Rules.h - The rules of the ABI that can be checked -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dtlto-plugin-check and a link with --thinlto-dist-check-plugin check of
// a plugin's calls and values, with the sentences that both show.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RULES_RULES_H
#define DTLTO_RULES_RULES_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dtlto {

/// Whether \p Struct isn't null and has \p Field: a plugin built with another
/// minor version may have made it.
template <typename S, typename T> bool hasField(const S *Struct, T S::*Field) {
  return Struct &&
         reinterpret_cast<const char *>(&(Struct->*Field)) + sizeof(T) <=
             reinterpret_cast<const char *>(Struct) + Struct->size;
}

inline bool isError(int32_t Status) {
  return Status >= DTLTO_ERROR_CALLER && Status <= DTLTO_ERROR_COMPILER;
}

/// Returns the constant's name, or the number if there is none.
std::string statusName(int32_t Status);

/// How to fix an access to memory after its loan (Loan.h).
constexpr char FixOfHost[] =
    "close() is a barrier: it waits until no thread of yours can call the host "
    "any more; join them, or count their calls";
constexpr char FixOfParams[] = "copy in open() what you need of them later";
constexpr char FixOfJob[] =
    "read a job only until its job_done(), or until submit() has refused it: "
    "copy what you need for longer, including its id";
constexpr char FixOfThreads[] = "close() waits for all threads of the session";
/// The rule that a plugin with these \p Needs may have forgotten if it follows
/// a null pointer; or "".
const char *nullHint(uint32_t Needs);

/// What could be better in a session that follows the rules.
constexpr char NamelessResult[] =
    "a result names no worker: users need it when an object is wrong";
inline bool isNameless(const dtlto_result &Result) {
  return Result.status == DTLTO_OK && (!Result.worker || !*Result.worker);
}

/// The rules for one session. Thread-safe. Functions with a bool get a fact, or
/// return whether the rule holds. A \c Job is its description, "job 3".
class Rules {
public:
  /// Gets the section of PluginAPI.h, what happened, and how to fix it.
  using Reporter = std::function<void(
      llvm::StringRef Section, const llvm::Twine &What, llvm::StringRef Fix)>;

  /// An average is one of \p EnoughCalls at least.
  Rules(const dtlto_plugin &Plugin, Reporter Report, unsigned EnoughCalls = 8)
      : Plugin(Plugin), Report(std::move(Report)), EnoughCalls(EnoughCalls) {}

  /// Reports a broken rule unless \p Holds. Returns \p Holds.
  bool expect(bool Holds, llvm::StringRef Section, const llvm::Twine &What,
              llvm::StringRef Fix) const {
    if (!Holds)
      Report(Section, What, Fix);
    return Holds;
  }

  /// \p Who gave the host \p Text: one line without the plugin's name.
  void text(llvm::StringRef Section, const llvm::Twine &Who,
            llvm::StringRef Text) const;

  // Functions of the host
  bool isInTime(bool IsOpen, llvm::StringRef Function) const;
  void log(uint32_t Level, const char *Message) const;
  void state(bool IsKnown, const llvm::Twine &Job) const;
  void number(const char *Name) const;
  void numberOfJob(bool IsKnown, const llvm::Twine &Job) const;
  bool isDue(bool IsKnown, bool IsFirst, const llvm::Twine &Job) const;
  void notInSubmit(bool IsInSubmit) const;
  bool hasSize(const dtlto_result *Result, const llvm::Twine &Job) const;
  /// \p MayBeEmpty: the host's own code generation made no object.
  void result(const dtlto_result &Result, const llvm::Twine &Job,
              bool MayBeCancelled, bool MayBeEmpty = false) const;
  bool checksRunningJob(bool IsRunning, const llvm::Twine &Job) const;
  bool runsRunningJob(bool IsRunning, const llvm::Twine &Job) const;
  void bundleSize(uint32_t Size) const;
  void entersOutside(bool IsInCall) const;
  bool entersOnce(bool IsRunning, const llvm::Twine &Job) const;
  void releasedOnce(unsigned NumReleases, const llvm::Twine &What) const;
  void isReleased(unsigned NumReleases, const llvm::Twine &What) const;

  // Functions of the plugin
  /// \p Name got a struct \p Type to fill in, and may have changed its size.
  void keptSize(uint32_t Before, uint32_t After, llvm::StringRef Name,
                llvm::StringRef Type) const;
  void config(const dtlto_session_config &Config) const;
  bool opened(const dtlto_session *Session) const;
  void openFailed(int32_t Status, llvm::StringRef Errors) const;
  void submitReturned(int32_t Status, bool IsDone) const;
  /// \p NumAccepted jobs of the session were ever accepted.
  void load(int32_t Status, const dtlto_load &Load, uint64_t NumAccepted) const;
  void hasEnded(bool IsDone, const llvm::Twine &Job) const;
  void reportsRoom(bool HasReported, uint64_t NumAccepted) const;
  void threadsEnded(bool HaveEnded, const llvm::Twine &What) const;

  /// The function \p Name was called, which waits for nothing. False if most
  /// such calls take too long.
  bool tookTime(llvm::StringRef Name, std::chrono::nanoseconds Time);
  /// The function \p Name has not returned after \p Time.
  void hung(llvm::StringRef Name, std::chrono::nanoseconds Time,
            const llvm::Twine &Detail = "") const;
  /// Returns a sentence for each function whose calls are slow on average. A
  /// busy machine may be slow, so this isn't a failure.
  std::vector<std::string> slowCalls() const;
  /// Returns a sentence for each function: how long its calls took.
  std::vector<std::string> callTimes() const;

private:
  struct CallTimes {
    unsigned NumCalls = 0, NumLong = 0;
    std::chrono::nanoseconds Sum{0}, Longest{0};
  };

  const dtlto_plugin &Plugin;
  const Reporter Report;
  const unsigned EnoughCalls;
  mutable std::mutex Mutex;
  std::map<std::string, CallTimes> Times; // by function; guarded by Mutex
};

} // namespace dtlto

#endif // DTLTO_RULES_RULES_H
