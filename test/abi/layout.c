/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The layout of ABI 1 where pointers have 64 bits: each struct's size, each
 * field's offset and type, in the header's order. Compiled, never run.
 *
 * A new minor version only appends lines and raises sizes; a released FIELD
 * line never changes. Draft extensions are excluded. See docs/ABI-CHANGELOG.md.
 * The test compiles with -Wpadded, so there is no padding: a field that is only
 * in the header changes the struct's size. */

#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/probe.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"

#include <stddef.h>

#define SIZE(STRUCT, BYTES)                                                    \
  _Static_assert(sizeof(STRUCT) == (BYTES), "size of " #STRUCT)

#define FIELD(STRUCT, NAME, TYPE, OFFSET)                                      \
  _Static_assert(offsetof(STRUCT, NAME) == (OFFSET),                           \
                 "offset of " #STRUCT "." #NAME);                              \
  _Static_assert(_Generic(&((STRUCT *)0)->NAME, TYPE * : 1, default : 0),      \
                 "type of " #STRUCT "." #NAME)

/* Names for types that can't be followed by a `*`. */
typedef const char *text;
typedef uint8_t bytes32[32];
typedef void (*release_fn)(void *, const void *, uint64_t);
typedef void (*log_fn)(dtlto_host_context *, uint32_t, const char *);
typedef void (*job_state_fn)(dtlto_host_context *, uint64_t, uint32_t,
                             const char *);
typedef void (*job_done_fn)(dtlto_host_context *, uint64_t,
                            const dtlto_result *);
typedef void (*load_changed_fn)(dtlto_host_context *);
typedef const void *(*host_extension_fn)(dtlto_host_context *, const char *);
typedef int32_t (*run_fn)(dtlto_host_context *, uint64_t, dtlto_result *);
typedef int32_t (*make_bundle_fn)(dtlto_host_context *, uint64_t,
                                  dtlto_bundle_spans *);
typedef void (*release_spans_fn)(void *);
typedef int32_t (*check_fn)(dtlto_host_context *, uint64_t, dtlto_span, char *,
                            uint64_t);
typedef void (*configure_fn)(const dtlto_session_params *,
                             dtlto_session_config *);
typedef int32_t (*open_fn)(const dtlto_host *, const dtlto_session_params *,
                           dtlto_session **);
typedef int32_t (*submit_fn)(dtlto_session *, const dtlto_job *);
typedef void (*cancel_fn)(dtlto_session *, uint64_t);
typedef int32_t (*load_fn)(dtlto_session *, dtlto_load *);
typedef void (*close_fn)(dtlto_session *);
typedef const void *(*extension_fn)(const char *);
typedef int32_t (*query_fn)(dtlto_session *, uint32_t,
                            void (*)(void *, const dtlto_worker_status *),
                            void *);
typedef void (*session_number_fn)(dtlto_host_context *, text, uint32_t,
                                  uint64_t);
typedef void (*job_number_fn)(dtlto_host_context *, uint64_t, text, uint32_t,
                              uint64_t);
typedef int32_t (*probe_fn)(const dtlto_session_params *, uint32_t, char *,
                            uint64_t);
typedef int32_t (*open_store_fn)(const dtlto_store_params *,
                                 dtlto_store_client **, char *, uint64_t);
typedef int32_t (*get_fn)(dtlto_store_client *, const uint8_t *, uint64_t,
                          uint32_t, dtlto_buffer *, char *, uint64_t);
typedef int32_t (*put_fn)(dtlto_store_client *, const uint8_t *, dtlto_span,
                          uint32_t, char *, uint64_t);
typedef void (*close_store_fn)(dtlto_store_client *);
typedef void (*refuted_fn)(dtlto_session *, uint64_t, text, int32_t);
typedef void (*complete_fn)(dtlto_session *);

SIZE(void *, 8);

FIELD(dtlto_span, data, const void *, 0);
FIELD(dtlto_span, size, uint64_t, 8);
SIZE(dtlto_span, 16);

FIELD(dtlto_buffer, data, const void *, 0);
FIELD(dtlto_buffer, size, uint64_t, 8);
FIELD(dtlto_buffer, owner, void *, 16);
FIELD(dtlto_buffer, release, release_fn, 24);
SIZE(dtlto_buffer, 32);

FIELD(dtlto_input, size, uint32_t, 0);
FIELD(dtlto_input, role, uint32_t, 4);
FIELD(dtlto_input, path, text, 8);
FIELD(dtlto_input, bytes, dtlto_span, 16);
FIELD(dtlto_input, digest, bytes32, 32);
SIZE(dtlto_input, 64);

FIELD(dtlto_job, size, uint32_t, 0);
FIELD(dtlto_job, fields, uint32_t, 4);
FIELD(dtlto_job, id, uint64_t, 8);
FIELD(dtlto_job, name, text, 16);
FIELD(dtlto_job, triple, text, 24);
FIELD(dtlto_job, cost, uint64_t, 32);
FIELD(dtlto_job, inputs, const dtlto_input *const *, 40);
FIELD(dtlto_job, args, text const *, 48);
FIELD(dtlto_job, num_inputs, uint32_t, 56);
FIELD(dtlto_job, num_args, uint32_t, 60);
FIELD(dtlto_job, output, text, 64);
FIELD(dtlto_job, config, text, 72);
FIELD(dtlto_job, avoid, text, 80);
SIZE(dtlto_job, 88);

FIELD(dtlto_result, size, uint32_t, 0);
FIELD(dtlto_result, status, int32_t, 4);
FIELD(dtlto_result, object, dtlto_buffer, 8);
FIELD(dtlto_result, message, text, 40);
FIELD(dtlto_result, worker, text, 48);
SIZE(dtlto_result, 56);

FIELD(dtlto_load, size, uint32_t, 0);
FIELD(dtlto_load, slots, uint32_t, 4);
FIELD(dtlto_load, free, uint32_t, 8);
FIELD(dtlto_load, queued, uint32_t, 12);
FIELD(dtlto_load, workers, uint32_t, 16);
FIELD(dtlto_load, local, uint32_t, 20);
FIELD(dtlto_load, expected_wait_ms, uint64_t, 24);
SIZE(dtlto_load, 32);

FIELD(dtlto_host, size, uint32_t, 0);
FIELD(dtlto_host, abi_major, uint32_t, 4);
FIELD(dtlto_host, abi_minor, uint32_t, 8);
FIELD(dtlto_host, reserved, uint32_t, 12);
FIELD(dtlto_host, name, text, 16);
FIELD(dtlto_host, version, text, 24);
FIELD(dtlto_host, context, dtlto_host_context *, 32);
FIELD(dtlto_host, log, log_fn, 40);
FIELD(dtlto_host, job_state, job_state_fn, 48);
FIELD(dtlto_host, job_done, job_done_fn, 56);
FIELD(dtlto_host, load_changed, load_changed_fn, 64);
FIELD(dtlto_host, check_result, check_fn, 72);
FIELD(dtlto_host, extension, host_extension_fn, 80);
SIZE(dtlto_host, 88);

FIELD(dtlto_local_codegen, size, uint32_t, 0);
FIELD(dtlto_local_codegen, slots, uint32_t, 4);
FIELD(dtlto_local_codegen, run, run_fn, 8);
SIZE(dtlto_local_codegen, 16);

FIELD(dtlto_bundle, size, uint32_t, 0);
FIELD(dtlto_bundle, reserved, uint32_t, 4);
FIELD(dtlto_bundle, make, make_bundle_fn, 8);
SIZE(dtlto_bundle, 16);

FIELD(dtlto_session_params, size, uint32_t, 0);
FIELD(dtlto_session_params, num_args, uint32_t, 4);
FIELD(dtlto_session_params, args, text const *, 8);
FIELD(dtlto_session_params, llvm_version, text, 16);
FIELD(dtlto_session_params, linker, text, 24);
FIELD(dtlto_session_params, output, text, 32);
FIELD(dtlto_session_params, num_jobs, uint64_t, 40);
FIELD(dtlto_session_params, job_timeout_s, uint32_t, 48);
FIELD(dtlto_session_params, verbose, uint32_t, 52);
FIELD(dtlto_session_params, result_bytes, uint64_t, 56);
SIZE(dtlto_session_params, 64);

FIELD(dtlto_session_config, size, uint32_t, 0);
FIELD(dtlto_session_config, needs, uint32_t, 4);
FIELD(dtlto_session_config, no_fallback, text, 8);
SIZE(dtlto_session_config, 16);

FIELD(dtlto_plugin, size, uint32_t, 0);
FIELD(dtlto_plugin, abi_major, uint32_t, 4);
FIELD(dtlto_plugin, abi_minor, uint32_t, 8);
FIELD(dtlto_plugin, reserved, uint32_t, 12);
FIELD(dtlto_plugin, name, text, 16);
FIELD(dtlto_plugin, version, text, 24);
FIELD(dtlto_plugin, configure, configure_fn, 32);
FIELD(dtlto_plugin, open, open_fn, 40);
FIELD(dtlto_plugin, submit, submit_fn, 48);
FIELD(dtlto_plugin, cancel, cancel_fn, 56);
FIELD(dtlto_plugin, load, load_fn, 64);
FIELD(dtlto_plugin, close, close_fn, 72);
FIELD(dtlto_plugin, extension, extension_fn, 80);
SIZE(dtlto_plugin, 88);

FIELD(dtlto_worker_status, size, uint32_t, 0);
FIELD(dtlto_worker_status, state, uint32_t, 4);
FIELD(dtlto_worker_status, name, text, 8);
FIELD(dtlto_worker_status, compiler, text, 16);
FIELD(dtlto_worker_status, why, text, 24);
FIELD(dtlto_worker_status, slots, uint32_t, 32);
FIELD(dtlto_worker_status, busy, uint32_t, 36);
FIELD(dtlto_worker_status, load_permille, uint32_t, 40);
FIELD(dtlto_worker_status, reserved, uint32_t, 44);
SIZE(dtlto_worker_status, 48);

FIELD(dtlto_status, size, uint32_t, 0);
FIELD(dtlto_status, reserved, uint32_t, 4);
FIELD(dtlto_status, query, query_fn, 8);
SIZE(dtlto_status, 16);

FIELD(dtlto_bundle_span, bytes, dtlto_span, 0);
FIELD(dtlto_bundle_span, input, const dtlto_input *, 16);
SIZE(dtlto_bundle_span, 24);

FIELD(dtlto_bundle_spans, size, uint32_t, 0);
FIELD(dtlto_bundle_spans, num_spans, uint32_t, 4);
FIELD(dtlto_bundle_spans, spans, const dtlto_bundle_span *, 8);
FIELD(dtlto_bundle_spans, owner, void *, 16);
FIELD(dtlto_bundle_spans, release, release_spans_fn, 24);
SIZE(dtlto_bundle_spans, 32);

FIELD(dtlto_numbers, size, uint32_t, 0);
FIELD(dtlto_numbers, reserved, uint32_t, 4);
FIELD(dtlto_numbers, session, session_number_fn, 8);
FIELD(dtlto_numbers, job, job_number_fn, 16);
SIZE(dtlto_numbers, 24);

FIELD(dtlto_probe, size, uint32_t, 0);
FIELD(dtlto_probe, reserved, uint32_t, 4);
FIELD(dtlto_probe, probe, probe_fn, 8);
SIZE(dtlto_probe, 16);

FIELD(dtlto_store_params, size, uint32_t, 0);
FIELD(dtlto_store_params, num_args, uint32_t, 4);
FIELD(dtlto_store_params, url, text, 8);
FIELD(dtlto_store_params, args, const char *const *, 16);
FIELD(dtlto_store_params, max_calls, uint32_t, 24);
FIELD(dtlto_store_params, reserved, uint32_t, 28);
SIZE(dtlto_store_params, 32);

FIELD(dtlto_store, size, uint32_t, 0);
FIELD(dtlto_store, reserved, uint32_t, 4);
FIELD(dtlto_store, open, open_store_fn, 8);
FIELD(dtlto_store, get, get_fn, 16);
FIELD(dtlto_store, put, put_fn, 24);
FIELD(dtlto_store, close, close_store_fn, 32);
SIZE(dtlto_store, 40);

FIELD(dtlto_refuted, size, uint32_t, 0);
FIELD(dtlto_refuted, reserved, uint32_t, 4);
FIELD(dtlto_refuted, result, refuted_fn, 8);
SIZE(dtlto_refuted, 16);

FIELD(dtlto_batch, size, uint32_t, 0);
FIELD(dtlto_batch, reserved, uint32_t, 4);
FIELD(dtlto_batch, complete, complete_fn, 8);
SIZE(dtlto_batch, 16);

FIELD(dtlto_argument, size, uint32_t, 0);
FIELD(dtlto_argument, kind, uint32_t, 4);
FIELD(dtlto_argument, name, text, 8);
FIELD(dtlto_argument, value, text, 16);
FIELD(dtlto_argument, default_value, text, 24);
FIELD(dtlto_argument, help, text, 32);
FIELD(dtlto_argument, min, uint64_t, 40);
FIELD(dtlto_argument, max, uint64_t, 48);
FIELD(dtlto_argument, choices, const char *const *, 56);
FIELD(dtlto_argument, num_choices, uint32_t, 64);
FIELD(dtlto_argument, reserved, uint32_t, 68);
SIZE(dtlto_argument, 72);

FIELD(dtlto_variable, size, uint32_t, 0);
FIELD(dtlto_variable, reserved, uint32_t, 4);
FIELD(dtlto_variable, name, text, 8);
FIELD(dtlto_variable, help, text, 16);
SIZE(dtlto_variable, 24);

FIELD(dtlto_description, size, uint32_t, 0);
FIELD(dtlto_description, reserved, uint32_t, 4);
FIELD(dtlto_description, summary, text, 8);
FIELD(dtlto_description, vendor, text, 16);
FIELD(dtlto_description, reports, text, 24);
FIELD(dtlto_description, arguments, const dtlto_argument *const *, 32);
FIELD(dtlto_description, variables, const dtlto_variable *const *, 40);
FIELD(dtlto_description, num_arguments, uint32_t, 48);
FIELD(dtlto_description, num_variables, uint32_t, 52);
SIZE(dtlto_description, 56);
