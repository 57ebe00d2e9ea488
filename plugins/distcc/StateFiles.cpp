//===- StateFiles.cpp - Shows jobs in distcc's monitors -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateFiles.h"
#include "System.h"
#include "dtlto/sdk/Result.hpp"
#include <cstddef>
#include <cstring>
#include <system_error>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::distcc;

// A working file server is done within this time.
static constexpr std::chrono::milliseconds MaxFlushTime{500};

namespace {

/// The contents of a file; see StateFiles.h.
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

StateFiles::~StateFiles() {
  while (!Files.empty())
    remove(Files.begin()->first);
  wait(MaxFlushTime);
}

void StateFiles::wait(std::chrono::milliseconds Limit) {
  if (TheThread)
    TheThread->wait(Limit);
}

/// Returns the end of \p Text, at most \p MaxSize bytes of whole UTF-8
/// characters.
static std::string tail(const std::string &Text, size_t MaxSize) {
  if (Text.size() <= MaxSize)
    return Text;
  size_t Begin = Text.size() - MaxSize;
  while (Begin != Text.size() && (Text[Begin] & 0xc0) == 0x80)
    ++Begin;
  return Text.substr(Begin);
}

void StateFiles::open(uint64_t Job, const std::string &Module,
                      const std::string &Host, int Slot) {
  if (Dir.empty())
    return;
  try {
    if (!TheThread)
      TheThread = std::make_unique<FileThread>();
  } catch (const std::system_error &) {
    return; // without a thread, monitors don't show the job
  }
  TheThread->post([Dir = Dir] {
    // Failures show up when a file is written.
    size_t Slash = Dir.rfind('/');
    if (Slash != std::string::npos && Slash != 0)
      os::makeFolder(Dir.substr(0, Slash));
    os::makeFolder(Dir);
  });
  TaskState State;
  std::memset(&State, 0, sizeof(State)); // padding, too
  State.StructSize = sizeof(State);
  State.Magic = 0x44494800;
  State.Pid = static_cast<unsigned long>(getpid());
  // The end of a path, or of an archive's member, is most specific. A monitor
  // prints each on one line.
  sdk::printable(tail(Module, sizeof(State.File) - 1), '?')
      .copy(State.File, sizeof(State.File) - 1);
  sdk::printable(Host, '?').copy(State.Host, sizeof(State.Host) - 1);
  State.Slot = Slot;
  Files[Job] = {Dir + "/binstate_" + std::to_string(getpid()) + "_" +
                    std::to_string(++LastFile),
                {reinterpret_cast<const char *>(&State), sizeof(State)}};
}

void StateFiles::writePhase(uint64_t Job, Phase P) {
  auto It = Files.find(Job);
  if (It == Files.end())
    return;
  int Number = static_cast<int>(P);
  std::memcpy(&It->second.Contents[offsetof(TaskState, Phase)], &Number,
              sizeof(Number));
  TheThread->post([F = It->second] {
    os::putFile(F.Path, F.Contents.data(), F.Contents.size());
  });
}

void StateFiles::remove(uint64_t Job) {
  auto It = Files.find(Job);
  if (It == Files.end())
    return;
  TheThread->post([Path = It->second.Path] { os::removeFile(Path); });
  Files.erase(It);
}
