//===- StatusCommand.cpp - --thinlto-dist-status --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatusCommand.h"
#include "Host/FarmStatus.h"
#include "Report/PlainMessages.h"

using namespace llvm;
using namespace dtlto;

int dtlto::showStatus(const Linker &TheLinker, StringRef Program,
                      bool Verbose) {
  StatusLine Errors(errs());
  PlainMessages Msg(Errors, Program, "dtlto: ", Verbose);
  FarmStatus S = queryFarm(*TheLinker.Plugin, TheLinker.Opts, Msg);
  for (const std::string &P : S.Problems) {
    std::string Text = "plugin '" + S.Plugin + "': " + P;
    if (S.isUp())
      Msg.warning(Text);
    else
      Msg.error(Text);
  }
  if (TheLinker.Opts.Status == StatusKind::JSON)
    printJSON(S, outs());
  else if (S.Workers || S.isUp())
    printTable(S, outs());
  return S.isUp() ? 0 : 1;
}
