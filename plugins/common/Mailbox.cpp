//===- Mailbox.cpp - Functions for one thread to call ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mailbox.h"
#include "System.h"

using namespace dtlto;

Mailbox::Mailbox() : Fd(os::openSignal()) {}

Mailbox::~Mailbox() {
  if (Fd >= 0)
    os::closeSocket(Fd);
}

void Mailbox::post(Letter L) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Stopped)
    return;
  Letters.push_back(std::move(L));
  os::raise(Fd);
}

void Mailbox::deliver() {
  std::vector<Letter> Now;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    os::lower(Fd);
    Now.swap(Letters);
  }
  for (Letter &L : Now)
    L();
}

void Mailbox::stop() {
  std::vector<Letter> Dropped; // destroyed without the lock
  std::lock_guard<std::mutex> Lock(Mutex);
  Stopped = true;
  Dropped.swap(Letters);
}
