//===- FileThread.h - A thread for files that may hang ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_FILETHREAD_H
#define DTLTO_PLUGINS_FILETHREAD_H

#include <chrono>
#include <functional>
#include <memory>

namespace dtlto {

/// Calls functions in order on a detached thread. If one hangs, as an access to
/// a dead file server does, the thread is abandoned. Any thread may post.
class FileThread {
public:
  /// Throws std::system_error if no thread can be started.
  FileThread();
  /// The thread ends after its last function. Doesn't wait for that.
  ~FileThread();
  FileThread(const FileThread &) = delete;

  void post(std::function<void()> Work);
  /// Waits at most \p Limit until all functions that were posted before have
  /// returned. Returns whether they have.
  bool wait(std::chrono::milliseconds Limit);

private:
  struct Queue;
  const std::shared_ptr<Queue> TheQueue;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_FILETHREAD_H
