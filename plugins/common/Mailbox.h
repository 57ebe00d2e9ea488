//===- Mailbox.h - Work for one thread from all others ----------*- C++ -*-===//
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

/// Functions that other threads have one thread call, and a file descriptor
/// that is readable while there are any. Any thread may post.
class Mailbox {
public:
  using Letter = std::function<void()>;

  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox &) = delete;

  /// For poll(). Negative if the system has none left.
  int fd() const { return Fd; }
  /// Letters are called in the order in which they were posted. After stop(),
  /// they are dropped.
  void post(Letter L);
  /// Calls all letters that were posted, on the one thread.
  void deliver();
  void stop();

private:
  int Fd;
  std::mutex Mutex;
  std::vector<Letter> Letters;
  bool Stopped = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_MAILBOX_H
