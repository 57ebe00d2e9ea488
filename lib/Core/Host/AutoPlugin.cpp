//===- AutoPlugin.cpp - The plugin "auto" ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/AutoPlugin.h"
#include "Support/FileTask.h"
#include "Support/Text.h"
#include "dtlto/ext/probe.h"
#include "llvm/Config/llvm-config.h"

using namespace llvm;
using namespace dtlto;

// The plugins are asked in this order. The last one always has a machine.
static constexpr StringLiteral Candidates[] = {"reapi", "distcc", "icecc",
                                               "local"};
// Less than a FileTask may take.
static constexpr std::chrono::milliseconds MaxProbe(900);

/// Asks \p Plugin for its farm. Returns whether it has one, and in \p Why one
/// line for either.
static bool probe(const dtlto_plugin &Plugin, const JobOptions &Opts,
                  Messages &Msg, std::string &Why) {
  auto *Probe =
      static_cast<const dtlto_probe *>(Plugin.extension(DTLTO_EXT_PROBE));
  if (!Probe || Probe->size < sizeof(dtlto_probe)) {
    Why = "it has no " DTLTO_EXT_PROBE;
    return false;
  }
  struct Call {
    Call(const HostContext &Ctx) : Params(Ctx, /*NumJobs=*/0) {}
    const SessionParams Params;
    char Text[1024] = "";
    int32_t Status = DTLTO_ERROR_INFRASTRUCTURE;
  };
  // Shared, since the thread may outlive the wait.
  auto C = std::make_shared<Call>(
      HostContext{&Plugin, Msg, Opts, LLVM_VERSION_STRING});
  // A plugin reads files, of which some may not answer.
  FileAccess Access =
      runFileTask(("plugin " + Twine(Plugin.name)).str(), [C, Probe] {
        C->Status = Probe->probe(&C->Params.raw(), uint32_t(MaxProbe.count()),
                                 C->Text, sizeof(C->Text));
      });
  Why = Access == FileAccess::Done ? sanitizedLine(C->Text)
                                   : "it has not answered within a second";
  return Access == FileAccess::Done && C->Status == DTLTO_OK;
}

Expected<AutoChoice> dtlto::chooseAutoPlugin(
    const JobOptions &Opts, Messages &Msg,
    function_ref<Expected<const dtlto_plugin *>(StringRef)> Load) {
  AutoChoice Choice;
  std::string Others;
  for (StringRef Name : Candidates) {
    Choice.Name = Name;
    const bool IsLast = Name == std::end(Candidates)[-1];
    std::string Why;
    if (Error E = Load(Name).moveInto(Choice.Plugin)) {
      if (IsLast)
        return std::move(E);
      Why = toString(std::move(E));
    } else if (bool HasFarm = probe(*Choice.Plugin, Opts, Msg, Why);
               HasFarm || IsLast) {
      Choice.TakesArgs = HasFarm;
      Choice.Why = "'auto' is '" + Name.str() + "': " + Why + Others;
      break;
    }
    Others += "; not '" + Name.str() + "': " + Why;
  }
  return Choice;
}
