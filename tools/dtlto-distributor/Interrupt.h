//===- Interrupt.h - When dtlto-distributor is told to end ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_INTERRUPT_H
#define DTLTO_DISTRIBUTOR_INTERRUPT_H

#include <functional>

namespace dtlto {

/// Notes which process has started this one. To be called before anything that
/// takes time: once the parent has ended, another process takes its place.
void noteParent();

/// From here on, SIGINT, SIGTERM and SIGHUP have \p End called, once, on a
/// thread of its own; then the process ends with an error. If \p WithParent,
/// they come when the program that started this one is gone, too, or was by
/// now. One call in a process.
void endOnSignals(std::function<void()> End, bool WithParent);

/// Doesn't return if the process is about to end for that: jobs that fail may
/// be a consequence.
void waitIfEnding();

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_INTERRUPT_H
