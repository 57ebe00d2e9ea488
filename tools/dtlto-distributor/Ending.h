//===- Ending.h - How dtlto-distributor ends --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process may be told to end, or be killed, when it can tidy up nothing. So
// a compiler asks the kernel for a signal at its parent's end before it becomes
// the compiler, which is done by this program, started once more. And a guard
// waits in a session of its own to remove the folder of unfinished objects.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_ENDING_H
#define DTLTO_DISTRIBUTOR_ENDING_H

#include <functional>
#include <string>
#include <vector>

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

/// What is put before a program, its first argument and all others, so that it
/// is killed when this process ends, however that comes. \p Self: our
/// executable.
std::vector<std::string> launcher(const std::string &Self);

/// For main(): if the arguments are a launcher's, this process becomes the
/// program, or ends with an error. Returns if they aren't.
void becomeLaunched(int Argc, char **Argv);

/// Has \p Folder removed, with all that is in it, once this process has ended.
/// Nothing is said if that can't be arranged.
void removeAfterUs(const std::string &Folder);

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_ENDING_H
