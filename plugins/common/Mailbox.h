//===- Mailbox.h - Functions for one thread to call -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_MAILBOX_H
#define DTLTO_PLUGINS_MAILBOX_H

#include <functional>
#include <mutex>
#include <vector>

namespace dtlto {

/// A queue of functions that one thread calls for other threads. Its file
/// descriptor is readable while the queue isn't empty. Any thread may post.
class Mailbox {
public:
  using Letter = std::function<void()>;

  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox &) = delete;

  /// For poll(). Negative if the system has no descriptor left.
  int fd() const { return Fd; }
  /// Queues \p TheLetter. Letters are called in order. After stop(), they are
  /// dropped.
  void post(Letter TheLetter);
  /// Calls all queued letters. For the one thread.
  void deliver();
  void stop();

private:
  int Fd;
  std::mutex Mutex;
  std::vector<Letter> Letters;
  bool IsStopped = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_MAILBOX_H
