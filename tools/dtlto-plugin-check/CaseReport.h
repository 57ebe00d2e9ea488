//===- CaseReport.h - Cases in processes of their own -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case runs in a process of its own, which writes its results to a file.
// The fields of a line are separated by tabs:
//
//   fail <section of PluginAPI.h> <what happened> <how to fix it>
//   note <what users should know of a case that passes>; several are joined
//   loading, loaded    before and after dlopen() of the plugin
//   end                the case has ended
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CASEREPORT_H
#define DTLTO_PLUGINCHECK_CASEREPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dtlto::check {

struct Failure {
  std::string Section; // of PluginAPI.h, e.g. "dtlto_host.job_done"
  std::string What;
  std::string Fix;
};

//===----------------------------------------------------------------------===//
// In the process of a case: any thread
//===----------------------------------------------------------------------===//

/// Sends reports to \p Fd from now on.
void openReport(int Fd);

/// Reports a failure; the case continues.
void fail(llvm::StringRef Section, const llvm::Twine &What,
          llvm::StringRef Fix);

/// Reports a failure unless \p Holds. Returns \p Holds.
bool expect(bool Holds, llvm::StringRef Section, const llvm::Twine &What,
            llvm::StringRef Fix);

/// Reports a failure and ends the process.
[[noreturn]] void failAndExit(llvm::StringRef Section, const llvm::Twine &What,
                              llvm::StringRef Fix);

/// From now on, reports an exit() in a forked child of this process.
void watchChildren();

/// From now on, a crash of this process reports to \p Fd which
/// loan (Rules/Loan.h) was touched, or else the signal.
void catchCrashes(int Fd);

/// The likely reason for a crash at a null pointer, which ends the sentence
/// "the plugin crashed with signal 11 at a null pointer; WHY"; or empty.
extern std::atomic<const char *> NullReason;

/// Reports in a few words what a passing case did not check, or what could be
/// better.
void note(const llvm::Twine &What);

/// Whether this process has reported a failure.
bool hasFailed();

/// Reports "loading", "loaded" or "end".
void reportStage(llvm::StringRef Stage);

/// \p Text with a space for each control character.
std::string oneLine(std::string Text);

//===----------------------------------------------------------------------===//
// In the process that runs the cases: one thread
//===----------------------------------------------------------------------===//

struct Report {
  std::vector<Failure> Failures; // none: the case has passed
  std::string Note;              // the first three, without repetitions
  bool IsLoading = false;        // the process ended during dlopen()
  bool HasEnded = false;
  // Set by runCase():
  std::string Errors; // what the case wrote to stderr
  double Seconds = 0;
};

/// Reads the report of a case, which may be any bytes. Keeps one failure for
/// each fix, and at most four.
Report readReport(llvm::StringRef Lines);

/// Makes a temporary folder for this process, which is removed when the process
/// ends, also by a signal. Returns an empty string on failure.
std::string makeTempFolder();
/// Removes the folder now, and restores the signal handlers.
void removeTempFolder();

/// Runs \p Case, which gets a descriptor for its report, in a child process,
/// for at most \p Limit. All processes that it starts end with it.
Report runCase(const std::function<void(int ReportFd)> &Case,
               std::chrono::milliseconds Limit);

/// Runs a program in \p Folder. Returns whether it exited with 0; \p Output
/// gets its output.
bool runProgram(const std::vector<std::string> &Args, const std::string &Folder,
                std::string &Output);

/// Returns the bytes of the file \p Path, or none if it can't be read.
std::string readFile(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CASEREPORT_H
