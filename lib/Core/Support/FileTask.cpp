//===- FileTask.cpp - Access to files that may not answer -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/FileTask.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "llvm/ADT/StringSet.h"
#include <condition_variable>
#include <memory>
#include <mutex>

using namespace llvm;
using namespace dtlto;

// The minimum rate of a slow disk or network, in bytes per millisecond.
static constexpr uint64_t MinRate = 8 << 10;

FileTaskLimits dtlto::FileLimits;

namespace {

/// Paths for which a task has timed out.
struct UnresponsivePaths {
  std::mutex Mutex; // guards Paths
  StringSet<> Paths;
};

/// The state shared by a task and its caller.
struct TaskState {
  std::mutex Mutex; // guards IsDone
  std::condition_variable Changed;
  bool IsDone = false;
};

} // namespace

/// Never destroyed, because threads may outlive static destructors.
static UnresponsivePaths &unresponsivePaths() {
  static auto *Paths = new UnresponsivePaths;
  return *Paths;
}

FileAccess dtlto::runFileTask(StringRef Path, std::function<void()> Task,
                              uint64_t Bytes) {
  UnresponsivePaths &Unresponsive = unresponsivePaths();
  std::chrono::milliseconds Limit;
  {
    std::lock_guard<std::mutex> Lock(Unresponsive.Mutex);
    if (Unresponsive.Paths.contains(Path))
      return FileAccess::Skipped;
    Limit = Unresponsive.Paths.empty() ? FileLimits.First : FileLimits.Next;
  }
  Limit += std::chrono::milliseconds(Bytes / MinRate);

  auto State = std::make_shared<TaskState>();
  auto SharedTask = std::make_shared<std::function<void()>>(std::move(Task));
  if (!startThread([State, SharedTask]() mutable {
        (*SharedTask)();
        SharedTask.reset(); // destroy it before the caller continues
        std::lock_guard<std::mutex> Lock(State->Mutex);
        State->IsDone = true;
        State->Changed.notify_all();
      })) {
    (*SharedTask)();
    return FileAccess::Done;
  }
  SharedTask.reset();
  {
    std::unique_lock<std::mutex> Lock(State->Mutex);
    if (State->Changed.wait_for(Lock, Limit, [&] { return State->IsDone; }))
      return FileAccess::Done;
  }
  std::lock_guard<std::mutex> Lock(Unresponsive.Mutex);
  Unresponsive.Paths.insert(Path);
  return FileAccess::TimedOut;
}

Error dtlto::tryFileTask(StringRef Path, std::function<Error()> Task,
                         uint64_t Bytes, FileAccess *Access) {
  auto Why = std::make_shared<std::string>();
  FileAccess Result = runFileTask(
      Path, [Why, Task = std::move(Task)] { *Why = toString(Task()); }, Bytes);
  if (Access)
    *Access = Result;
  if (Result != FileAccess::Done)
    return failure(NoAnswer);
  return Why->empty() ? Error::success() : failure(*Why);
}

void dtlto::forgetFileTasks() {
  std::lock_guard<std::mutex> Lock(unresponsivePaths().Mutex);
  unresponsivePaths().Paths.clear();
}
