//===- PluginCheck.cpp - A layer that checks a plugin ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginCheck.h"
#include "Host/CheckedSession.h"
#include "Support/Failure.h"

using namespace llvm;
using namespace dtlto;

Layer *dtlto::TheLayer = nullptr;

void dtlto::showFindings(Messages &Msg) {
  if (TheLayer)
    TheLayer->Findings.show(Msg);
}

Error dtlto::failForFindings() {
  if (!TheLayer || !TheLayer->Findings.AreErrors)
    return Error::success();
  const unsigned N = TheLayer->Findings.count();
  if (N == 0)
    return Error::success();
  return failure("dtlto: plugin '" + Twine(TheLayer->Findings.Plugin.name) +
                 "': " + Twine(N) + (N == 1 ? " finding" : " findings") +
                 " (--thinlto-dist-check-plugin=error)");
}

void dtlto::countFindings() {
  if (TheLayer)
    TheLayer->Findings.end();
}

Layer::Layer(const dtlto_plugin &Plugin, bool AreErrors)
    : Findings(Plugin, AreErrors), Entry(Plugin) {
  using S = CheckedSession;
  Entry.size = sizeof(Entry);
  Entry.configure = S::configure;
  Entry.open = S::open;
  Entry.submit = S::Callback<&S::submit>::call;
  Entry.cancel = S::Callback<&S::cancel>::call;
  Entry.load = S::Callback<&S::load>::call;
  Entry.close = S::Callback<&S::close>::call;
  Entry.extension = S::pluginExtension;
  Batch.size = sizeof(Batch);
  Batch.complete = S::Callback<&S::completeBatch>::call;
  Refuted.size = sizeof(Refuted);
  Refuted.result = S::Callback<&S::refute>::call;
  Status.size = sizeof(Status);
  Status.query = S::Callback<&S::queryStatus>::call;
}

const dtlto_plugin *dtlto::checkedPlugin(const dtlto_plugin &Plugin,
                                         bool AreErrors) {
  recordMisuses();
  TheLayer = new Layer(Plugin, AreErrors);
  return &TheLayer->Entry;
}
