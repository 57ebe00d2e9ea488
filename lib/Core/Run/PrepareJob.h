//===- PrepareJob.h - A job for the plugin, built or completed --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_PREPAREJOB_H
#define DTLTO_RUN_PREPAREJOB_H

#include "Host/SessionEvents.h"
#include "llvm/Support/Error.h"
#include <chrono>

namespace dtlto {

/// What every JobSource::prepare() does for the plugin. \p Old becomes the job
/// of \p E once Complete(*Old) has given it what it lacks; without one, Build()
/// makes a new job, which avoids the worker \p Avoid. If that fails, E's
/// message says why, and there is no job.
template <typename CompleteFn, typename BuildFn>
void prepareForPlugin(Event &E, std::unique_ptr<BuiltJob> Old,
                      llvm::StringRef Avoid, CompleteFn Complete,
                      BuildFn Build) {
  if (Old) {
    if (llvm::Error Why = Complete(*Old))
      E.Message = toString(std::move(Why));
    else
      E.Built = std::move(Old);
    return;
  }
  llvm::Expected<std::unique_ptr<BuiltJob>> New = Build();
  if (!New) {
    E.Message = toString(New.takeError());
    return;
  }
  E.Built = std::move(*New);
  setAvoid(*E.Built, Avoid);
}

/// Notes that what \p E tells of, which began at \p Begin, is over.
inline void setEnded(Event &E, Clock::time_point Begin) {
  E.Ended = Clock::now();
  E.Seconds = std::chrono::duration<double>(E.Ended - Begin).count();
}

} // namespace dtlto

#endif // DTLTO_RUN_PREPAREJOB_H
