//===- MachineMemory.h - How much memory there is ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_MACHINEMEMORY_H
#define DTLTO_SUPPORT_MACHINEMEMORY_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace dtlto {

/// How many bytes of memory this process may use: the machine's, or what
/// `ulimit -v` or the control groups that it is in (versions 1 and 2) allow, if
/// that is less. 1 GB if nobody tells.
uint64_t machineMemory();

/// How many of these are free, or can be freed at once, on the whole machine.
/// UINT64_MAX if that isn't known.
uint64_t availableMemory();

/// What control groups allow: the least limit of those that \p Groups names,
/// the text of /proc/self/cgroup, and of the groups that these are in. \p Root
/// is where they are mounted, /sys/fs/cgroup. UINT64_MAX: no limit.
uint64_t cgroupLimit(llvm::StringRef Groups, llvm::StringRef Root);

} // namespace dtlto

#endif // DTLTO_SUPPORT_MACHINEMEMORY_H
