//===- MachineMemory.cpp - The memory of the machine ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/MachineMemory.h"
#include "Support/System.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;

/// Reads a whole file. Files of /proc and /sys have size 0.
static std::string readAll(const Twine &Path) {
  auto File = MemoryBuffer::getFileAsStream(Path);
  return File ? (*File)->getBuffer().str() : "";
}

/// Returns the number in the file; UINT64_MAX for the word "max" or no number.
static uint64_t readLimit(const Twine &Path) {
  uint64_t N;
  return StringRef(readAll(Path)).trim().getAsInteger(10, N) ? UINT64_MAX : N;
}

uint64_t dtlto::cgroupLimit(StringRef Groups, StringRef Root) {
  uint64_t MinLimit = UINT64_MAX;
  for (StringRef Line : split(Groups, '\n')) {
    // <number>:<controllers>:<path>; version 2 has no controllers.
    auto [Controllers, Path] = Line.split(':').second.split(':');
    SmallVector<StringRef, 4> Names;
    Controllers.split(Names, ',');
    bool IsVersion2 = Controllers.empty();
    if (!Path.starts_with("/") ||
        (!IsVersion2 && !is_contained(Names, "memory")))
      continue;
    std::string Folder = (Root + (IsVersion2 ? "" : "/memory")).str();
    StringRef File = IsVersion2 ? "/memory.max" : "/memory.limit_in_bytes";
    // In a container, the path may be invisible, but the root is the
    // container's own group.
    for (Path = Path.rtrim('/');; Path = Path.rsplit('/').first) {
      MinLimit = std::min(MinLimit, readLimit(Folder + Path + File));
      if (!Path.contains('/'))
        break;
    }
  }
  return MinLimit;
}

uint64_t dtlto::machineMemory() {
  return std::min(physicalMemory(),
                  cgroupLimit(readAll("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

uint64_t dtlto::availableMemory() {
  std::string Text = readAll("/proc/meminfo");
  StringRef Rest = StringRef(Text).split("MemAvailable:").second.ltrim();
  uint64_t KiB;
  return Rest.consumeInteger(10, KiB) ? UINT64_MAX : KiB << 10;
}
