//===- Processes.h - The same work in several processes ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_PROCESSES_H
#define DTLTO_UNITTESTS_TESTSUPPORT_PROCESSES_H

#include "gtest/gtest.h"
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dtlto::test {

/// Runs \p Do in \p N processes at the same time, with the numbers 0 to N - 1.
/// Expects each to return true.
inline void inProcesses(unsigned N, const std::function<bool(unsigned)> &Do) {
  std::vector<pid_t> Children;
  for (unsigned P = 0; P != N; ++P) {
    pid_t Child = fork();
    if (Child == 0)
      _exit(Do(P) ? 0 : 1);
    Children.push_back(Child);
  }
  for (pid_t Child : Children) {
    int Status = 1;
    ASSERT_EQ(waitpid(Child, &Status, 0), Child);
    EXPECT_EQ(Status, 0);
  }
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_PROCESSES_H
