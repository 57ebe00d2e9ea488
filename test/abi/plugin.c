/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A vendor's code in the common subset of C and C++: the functions with the
 * header's signatures, and the exported constant. If a signature changes, this
 * no longer compiles. */

#include "dtlto/PluginAPI.h"

static void configure(const dtlto_session_params *Params,
                      dtlto_session_config *Config) {
  (void)Params;
  Config->needs = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
}

static int32_t openSession(const dtlto_host *Host,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  Host->log(Host->context, DTLTO_LOG_NOTE, Params->llvm_version);
  *Session = 0;
  return DTLTO_OK;
}

static int32_t submit(dtlto_session *Session, const dtlto_job *Job) {
  (void)Session;
  (void)Job;
  return DTLTO_BUSY;
}

static void cancel(dtlto_session *Session, uint64_t Job) {
  (void)Session;
  (void)Job;
}

static int32_t load(dtlto_session *Session, dtlto_load *Load) {
  (void)Session;
  Load->slots = UINT32_MAX;
  Load->expected_wait_ms = UINT64_MAX;
  return DTLTO_OK;
}

static void closeSession(dtlto_session *Session) { (void)Session; }

static const void *extension(const char *Id) {
  (void)Id;
  return 0;
}

const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0,
    "example",
    "1.0",
    configure,
    openSession,
    submit,
    cancel,
    load,
    closeSession,
    extension,
};
