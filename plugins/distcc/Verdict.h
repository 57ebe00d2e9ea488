//===- Verdict.h - What a reply means ---------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A status of 0 does not prove success. Clang also exits with 0, and with an
// empty or wrong object, when it can't read the index shard or an imported
// module. Only its standard error shows that.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_VERDICT_H
#define DTLTO_DISTCC_VERDICT_H

#include "Reply.h"
#include "dtlto/sdk/Result.hpp"
#include <string_view>

namespace dtlto::distcc {

struct Verdict {
  /// DTLTO_OK, DTLTO_ERROR_COMPILER or DTLTO_ERROR_INFRASTRUCTURE.
  int32_t Status = DTLTO_ERROR_INFRASTRUCTURE;
  sdk::Buffer Object; // if the status is DTLTO_OK
  /// The compiler's output, or one line about what went wrong. May be empty for
  /// DTLTO_OK.
  std::string Message;
  /// Whether the host is to blame, rather than e.g. the size of the job.
  bool IsHostAtFault = false;
};

/// Whether \p Compiler, a name or a path, is dtlto-codegen, which reads whole
/// jobs.
bool isWorker(std::string_view Compiler);

/// Decompresses and judges the reply to a job. DTLTO_OK has an object of at
/// most \p MaxSize bytes, or none if clang can't import.
Verdict judge(const Reply &R, uint64_t MaxSize = MaxObject);

/// Judges the reply to buildProbe(). Returns an empty string if the compiler is
/// exactly of version \p ExpectedVersion ("19.1.7", "20.0.0-rc1"), and a
/// dtlto-codegen also of this plugin's version. Otherwise returns one line with
/// the reason and what to do. \p Line becomes the first line of the compiler's
/// output.
std::string judgeProbe(const Reply &R, const std::string &Compiler,
                       const std::string &ExpectedVersion, std::string &Line);

/// Whether the compiler with the version \p Line is of the same vendor and
/// revision as the linker with the version \p Linker ("Debian LLD 19.1.7"). A
/// clang's line may be longer: Debian's also has the package's version.
bool isBuildOf(std::string_view Line, std::string_view Linker);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_VERDICT_H
