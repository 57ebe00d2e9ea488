//===- WorkerReport.h - A machine of a farm, for people ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_WORKERREPORT_H
#define DTLTO_PLUGINS_WORKERREPORT_H

#include "dtlto/PluginAPI.h"
#include <string>
#include <vector>

namespace dtlto {

/// A dtlto_worker_status that owns its texts. What isn't known is an empty text
/// or UINT32_MAX.
struct WorkerReport {
  std::string Name;
  uint32_t State = DTLTO_WORKER_UNKNOWN;
  std::string Compiler = {}, Why = {};
  uint32_t Slots = UINT32_MAX, Busy = UINT32_MAX, LoadPermille = UINT32_MAX;
};

/// Hands all of them to the callback of dtlto_status.query.
inline void tell(const std::vector<WorkerReport> &All,
                 void (*Worker)(void *, const dtlto_worker_status *),
                 void *Context) {
  for (const WorkerReport &R : All) {
    dtlto_worker_status S = {};
    S.size = sizeof(S);
    S.state = R.State;
    S.name = R.Name.c_str();
    S.compiler = R.Compiler.empty() ? nullptr : R.Compiler.c_str();
    S.why = R.Why.empty() ? nullptr : R.Why.c_str();
    S.slots = R.Slots;
    S.busy = R.Busy;
    S.load_permille = R.LoadPermille;
    Worker(Context, &S);
  }
}

} // namespace dtlto

#endif // DTLTO_PLUGINS_WORKERREPORT_H
