//===- TraceEvents.h - A link's record in a time trace ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's time profiler (llvm/Support/TimeProfiler.h) knows the spans of its own
// threads, which begin and end as it is called. Remote jobs are only known once
// they have ended, and hundreds run at the same time. So they are added to the
// file that the profiler writes, in the same format, on tracks of their own.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TRACEEVENTS_H
#define DTLTO_REPORT_TRACEEVENTS_H

#include "Report/Timeline.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// What the profiler was given when it began.
struct TraceStart {
  Timeline::TimePoint Begin = {};
  unsigned Granularity = 0; // microseconds; shorter spans are left out
};

/// Adds the phases of the jobs of \p Timelines to \p Trace, a file that
/// llvm::timeTraceProfilerWrite() made. Code generation in the linker is left
/// out: LLVM's own spans have it. Fails, and changes nothing, if \p Trace
/// isn't such a file.
llvm::Error addTraceEvents(std::string &Trace,
                           llvm::ArrayRef<Timeline> Timelines,
                           const TraceStart &Start);

} // namespace dtlto

#endif // DTLTO_REPORT_TRACEEVENTS_H
