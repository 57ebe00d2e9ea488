//===- Ending.h - How dtlto-distributor ends --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process may be interrupted or killed, and then can't clean up. So this
// program starts compilers through a second instance of itself, the launcher:
// it asks the kernel for a signal at its parent's end, and then becomes the
// compiler. A guard process in its own session removes the folder of unfinished
// objects.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_ENDING_H
#define DTLTO_DISTRIBUTOR_ENDING_H

#include <functional>
#include <string>
#include <vector>

namespace dtlto {

/// Notes which process has started this one. Must be called before anything
/// slow: once the parent has ended, another process takes its place.
void recordParent();

/// From now on, SIGINT, SIGTERM and SIGHUP call \p End, once, on a thread of
/// its own; then the process ends with an error. With \p WithParent, the same
/// happens when the program that started this one ends, or has already ended.
/// To be called once.
void endOnSignals(std::function<void()> End, bool WithParent);

/// Blocks if the process is about to end for a signal: failed jobs may be a
/// consequence.
void waitIfEnding();

/// Returns the arguments to put before a program and its arguments, so that it
/// is killed when this process ends in any way. \p Self: our executable.
std::vector<std::string> launcher(const std::string &Self);

/// For main(): if the arguments are a launcher's, this process becomes the
/// program, or ends with an error. Otherwise returns.
void runAsLauncher(int Argc, char **Argv);

/// Removes \p Folder with its contents once this process has ended. Ignores
/// failures to arrange that.
void removeWhenProcessEnds(const std::string &Folder);

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_ENDING_H
