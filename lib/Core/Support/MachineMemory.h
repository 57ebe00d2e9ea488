//===- MachineMemory.h - The memory of the machine --------------*- C++ -*-===//
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

/// Returns how many bytes of memory this process may use: the minimum of the
/// machine's memory, `ulimit -v`, and the limits of its control groups
/// (versions 1 and 2). 1 GiB if the machine's memory is unknown.
uint64_t machineMemory();

/// Returns how many bytes of memory are free, or can be freed at once, on the
/// whole machine. UINT64_MAX if unknown.
uint64_t availableMemory();

/// Returns the lowest limit of the control groups in \p Groups (the text of
/// /proc/self/cgroup) and their parent groups. \p Root is the mount point,
/// /sys/fs/cgroup. UINT64_MAX: no limit.
uint64_t cgroupLimit(llvm::StringRef Groups, llvm::StringRef Root);

} // namespace dtlto

#endif // DTLTO_SUPPORT_MACHINEMEMORY_H
