//===- IceccPlugin.cpp - Runs jobs on an icecream cluster -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An icecream client in the linker's process. Jobs go from memory through the
// local iceccd's scheduler to a node, and objects come back into memory;
// nothing is installed there but icecream. The compiler is our worker, which
// nodes are sent once. README.md is for users; Client.h and RemoteJob.h have
// how it moves.
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Entry.h"
#include "Text.h"
#include <cstdlib>
#include <dlfcn.h>
#include <system_error>

using namespace dtlto::icecc;

using Entry = dtlto::Entry<Client>;

/// Where this file is.
static std::string pluginFolder() {
  Dl_info Info;
  if (!dladdr(&dtlto_plugin_entry, &Info) || !Info.dli_fname)
    return ".";
  std::string File = Info.dli_fname;
  size_t Slash = File.rfind('/');
  return Slash == std::string::npos ? "." : File.substr(0, Slash);
}

static int32_t openSession(const dtlto_host *TheHost,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  auto TheLog = std::make_unique<Log>(*TheHost);
  Settings S;
  std::string Error;
  if (!readSettings(*Params, ::getenv, pluginFolder(), S, Error)) {
    TheLog->error(Error);
    return DTLTO_ERROR_CALLER;
  }
  const auto *Bundler = static_cast<const dtlto_bundle *>(
      TheHost->extension(TheHost->context, DTLTO_EXT_BUNDLE));
  if (!Bundler) {
    TheLog->error("this linker's dtlto is too old for the plugin: it has "
                  "no " DTLTO_EXT_BUNDLE);
    return DTLTO_ERROR_CALLER;
  }
  if (!TheLog->open(S.LogFile, S.Level, Error))
    TheLog->warning(Error);
  for (const std::string &Note : S.Notes)
    TheLog->note(Note);
  if (S.Environments.empty())
    if (std::string Why = checkWorker(S.Worker); !Why.empty()) {
      TheLog->error("the worker " + dtlto::quote(S.Worker) +
                    " can't be used: " + Why +
                    "; name dtlto-codegen-static with "
                    "--thinlto-dist-plugin-arg=worker=PATH or DTLTO_WORKER");
      return DTLTO_ERROR_INFRASTRUCTURE;
    }
  if (!haveDaemon(S, Error)) {
    TheLog->error("no local iceccd (" + Error +
                  "); start one, icecream's service, on this machine");
    return DTLTO_ERROR_INFRASTRUCTURE;
  }

  const auto *Codegen = static_cast<const dtlto_local_codegen *>(
      TheHost->extension(TheHost->context, DTLTO_EXT_LOCAL_CODEGEN));
  try {
    *Session = Entry::session(std::make_unique<Client>(
        *TheHost, *Params, std::move(S), std::move(TheLog), *Bundler, Codegen));
  } catch (const std::system_error &E) {
    Log(*TheHost).error(std::string("can't start a thread: ") + E.what());
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  return DTLTO_OK;
}

const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS | DTLTO_PART_CONFIG,
    "icecc",
    DTLTO_VERSION,
    openSession,
    Entry::submit,
    Entry::cancel,
    Entry::load,
    Entry::close,
    Entry::extension};
