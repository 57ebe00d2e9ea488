//===- DistccPlugin.cpp - Runs jobs on stock distccds ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A distcc client in the linker's process. Jobs go from memory to a distccd and
// its clang, and objects come back into memory; nothing is installed there but
// distcc and the clang of the linker's LLVM version. README.md is for users;
// Request.h and Reply.h have the protocol, Client.h how it all moves.
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Entry.h"
#include <cstdlib>
#include <system_error>

using namespace dtlto::distcc;

using Entry = dtlto::Entry<Client>;

static int32_t openSession(const dtlto_host *TheHost,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  auto TheLog = std::make_unique<Log>(*TheHost);
  Settings S;
  std::string Error;
  SettingsStatus Status = readSettings(*Params, ::getenv, S, Error);
  if (!S.Fallback)
    if (auto *Policy = static_cast<const dtlto_fallback *>(
            TheHost->extension(TheHost->context, DTLTO_EXT_FALLBACK)))
      Policy->forbid(TheHost->context, "DISTCC_FALLBACK is 0");
  if (Status == SettingsStatus::Wrong) {
    TheLog->error(Error);
    return DTLTO_ERROR_CALLER;
  }
  std::string LogError;
  if (!TheLog->open(S.LogFile, S.Verbose, LogError))
    TheLog->warning(LogError);
  for (const std::string &Note : S.Notes)
    TheLog->note(Note);
  if (Status == SettingsStatus::NoHosts) {
    TheLog->error(Error);
    return DTLTO_ERROR_INFRASTRUCTURE;
  }

  const auto *Codegen = static_cast<const dtlto_local_codegen *>(
      TheHost->extension(TheHost->context, DTLTO_EXT_LOCAL_CODEGEN));
  const auto *Bundles = static_cast<const dtlto_bundle *>(
      TheHost->extension(TheHost->context, DTLTO_EXT_BUNDLE));
  const auto *Needs = static_cast<const dtlto_needs *>(
      TheHost->extension(TheHost->context, DTLTO_EXT_NEEDS));
  if (!Needs || (S.isWorker() && !Bundles)) {
    TheLog->error("this linker's dtlto is too old for the plugin");
    return DTLTO_ERROR_CALLER;
  }
  Needs->set(TheHost->context,
             S.isWorker()
                 ? DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS | DTLTO_PART_CONFIG
                 : DTLTO_PART_INPUTS | DTLTO_PART_ARGS);
  try {
    *Session = Entry::session(std::make_unique<Client>(
        *TheHost, *Params, std::move(S), std::move(TheLog), Codegen, Bundles));
  } catch (const std::system_error &E) {
    Log(*TheHost).error(std::string("can't start: ") + E.what());
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  return DTLTO_OK;
}

const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    DTLTO_PART_INPUTS, // and what the compiler reads: see openSession()
    "distcc",
    DTLTO_VERSION,
    openSession,
    Entry::submit,
    Entry::cancel,
    Entry::load,
    Entry::close,
    Entry::extension};
