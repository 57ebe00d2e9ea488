//===- dtlto/sdk/Status.hpp - The machines of a farm ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machines that a plugin reports for --thinlto-dist-status:
// DTLTO_EXT_STATUS. Plugin.hpp does the rest for a session that overrides
// status().
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_STATUS_HPP
#define DTLTO_SDK_STATUS_HPP

#include "../ext/status.h"
#include <string>
#include <vector>

namespace dtlto::sdk {

/// A dtlto_worker_status that owns its texts. Unknown values are empty texts or
/// UINT32_MAX.
struct Worker {
  std::string Name;
  uint32_t State = DTLTO_WORKER_UNKNOWN;
  std::string Compiler = {}, Why = {};
  uint32_t Slots = UINT32_MAX, Busy = UINT32_MAX, LoadPermille = UINT32_MAX;
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_STATUS_HPP
