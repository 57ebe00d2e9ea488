//===- FolderSettings.h - What the user sets of a program -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_FOLDERSETTINGS_H
#define DTLTO_PLUGINS_FOLDERSETTINGS_H

#include "Arguments.h"
#include "dtlto/sdk/Result.hpp"

namespace dtlto {

/// How a FolderSession runs jobs.
struct FolderSettings {
  std::string Program;  // a path, or a name in PATH
  std::string Compiler; // what the jobs' command lines begin with: likewise
  std::vector<std::string> CompilerFirst, CompilerLast; // further words of them
  std::string Folder;                                   // empty: by the output
  bool Keep = false;
  uint32_t Batch = UINT32_MAX; // jobs that a program gets at most
  uint32_t Programs = 1;       // that run at the same time
  bool Fresh = true;           // no object of an earlier link counts
  bool KeepsWords = false;     // FolderJob::words() are written

  bool isWorker() const; // the compiler is dtlto-codegen
};

/// The arguments that all such plugins have, after \p Own.
ArgumentTable folderArguments(FolderSettings &S, ArgumentTable Own);

/// Takes over the arguments, and fills in what wasn't given. Throws sdk::Error,
/// with \p Expected, for one that is wrong.
void readArguments(const dtlto_session_params &Params,
                   const ArgumentTable &Known, const std::string &Expected,
                   FolderSettings &S);

/// The last part of a path.
inline std::string_view baseName(std::string_view Path) {
  return Path.substr(Path.rfind('/') + 1);
}

/// \p Path from the working folder, if it is relative and not just a name.
std::string absolutePath(const std::string &Path);

} // namespace dtlto

#endif // DTLTO_PLUGINS_FOLDERSETTINGS_H
