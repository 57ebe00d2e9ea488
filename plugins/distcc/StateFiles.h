//===- StateFiles.h - What distccmon-text and others show -------*- C++ -*-===//
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
//   void *        nothing, in a file
//
// A monitor drops (and deletes) what is older than a minute or whose pid is
// gone; so the file of a long job has to be written again.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_STATEFILES_H
#define DTLTO_DISTCC_STATEFILES_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace dtlto::distcc {

enum class Phase {
  Blocked = 1,
  Connect = 2,
  Send = 4,
  Compile = 5,
  Receive = 6
};

/// The state file of one running job. All failures are silent: a monitor is no
/// reason to fail a link. One thread.
class StateFile {
public:
  StateFile() = default;
  StateFile(StateFile &&) noexcept;
  StateFile &operator=(StateFile &&) noexcept;
  ~StateFile(); // removes the file

  /// \p Dir is made if it isn't there; empty: no file. \p Unique is a number
  /// that no other running job of the process has.
  void open(const std::string &Dir, unsigned Unique, const std::string &Module,
            const std::string &Host, int Slot);
  /// Writes the file.
  void note(Phase P);
  /// Writes the file again, that it doesn't grow old.
  void refresh();
  void remove();

private:
  std::string Path; // empty: none
  std::string Module, Host;
  int Slot = 0;
  Phase Last = Phase::Blocked;
};

/// The state files of all running jobs, by the jobs' ids. A thread of its own
/// writes them, since a folder on a file server that is gone lets nobody
/// return: no other waits for it. One thread calls.
class StateFiles {
public:
  explicit StateFiles(std::string Dir) : Dir(std::move(Dir)) {}
  /// Waits for what is left to do, but not for long: a thread that hangs is
  /// left behind, with all that it uses.
  ~StateFiles();
  StateFiles(const StateFiles &) = delete;

  void open(uint64_t Job, const std::string &Module, const std::string &Host,
            int Slot);
  void note(uint64_t Job, Phase P);
  void refresh(uint64_t Job);
  void remove(uint64_t Job);

private:
  struct Shared; // with the thread

  void begin();
  void post(std::function<void(std::map<uint64_t, StateFile> &)> Work);

  const std::string Dir;
  unsigned LastFile = 0;
  std::shared_ptr<Shared> S; // null: no job has run
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_STATEFILES_H
