//===- JobFolder.h - A folder that jobs are run in --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a build system that takes jobs as files. The folder of a link is ours if
// it has the file `.dtlto-jobs`, which is only created in a new or empty
// folder. Users of the folder hold a lock on that file, so a folder without a
// lock is left over from a killed link. A running link holds a second lock, of
// its process. If only the first lock is held, a guard is removing the folder.
//
// A Guard, which also holds the first lock, removes the folder if the linker's
// process is killed.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_JOBFOLDER_H
#define DTLTO_PLUGINS_JOBFOLDER_H

#include "Guard.h"
#include "dtlto/sdk/ResultMemory.hpp"
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dtlto {

/// One thread. Failures throw sdk::Error, which names the file.
class JobFolder {
public:
  /// Opens the folder \p UserPath or, if that is empty, one next to \p Output
  /// whose name ends in \p Suffix. With \p Keep, the folder and its files
  /// outlive the link. Otherwise the constructor empties the folder.
  JobFolder(const std::string &UserPath, const std::string &Output,
            const std::string &Suffix, bool Keep);
  /// Removes the folder unless \p Keep was set. No program may be running.
  ~JobFolder();
  JobFolder(const JobFolder &) = delete;

  const std::string &path() const { return Path; } // absolute
  int fd() const { return Dir.get(); }

  /// Writes the file \p Name and its folders, unless it already has these
  /// bytes. Returns whether it was written.
  bool write(const std::string &Name, std::string_view Bytes);
  /// Reads the file. Returns false if that fails.
  bool read(const std::string &Name, std::string &Bytes) const;
  void remove(const std::string &Name) const;

  /// Reads an object into memory of \p Share. Returns false with one line in \p
  /// Why on failure.
  bool readObject(const std::string &Name, sdk::ResultMemory::Share &Share,
                  std::vector<char> &Object, std::string &Why) const;

  /// The guard of the programs that run in the folder.
  Guard &guard() { return *TheGuard; }

private:
  enum class Claim { Success, InUse, BeingRemoved };
  Claim claim(const std::string &P, bool MayBeKept);
  void clear() const;
  Descriptor open(const std::string &Name, uint64_t &Size) const;

  std::string Path;
  bool Keep;
  enum { New, Empty, Used } Existing = Used; // what was at Path
  Descriptor Dir, Lock;
  std::unique_ptr<Guard> TheGuard;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_JOBFOLDER_H
