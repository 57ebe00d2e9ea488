//===- JobserverWindows.cpp - No jobserver on Windows yet -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GNU make for Windows uses a semaphore. connect() always returns null, so the
// other functions are never called.
//
//===----------------------------------------------------------------------===//

#include "Support/Jobserver.h"

using namespace dtlto;

std::unique_ptr<Jobserver> Jobserver::connect(llvm::StringRef MakeFlags,
                                              std::string &Note) {
  Note = MakeFlags.contains("--jobserver-")
             ? "make's jobserver is not used on Windows yet"
             : "";
  return nullptr;
}

Jobserver::~Jobserver() = default;
void Jobserver::take(std::function<void()>) {}
void Jobserver::releaseToken() {}
void Jobserver::releaseAllTokens() {}
