//===- JobCommand.h - Jobs as commands of clang -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_JOBCOMMAND_H
#define DTLTO_LTO_JOBCOMMAND_H

#include "LTO/JobConfig.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

namespace dtlto {

/// Command lines for a plain clang to run the jobs of a link. Thread-safe.
class JobCommand {
public:
  /// Both parameters outlive this object.
  JobCommand(const LinkContext &Ctx, const JobConfig &Config)
      : Ctx(Ctx), Config(Config) {}

  /// Why clang can't run a job for \p Triple, in one line; empty if it can.
  llvm::StringRef reason(llvm::StringRef Triple) {
    return common(Triple).Reason;
  }

  /// Sets the command line of \p Built, a job of \p T that has its inputs.
  llvm::Error addTo(BuiltJob &Built, const Task &T);

private:
  struct CommonArgs {
    std::vector<std::string> Args; // for all jobs with this triple
    std::string Reason;            // why there are none; otherwise empty
  };
  const CommonArgs &common(llvm::StringRef Triple);
  llvm::Expected<std::vector<std::string>> make(llvm::StringRef Triple) const;

  const LinkContext &Ctx;
  const JobConfig &Config;
  std::mutex Mutex; // guards the map, not its values
  llvm::StringMap<CommonArgs> Triples;
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBCOMMAND_H
