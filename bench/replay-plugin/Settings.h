//===- Settings.h - What a replay plays -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The replay plugin's arguments, one setting in each:
//
//   recording=FOLDER    must be given
//   machines=N          1; up to 4096
//   slots=N             of each machine: 6
//   ahead=N             jobs that each machine takes on top of its slots: 0
//   gbps=X              of the linker's link, in Gb/s: 1
//   machine-gbps=X      of each machine's link: as gbps
//   latency-us=X        of each message: 200
//   cache=0|1           machines keep their inputs during the link: 1
//   held=0|1            machines have all inputs from earlier links, and are
//                       sent only their digests: 0
//   spread=X            speeds lie between 1-X and 1+X; below 1: 0
//   seed=N              of the speeds: 1
//   notice-ms=X         until a dead machine's jobs are lost: 1000
//   die=M@T             machine M (from 0) dies T seconds after the first job;
//                       or die=M@Njobs: once N jobs have ended; or
//                       die=M@Nbegun: when it begins its N-th job. Repeatable
//   slow=M:X@T          machine M gets X times slower; as above. Repeatable
//   scale=X             time passes X times faster: CPU times, latencies and
//                       the times of faults are divided by X, bandwidths
//                       multiplied: 1
//   config=0|1          jobs carry what dtlto-codegen needs, instead of a
//                       clang's command line: 0
//   compress=0|1        inputs are sent as zstd packs them at its level 1: 0
//   stats=FILE          where to write what happened, as JSON
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BENCH_SETTINGS_H
#define DTLTO_BENCH_SETTINGS_H

#include "Cluster.h"
#include <string>

namespace dtlto {
namespace replay {

struct Settings {
  std::string Recording, Stats;
  ClusterSettings Cluster; // scaled already
  double Scale = 1;
  bool Config = false, Compress = false, Held = false;
};

/// Reads one call's arguments. Returns false with a message in \p Error.
bool parseSettings(const char *const *Args, size_t NumArgs, Settings &S,
                   std::string &Error);

} // namespace replay
} // namespace dtlto

#endif // DTLTO_BENCH_SETTINGS_H
