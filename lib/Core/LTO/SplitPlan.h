//===- SplitPlan.h - Which modules are compiled in parts --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts depend only on the inputs and options of the link, so equal links
// have equal parts. Compile/Partition.h defines what is in a part.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_SPLITPLAN_H
#define DTLTO_LTO_SPLITPLAN_H

#include "LTO/Linker.h"

namespace dtlto {

/// The least number of instructions of a part with --thinlto-dist-split=auto:
/// about a second of code generation.
constexpr unsigned MinAutoPart = 10000;

/// The instructions of a part with --thinlto-dist-split=auto in a link of
/// \p LinkSize instructions. Each part loads what its module imports, and
/// optimizes copies of the module's small functions: in a large link, parts as
/// fine as those of a small one would mostly repeat work. Parts of a thousandth
/// of the link keep a thousand slots busy. Parts stop growing at about four
/// seconds of work, where finer ones cost little.
constexpr unsigned autoPartSize(uint64_t LinkSize) {
  unsigned Size = MinAutoPart;
  while (Size < 4 * MinAutoPart && LinkSize / Size > 1000)
    Size *= 2;
  return Size;
}

/// The most tasks that parts may add to a link with \p Inputs. LLD makes room
/// for them before their number is known.
unsigned maxPartTasks(const InputBuffers &Inputs, const Options &Opts);

/// Like runJobs() in Backend.h, but long modules are compiled in parts if the
/// user wants that.
llvm::Error runInParts(Link &TheLink, std::vector<Task> Tasks);

} // namespace dtlto

#endif // DTLTO_LTO_SPLITPLAN_H
