//===- CaseReport.h - What a case found -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case runs in a process of its own, and tells what it found in lines on a
// pipe, with tabs between the parts: `fail`, then which part of PluginAPI.h
// promises it, what happened, and how to mend it; or `note`, and what people
// should know of a case that passes. Without such a line, and with
// the line `end`, the case has passed. Between `loading` and `loaded`, it is
// the system that calls the plugin.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CASEREPORT_H
#define DTLTO_PLUGINCHECK_CASEREPORT_H

#include <string>
#include <vector>

namespace dtlto::check {

struct Failure {
  std::string Section; // of PluginAPI.h, e.g. "dtlto_host.job_done"
  std::string What;
  std::string Mend;
};

/// Sends reports to \p Fd from now on. The process of a case only.
void openReport(int Fd);

/// Reports a failure; the case goes on. Any thread.
void fail(const std::string &Section, const std::string &What,
          const std::string &Mend);

/// Reports a failure and ends the process.
[[noreturn]] void failAndExit(const std::string &Section,
                              const std::string &What, const std::string &Mend);

/// From now on, reports an exit() in a child that was forked from this process.
void watchChildren();

/// Reports what a case that passes says nothing of, in a few words.
void note(const std::string &What);

/// Whether this process has reported a failure.
bool hasFailed();

/// Reports that the plugin is about to be loaded ("loading"), that it was
/// ("loaded"), or that the case came to its "end".
void reportStage(const std::string &Stage);

/// \p Text with a space for each control character.
std::string oneLine(std::string Text);

/// What the other end of the pipe read.
struct Report {
  std::vector<Failure> Failures; // each kind once, at most four
  std::string Note;              // the last one
  bool Loading = false;          // it ended while the plugin was loaded
  bool Ended = false;
};
Report readReport(const std::string &Lines);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CASEREPORT_H
