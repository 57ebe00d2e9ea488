//===- StateFiles.cpp - What distccmon-text and others show ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateFiles.h"
#include "System.h"
#include "dtlto/sdk/Detached.hpp"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace dtlto::distcc {

namespace {

/// The contents of a file, see the header.
struct TaskState {
  size_t StructSize;
  unsigned long Magic;
  unsigned long Pid;
  char File[128];
  char Host[128];
  int Slot;
  int Phase;
  void *Next;
};
static_assert(sizeof(void *) != 8 || sizeof(long) != 8 ||
                  (sizeof(TaskState) == 296 &&
                   offsetof(TaskState, File) == 24 &&
                   offsetof(TaskState, Slot) == 280),
              "not what monitors read");

} // namespace

/// The end of \p Text, with at most \p MaxSize bytes of whole UTF-8 characters.
static std::string tail(const std::string &Text, size_t MaxSize) {
  if (Text.size() <= MaxSize)
    return Text;
  size_t Begin = Text.size() - MaxSize;
  while (Begin != Text.size() && (Text[Begin] & 0xc0) == 0x80)
    ++Begin;
  return Text.substr(Begin);
}

StateFile::StateFile(StateFile &&O) noexcept { *this = std::move(O); }

StateFile &StateFile::operator=(StateFile &&O) noexcept {
  if (this == &O)
    return *this;
  remove();
  Path = std::exchange(O.Path, std::string());
  Module = std::move(O.Module);
  Host = std::move(O.Host);
  Slot = O.Slot;
  Last = O.Last;
  return *this;
}

StateFile::~StateFile() { remove(); }

void StateFile::open(const std::string &Dir, unsigned Unique,
                     const std::string &Module, const std::string &Host,
                     int Slot) {
  remove();
  if (Dir.empty())
    return;
  // Whether they are there is seen when the file is written.
  size_t Slash = Dir.rfind('/');
  if (Slash != std::string::npos && Slash != 0)
    os::makeFolder(Dir.substr(0, Slash));
  os::makeFolder(Dir);

  Path = Dir + "/binstate_" + std::to_string(getpid()) + "_" +
         std::to_string(Unique);
  // Of a path and of an archive's member, the end tells the most.
  // A monitor prints each on a line of its own.
  this->Module = sdk::printable(tail(Module, sizeof(TaskState::File) - 1), '?');
  this->Host = sdk::printable(Host.substr(0, sizeof(TaskState::Host) - 1), '?');
  this->Slot = Slot;
  Last = Phase::Blocked;
}

void StateFile::note(Phase P) {
  Last = P;
  refresh();
}

void StateFile::refresh() {
  if (Path.empty())
    return;
  TaskState State;
  std::memset(&State, 0, sizeof(State)); // padding, too
  State.StructSize = sizeof(State);
  State.Magic = 0x44494800;
  State.Pid = static_cast<unsigned long>(getpid());
  std::memcpy(State.File, Module.data(), Module.size());
  std::memcpy(State.Host, Host.data(), Host.size());
  State.Slot = Slot;
  State.Phase = static_cast<int>(Last);

  os::putFile(Path, &State, sizeof(State));
}

void StateFile::remove() {
  if (!Path.empty())
    os::removeFile(Path);
  Path.clear();
}

//===----------------------------------------------------------------------===//
// StateFiles
//===----------------------------------------------------------------------===//

// A file server that is there is done in this time.
static constexpr std::chrono::milliseconds MaxEnd{500};

struct StateFiles::Shared {
  std::map<uint64_t, StateFile> Files; // the thread's
  std::mutex Mutex;                    // guards the rest
  std::condition_variable Changed;
  std::deque<std::function<void(std::map<uint64_t, StateFile> &)>> Work;
  bool Ending = false, Ended = false;

  void run() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      Changed.wait(Lock, [&] { return Ending || !Work.empty(); });
      if (Work.empty())
        break;
      auto Next = std::move(Work.front());
      Work.pop_front();
      Lock.unlock();
      Next(Files);
      Lock.lock();
    }
    Lock.unlock();
    Files.clear();
    Lock.lock();
    Ended = true;
    Changed.notify_all();
  }
};

void StateFiles::begin() {
  if (S || Dir.empty())
    return;
  S = std::make_shared<Shared>();
  try {
    sdk::runDetached([S = S] { S->run(); });
  } catch (const std::system_error &) {
    S = nullptr; // a monitor is no reason to do without the farm
  }
}

StateFiles::~StateFiles() {
  if (!S)
    return;
  std::unique_lock<std::mutex> Lock(S->Mutex);
  S->Ending = true;
  S->Changed.notify_all();
  S->Changed.wait_for(Lock, MaxEnd, [&] { return S->Ended; });
}

void StateFiles::post(
    std::function<void(std::map<uint64_t, StateFile> &)> Work) {
  if (!S)
    return;
  std::lock_guard<std::mutex> Lock(S->Mutex);
  S->Work.push_back(std::move(Work));
  S->Changed.notify_all();
}

void StateFiles::open(uint64_t Job, const std::string &Module,
                      const std::string &Host, int Slot) {
  begin();
  post([=, Dir = Dir, Unique = ++LastFile](auto &Files) {
    Files[Job].open(Dir, Unique, Module, Host, Slot);
  });
}

void StateFiles::note(uint64_t Job, Phase P) {
  post([=](auto &Files) { Files[Job].note(P); });
}

void StateFiles::refresh(uint64_t Job) {
  post([=](auto &Files) { Files[Job].refresh(); });
}

void StateFiles::remove(uint64_t Job) {
  post([=](auto &Files) { Files.erase(Job); });
}

} // namespace dtlto::distcc
