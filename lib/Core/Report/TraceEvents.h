//===- TraceEvents.h - A link's record in a time trace ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's time profiler (llvm/Support/TimeProfiler.h) only records spans of its
// own threads, as they begin and end. Remote jobs are known only after they
// have ended, and hundreds run at the same time. So they are added to the file
// that the profiler writes, in the same format, on tracks of their own.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TRACEEVENTS_H
#define DTLTO_REPORT_TRACEEVENTS_H

#include "Report/Timeline.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// The parameters of the profiler.
struct TraceStart {
  Timeline::TimePoint Begin = {};
  unsigned Granularity = 0; // microseconds; shorter spans are omitted
};

/// Adds the phases of the jobs of \p Timelines to \p Trace, a file from
/// llvm::timeTraceProfilerWrite(). Omits code generation in the linker, which
/// LLVM's own spans cover. Fails, and changes nothing, if \p Trace isn't such a
/// file.
llvm::Error addTraceEvents(std::string &Trace,
                           llvm::ArrayRef<Timeline> Timelines,
                           const TraceStart &Start);

} // namespace dtlto

#endif // DTLTO_REPORT_TRACEEVENTS_H
