//===- Settings.h - The settings of a replay --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Reads a session's arguments. Throws sdk::Error for a wrong one.
Settings readSettings(const char *const *Args, uint32_t NumArgs);

} // namespace replay
} // namespace dtlto

#endif // DTLTO_BENCH_SETTINGS_H
