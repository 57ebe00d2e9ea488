//===- StateFiles.h - Shows jobs in distcc's monitors -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// distcc's monitors look into $DISTCC_DIR/state for files whose names begin
// with "binstate_", one for each job. A file is one struct in the machine's own
// layout (dcc_task_state in distcc's state.h):
//
//   size_t        size of the struct
//   unsigned long magic, 0x44494800
//   unsigned long pid of the client
//   char[128]     source file
//   char[128]     host
//   int           slot of the host
//   int           phase: 0 startup, 1 blocked, 2 connect, 3 preprocess,
//                 4 send, 5 compile, 6 receive, 7 done
//   void *        unused in a file
//
// A monitor ignores (and deletes) a file that is older than a minute or whose
// pid is gone, so the file of a long job must be rewritten.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_STATEFILES_H
#define DTLTO_DISTCC_STATEFILES_H

#include "FileThread.h"
#include <cstdint>
#include <map>
#include <string>

namespace dtlto::distcc {

enum class Phase {
  Blocked = 1,
  Connect = 2,
  Send = 4,
  Compile = 5,
  Receive = 6
};

/// The state files of all running jobs. Failures are ignored. One thread.
class StateFiles {
public:
  /// \p Dir is created for the first job. If it is empty, no files are written.
  explicit StateFiles(std::string Dir) : Dir(std::move(Dir)) {}
  /// Removes the files. Waits only briefly: a thread that hangs is abandoned.
  ~StateFiles();
  StateFiles(const StateFiles &) = delete;

  /// From now on, shows that \p Job compiles \p Module in a slot of \p Host.
  void open(uint64_t Job, const std::string &Module, const std::string &Host,
            int Slot);
  /// Writes the file of \p Job, for the first time or again.
  void writePhase(uint64_t Job, Phase P);
  void remove(uint64_t Job);
  /// Returns once the thread has finished its work, or after \p Limit.
  void wait(std::chrono::milliseconds Limit);

private:
  struct File {
    std::string Path, Contents;
  };

  const std::string Dir;
  unsigned LastFile = 0;
  std::map<uint64_t, File> Files;        // by job
  std::unique_ptr<FileThread> TheThread; // null: no job has run
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_STATEFILES_H
