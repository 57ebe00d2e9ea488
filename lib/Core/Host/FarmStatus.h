//===- FarmStatus.h - What a plugin's farm is made of now -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-status: opens a session without jobs, asks the plugin for
// its workers (dtlto.status/1) or, if it has no such extension, for its load,
// and shows what it tells as a table or as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_FARMSTATUS_H
#define DTLTO_HOST_FARMSTATUS_H

#include "Host/Session.h"
#include "llvm/Support/raw_ostream.h"

namespace dtlto {

struct FarmStatus {
  std::string Plugin, Version; // its name for itself
  /// Nothing: the plugin doesn't tell of single workers, and Load is all.
  std::optional<std::vector<WorkerStatus>> Workers;
  dtlto_load Load = unknownLoad();
  /// One line each, why the rest is not all there is to say.
  std::vector<std::string> Problems;
  bool IsOver = false; // the plugin has said that it can't go on

  /// At least one worker takes jobs, and the plugin gives them.
  bool isUp() const;
};

/// Asks \p Plugin. Every wait has an end: a plugin that
/// doesn't come back from a call is left behind, and what it has told counts.
FarmStatus askFarm(const dtlto_plugin &Plugin, const JobOptions &Opts,
                   Messages &Msg);

/// Aligned columns, a line for each worker.
void printTable(const FarmStatus &S, llvm::raw_ostream &OS);
/// One object; what isn't known is null. docs/STATUS.md has the fields.
void printJSON(const FarmStatus &S, llvm::raw_ostream &OS);

} // namespace dtlto

#endif // DTLTO_HOST_FARMSTATUS_H
