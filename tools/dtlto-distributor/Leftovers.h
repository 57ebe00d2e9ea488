//===- Leftovers.h - Nothing outlives dtlto-distributor ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process that is killed can tidy up nothing. So a compiler asks the kernel
// for a signal at its parent's end before it becomes the compiler, which is
// done by this program, started once more; and a shell waits beside, in a
// session of its own, to remove the folder of objects that are being made.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_LEFTOVERS_H
#define DTLTO_DISTRIBUTOR_LEFTOVERS_H

#include <string>
#include <vector>

namespace dtlto {

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

#endif // DTLTO_DISTRIBUTOR_LEFTOVERS_H
