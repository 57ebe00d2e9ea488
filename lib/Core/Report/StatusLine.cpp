//===- StatusLine.cpp - LLD's messages and a line that moves --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/StatusLine.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace dtlto;

StatusLine::~StatusLine() = default;

/// Back to the first column, and erase to the end of the line.
static constexpr StringLiteral Erase = "\r\x1b[K";

void StatusLine::takeAway() {
  if (!Shown.empty())
    Below << Erase;
  Shown.clear();
}

void StatusLine::show(StringRef Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!AtLineStart || Line == Shown)
    return;
  if (Line.empty())
    return takeAway();
  // In one piece, so that it doesn't flicker.
  Below << (Twine(Erase) + Line).str();
  Shown = Line.str();
}

void StatusLine::write(StringRef Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  takeAway();
  Below << (Twine(Line) + "\n").str();
}

void StatusLine::write_impl(const char *Ptr, size_t Size) {
  if (Size == 0)
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  takeAway();
  Below.write(Ptr, Size);
  AtLineStart = Ptr[Size - 1] == '\n';
}
