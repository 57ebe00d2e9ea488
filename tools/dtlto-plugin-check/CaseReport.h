//===- CaseReport.h - Cases in processes of their own -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case runs in a process of its own, which writes what it finds to a file.
// A line has its parts between tabs:
//
//   fail <section of PluginAPI.h> <what happened> <how to mend it>
//   note <what users should know of a case that passes>
//   loading, loaded    before and after dlopen() of the plugin
//   end                the case has ended
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CASEREPORT_H
#define DTLTO_PLUGINCHECK_CASEREPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dtlto::check {

struct Failure {
  std::string Section; // of PluginAPI.h, e.g. "dtlto_host.job_done"
  std::string What;
  std::string Mend;
};

//===----------------------------------------------------------------------===//
// In the process of a case: any thread
//===----------------------------------------------------------------------===//

/// Sends reports to \p Fd from now on.
void openReport(int Fd);

/// Reports a failure; the case goes on.
void fail(llvm::StringRef Section, const llvm::Twine &What,
          llvm::StringRef Mend);

/// Reports a failure unless \p Holds, which it returns.
bool expect(bool Holds, llvm::StringRef Section, const llvm::Twine &What,
            llvm::StringRef Mend);

/// Reports a failure and ends the process.
[[noreturn]] void failAndExit(llvm::StringRef Section, const llvm::Twine &What,
                              llvm::StringRef Mend);

/// From now on, reports an exit() in a child that was forked from this process.
void watchChildren();

/// Reports in a few words what a case that passes did not check.
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
  std::string Note;              // the last one
  bool Loading = false;          // the process ended during dlopen()
  bool Ended = false;
  // From runCase():
  std::string Errors; // what the case wrote to stderr
  double Seconds = 0;
};

/// Reads what a case has written, which may be any bytes. Of failures that are
/// mended in the same way it has one, and four in all.
Report readReport(llvm::StringRef Lines);

/// Makes this process's temporary folder, which is removed when it ends, also
/// by a signal. Returns an empty string if it can't be made.
std::string makeOwnFolder();
/// Removes the folder now; signals do what they did before.
void removeOwnFolder();

/// Runs \p Case, which gets a descriptor for its report, in a process of its
/// own, for at most \p Limit. All processes that it starts end with it.
Report runCase(const std::function<void(int ReportFd)> &Case,
               std::chrono::milliseconds Limit);

/// Runs a program in \p Folder. Returns whether it exited with 0; \p Output
/// gets what it wrote.
bool runProgram(const std::vector<std::string> &Args, const std::string &Folder,
                std::string &Output);

/// The bytes of the file \p Path; none if it can't be read.
std::string readFile(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CASEREPORT_H
