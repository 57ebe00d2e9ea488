//===- dtlto/sdk/CompileResult.hpp - What a compile left, C++ ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CompileResult.h for plugins in C++. Runs no processes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_COMPILERESULT_HPP
#define DTLTO_SDK_COMPILERESULT_HPP

#include "CompileResult.h"
#include "Result.hpp"
#include <algorithm>
#include <cstring>

namespace dtlto::sdk {

/// Returns the status of a compile that ended as \p End says. Turns \p Text,
/// the compiler's standard error, into the job's message.
inline int32_t compileStatus(const dtlto_compile_end &End, std::string &Text) {
  std::replace(Text.begin(), Text.end(), '\0', ' ');
  Text.resize(Text.size() + 1300); // for what is put before a line
  int32_t Status = dtlto_compile_status(&End, Text.data(), Text.size());
  Text.resize(std::strlen(Text.c_str()));
  return Status;
}

/// Returns the result of a job that \p Worker has compiled: from the exit code,
/// the object, which may be empty, and the compiler's standard error. Drops the
/// object of a compile that failed.
inline Result compileResult(int64_t ExitCode, Buffer Object, std::string Stderr,
                            std::string Worker) {
  int32_t Status =
      compileStatus({nullptr, ExitCode, 0, Object.size() != 0}, Stderr);
  return {Status == DTLTO_OK ? std::move(Object) : Buffer(), std::move(Stderr),
          std::move(Worker), Status};
}

/// Whether \p Answer, a clang's output for --version, names exactly \p
/// LLVMVersion (dtlto_session_params).
inline bool isVersion(const std::string &Answer,
                      const std::string &LLVMVersion) {
  return dtlto_run_is_version(Answer.c_str(), LLVMVersion.c_str());
}

} // namespace dtlto::sdk

#endif // DTLTO_SDK_COMPILERESULT_HPP
