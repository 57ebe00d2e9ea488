//===- Settings.h - The settings of a replay --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The replay plugin's arguments, each with one setting, and the defaults:
//
//   recording=FOLDER    must be given
//   machines=N          1; up to 4096
//   slots=N             of each machine: 6
//   ahead=N             jobs that each machine takes besides its slots: 0
//   gbps=X              the linker's bandwidth, in Gb/s: 1
//   machine-gbps=X      each machine's bandwidth: as gbps
//   latency-us=X        of each message: 200
//   cache=0|1           machines keep their inputs during the link: 1
//   held=0|1            machines have all inputs from earlier links, and are
//                       sent only their digests: 0
//   spread=X            speeds are between 1-X and 1+X; below 1: 0
//   seed=N              for the speeds: 1
//   notice-ms=X         from a machine's death to the report of its jobs: 1000
//   die=M@T             machine M (from 0) dies T seconds after the first job;
//                       or die=M@Njobs: after N jobs have ended; or
//                       die=M@Nbegun: when it begins its N-th job. Repeatable
//   slow=M:X@T          machine M gets X times slower; as above. Repeatable
//   scale=X             time passes X times faster: CPU times, latencies and
//                       the times of faults are divided by X, bandwidths
//                       multiplied: 1
//   config=0|1          jobs carry what dtlto-codegen needs, instead of a
//                       clang's command line: 0
//   compress=0|1        inputs are compressed by zstd at level 1: 0
//   stats=FILE          the output of statistics, as JSON
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
  ClusterSettings Cluster; // already scaled
  double Scale = 1;
  bool Config = false, Compress = false, Held = false;
};

/// Reads the arguments of one call. Returns false with a message in \p Error.
bool parseSettings(const char *const *Args, size_t NumArgs, Settings &S,
                   std::string &Error);

} // namespace replay
} // namespace dtlto

#endif // DTLTO_BENCH_SETTINGS_H
