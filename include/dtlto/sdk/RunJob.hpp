//===- dtlto/sdk/RunJob.hpp - One job on this machine, C++ ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RunJob.h for sessions of Plugin.hpp: errors are thrown. RunJob.h describes
// the meaning and the limits.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_RUNJOB_HPP
#define DTLTO_SDK_RUNJOB_HPP

#include "Plugin.hpp"
#include "RunJob.h"

namespace dtlto::sdk {

/// [any-thread] Throws Error unless \p Program is a clang of \p LLVMVersion.
inline void checkClang(const std::string &Program,
                       const std::string &LLVMVersion) {
  char Text[4096];
  if (int32_t Status = dtlto_run_check_clang(
          Program.c_str(), LLVMVersion.c_str(), Text, sizeof(Text)))
    throw Error(Status, Text);
}

/// [any-thread] Runs \p J with the compiler \p Program in a folder of its own.
/// Kills the compiler if \p J is cancelled.
inline Result runJob(const Job &J, const std::string &Program) {
  // Clang stops after twenty errors, each with its source lines.
  std::string Text(64 << 10, '\0');
  dtlto_run Run = {Program.c_str(),
                   [](void *Raw) -> int {
                     return static_cast<const Job *>(Raw)->isCancelled();
                   },
                   const_cast<Job *>(&J)};
  dtlto_result R = {};
  dtlto_run_job(&J.raw(), &Run, &R, Text.data(), Text.size());
  return {Buffer(R.object), Text.c_str(), R.status ? "" : "this machine",
          R.status};
}

} // namespace dtlto::sdk

#endif // DTLTO_SDK_RUNJOB_HPP
