//===- HelperQueue.cpp - The next work of a link's helpers ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/HelperQueue.h"
#include <cassert>

using namespace dtlto;

// The number of jobs among which to find the one that imports least.
static constexpr size_t MaxChoice = 512;
// Stop the search here: a job with so few imports is prepared quickly.
static constexpr size_t LittleWork = 1000;

void HelperQueue::add(plan::JobId J, double Seconds, size_t ImportWork,
                      Work Task) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Queue.emplace(J, Entry{Seconds, ImportWork, std::move(Task)});
}

HelperQueue::Work HelperQueue::take() {
  std::lock_guard<std::mutex> Lock(Mutex);
  assert(!Queue.empty());
  auto Next = Queue.begin();
  const bool MayChoose = HasIdle && Next->second.Seconds < LongThreshold;
  size_t Num = MayChoose ? 0 : MaxChoice;
  for (auto It = Next; It != Queue.end() && Num != MaxChoice &&
                       Next->second.ImportWork > LittleWork;
       ++It, ++Num)
    if (It->second.ImportWork < Next->second.ImportWork)
      Next = It;
  Work Task = std::move(Next->second.Task);
  Queue.erase(Next);
  return Task;
}
