//===- FarmStatus.h - The state of a plugin's farm --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-status: opens a session without jobs, queries the plugin's
// workers (dtlto.status/1) or, without that extension, its load, and prints the
// result as a table or as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_FARMSTATUS_H
#define DTLTO_HOST_FARMSTATUS_H

#include "Host/Session.h"
#include "llvm/Support/raw_ostream.h"

namespace dtlto {

struct FarmStatus {
  std::string Plugin, Version; // as the plugin names itself
  /// Unset if the plugin can't report its workers; then there is only Load.
  std::optional<std::vector<WorkerStatus>> Workers;
  dtlto_load Load = unknownLoad();
  /// One line each: why the other fields are incomplete.
  std::vector<std::string> Problems;
  bool HasGivenUp = false; // the plugin has given up

  /// Whether at least one worker takes jobs, and the plugin is alive.
  bool isUp() const;
};

/// Queries \p Plugin. All waits are limited: if a call doesn't return, leaves
/// the plugin behind and returns what it has reported.
FarmStatus queryFarm(const dtlto_plugin &Plugin, const JobOptions &Opts,
                     Messages &Msg);

/// Prints aligned columns, one line for each worker.
void printTable(const FarmStatus &S, llvm::raw_ostream &OS);
/// Prints one object; unknown values are null. docs/STATUS.md has the fields.
void printJSON(const FarmStatus &S, llvm::raw_ostream &OS);

} // namespace dtlto

#endif // DTLTO_HOST_FARMSTATUS_H
