//===- Mailbox.cpp - Work for one thread from all others ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mailbox.h"
#include <sys/eventfd.h>
#include <unistd.h>

using namespace dtlto::distcc;

Mailbox::Mailbox() : Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Mailbox::~Mailbox() {
  if (Fd >= 0)
    ::close(Fd);
}

void Mailbox::post(Letter L) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Stopped)
    return;
  Letters.push_back(std::move(L));
  uint64_t One = 1;
  // Can only fail when the counter is full, and then the reader is awake.
  (void)!::write(Fd, &One, sizeof(One));
}

void Mailbox::deliver() {
  std::vector<Letter> Now;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    uint64_t Count;
    (void)!::read(Fd, &Count, sizeof(Count));
    Now.swap(Letters);
  }
  for (Letter &L : Now)
    L();
}

void Mailbox::stop() {
  std::vector<Letter> Dropped; // what they hold is freed without the lock
  std::lock_guard<std::mutex> Lock(Mutex);
  Stopped = true;
  Dropped.swap(Letters);
}
