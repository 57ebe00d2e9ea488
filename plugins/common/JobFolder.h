//===- JobFolder.h - A folder that jobs are run in --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a build system that takes jobs as files. The folder of a link is ours if
// it has the file `.dtlto-jobs`, which is only made in a folder that is new or
// empty. Users of the folder hold a lock of that file, so a folder without a
// lock is left over from a killed link. A link that runs holds a second lock,
// of its process. With the first lock alone, a guard is removing the folder.
//
// A Guard removes the folder if the linker's process is killed. It has the lock
// as well.
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
  /// The folder \p Given or, if that is empty, one next to \p Output whose name
  /// ends in \p Suffix. With \p Keep it stays when the link is over, with all
  /// that is in it; otherwise it is empty now.
  JobFolder(const std::string &Given, const std::string &Output,
            const std::string &Suffix, bool Keep);
  /// Removes it, unless it is to be kept. No program may be running.
  ~JobFolder();
  JobFolder(const JobFolder &) = delete;

  const std::string &path() const { return Path; } // absolute
  int fd() const { return Dir.get(); }

  /// Writes the file \p Name with its folders, unless it has these bytes
  /// already. Returns whether it was written.
  bool write(const std::string &Name, std::string_view Bytes);
  /// Reads the file. Returns false if that fails.
  bool read(const std::string &Name, std::string &Bytes) const;
  void remove(const std::string &Name) const;

  /// Reads an object, with memory of \p Share. Returns false with \p Why, one
  /// line.
  bool readObject(const std::string &Name, sdk::ResultMemory::Share &Share,
                  std::vector<char> &Object, std::string &Why) const;

  /// For programs that run in it.
  Guard &guard() { return *TheGuard; }

private:
  enum class Claim { Ours, InUse, Ending, Kept };
  Claim claim(const std::string &P, bool MayBeKept);
  void clear() const;
  Descriptor open(const std::string &Name, uint64_t &Size) const;

  std::string Path;
  bool Keep;
  enum { New, Empty, Used } Found = Used; // what was at Path
  Descriptor Dir, Lock;
  std::unique_ptr<Guard> TheGuard;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_JOBFOLDER_H
