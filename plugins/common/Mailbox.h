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

/// What other threads want one thread to do, and a file descriptor that is
/// readable while there is any of it. Any thread may post.
class Mailbox {
public:
  using Letter = std::function<void()>;

  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox &) = delete;

  /// For poll(). Negative if the system has none left: then nothing can work.
  int fd() const { return Fd; }
  /// Letters are done in the order in which they were posted. After stop(),
  /// they are thrown away.
  void post(Letter L);
  /// Does all that has been posted; on that one thread.
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
