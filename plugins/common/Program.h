//===- Program.h - A program that runs jobs ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_PROGRAM_H
#define DTLTO_PLUGINS_PROGRAM_H

#include "JobFolder.h"
#include <chrono>
#include <functional>
#include <memory>
#include <poll.h>
#include <set>

namespace dtlto {

/// Returns the last component of a path.
inline std::string_view baseName(std::string_view Path) {
  return Path.substr(Path.rfind('/') + 1);
}

/// Makes \p Path absolute, unless it is just a name.
std::string absolutePath(const std::string &Path);

/// Returns the absolute path of \p Name, a path or a name in PATH; empty if
/// there is no such program.
std::string findProgram(const std::string &Name);

/// A process with its own group, without input. One thread.
class Program {
public:
  /// Starts \p Args[0], a path, in \p Folder, whose guard ends it if the linker
  /// is killed; or in our folder, without a guard, if \p Folder is null. \p Env
  /// has changes of our environment, as in Process::Setup. Throws sdk::Error.
  Program(JobFolder *Folder, const std::vector<std::string> &Args,
          const std::vector<std::string> &Env);

  /// Its standard output and error, for poll(); -1 after their end.
  int out() const { return Out.fd(); }
  int err() const { return Err.fd(); }
  /// Reads available output. Calls \p Line(line, whether from standard error).
  void listen(const std::function<void(std::string, bool)> &Line);

  /// Whether the program has ended. Then describeExit() is "ended with 1", for
  /// example, or empty if it succeeded.
  bool hasEnded();
  std::string describeExit() const;

  /// Sends SIGTERM, or on the second call SIGKILL, to the whole group.
  void end();

private:
  Process Child;
  Output Out, Err;
  std::string Rest[2]; // incomplete lines
  bool HasEnded = false, WasSignaled = false;
};

/// A program that runs a batch of jobs, and its output.
struct ProgramRun {
  using Clock = std::chrono::steady_clock;

  ProgramRun(JobFolder &Folder, const std::vector<std::string> &Args,
             const std::vector<std::string> &Env)
      : Child(&Folder, Args, Env) {}
  /// Records that one of its jobs has a result.
  void jobEnded(bool WasCancelled) {
    --NumPending;
    LastResult = Clock::now();
    HasCancelled |= WasCancelled;
  }

  Program Child;
  std::set<std::string> Outputs; // the files that it may write
  size_t NumPending = 0;         // jobs without a result
  std::string LastLine, LastError;
  std::string ErrorOutput;    // all error lines
  std::string UnloggedErrors; // those that haven't been logged
  size_t NumErrorLines = 0;
  bool HasCancelled = false;  // it has cancelled jobs
  bool WasAskedToEnd = false; // it was asked to end
  Clock::time_point LastProgress{}, LastResult{Clock::now()}, LastOutput{};
};

/// All programs of a session. One thread.
class ProgramRuns {
public:
  using List = std::vector<std::shared_ptr<ProgramRun>>;
  using Log = std::function<void(uint32_t Level, const std::string &Text)>;

  /// Removes \p Name and a colon from the beginning of logged lines. Error
  /// lines for which \p IsNoise returns true are logged for debugging only.
  ProgramRuns(std::string Name, Log TheLog,
              std::function<bool(const std::string &)> IsNoise)
      : Prefix(std::move(Name) + ": "), TheLog(std::move(TheLog)),
        IsNoise(std::move(IsNoise)) {}

  const List &all() const { return Runs; }
  /// Starts a program, like Program's constructor, for the jobs whose files are
  /// \p Outputs. Throws sdk::Error.
  std::shared_ptr<ProgramRun> start(JobFolder &Folder,
                                    const std::vector<std::string> &Args,
                                    const std::vector<std::string> &Env,
                                    std::set<std::string> Outputs);

  /// Waits at most 100 ms for the programs' output or for \p Fds.
  void wait(std::vector<pollfd> Fds) const;
  /// Reads and logs the output of \p R. Returns whether there was any.
  bool listen(ProgramRun &R);
  /// Removes and returns the programs that have ended.
  List takeEnded();
  /// Ends programs whose jobs all have results: asks them to end, and kills
  /// them later.
  void endIdle();
  /// Ends all programs. Their jobs must have results.
  void endAll();

private:
  void logNewErrors(ProgramRun &R);

  const std::string Prefix;
  const Log TheLog;
  const std::function<bool(const std::string &)> IsNoise;
  List Runs;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_PROGRAM_H
