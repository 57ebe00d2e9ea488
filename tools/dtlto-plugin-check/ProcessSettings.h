//===- ProcessSettings.h - What is the process's ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker writes its output by the working folder and the umask, to
// descriptors that it has, and ends as signals want it to.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_PROCESSSETTINGS_H
#define DTLTO_PLUGINCHECK_PROCESSSETTINGS_H

#include <string>
#include <vector>

namespace dtlto::check {

class ProcessSettings {
public:
  /// As they are now. Calls umask(), which all threads have one of.
  static ProcessSettings now();
  /// What is another thing in \p Later, such as "the umask"; empty: nothing.
  std::string differenceTo(const ProcessSettings &Later) const;

private:
  std::string Folder;
  unsigned Mask = 0;
  std::vector<std::string> Descriptors; // which files 0, 1 and 2 are
  std::vector<std::string> Handlers;    // by signal
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_PROCESSSETTINGS_H
