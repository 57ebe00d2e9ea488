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

void Mailbox::post(Letter TheLetter) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IsStopped)
    return;
  Letters.push_back(std::move(TheLetter));
  os::raise(Fd);
}

void Mailbox::deliver() {
  std::vector<Letter> Pending;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    os::lower(Fd);
    Pending.swap(Letters);
  }
  for (Letter &TheLetter : Pending)
    TheLetter();
}

void Mailbox::stop() {
  std::vector<Letter> DroppedLetters; // destroyed without the lock
  std::lock_guard<std::mutex> Lock(Mutex);
  IsStopped = true;
  DroppedLetters.swap(Letters);
}
