/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A function for each type of the header, so that a library's debug info has
 * all of them: check-baseline.py compares that of several versions. */

#include "dtlto/PluginAPI.h"

#define USE(TYPE)                                                              \
  __attribute__((visibility("default"))) void use_##TYPE(TYPE *X);             \
  void use_##TYPE(TYPE *X) { (void)X; }

USE(dtlto_span)
USE(dtlto_buffer)
USE(dtlto_input)
USE(dtlto_job)
USE(dtlto_result)
USE(dtlto_load)
USE(dtlto_host)
USE(dtlto_local_codegen)
USE(dtlto_session_params)
USE(dtlto_plugin)
#if DTLTO_ABI_MINOR >= 1
USE(dtlto_fallback)
USE(dtlto_needs)
USE(dtlto_bundle)
#endif
#if DTLTO_ABI_MINOR >= 3
USE(dtlto_worker_status)
USE(dtlto_status)
#endif
#if DTLTO_ABI_MINOR >= 4
USE(dtlto_bundle_span)
USE(dtlto_bundle_spans)
USE(dtlto_bundle_2)
USE(dtlto_check)
USE(dtlto_refuted)
USE(dtlto_batch)
USE(dtlto_store)
#endif
