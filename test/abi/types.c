/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A function for each type of the header, so that a library's debug info has
 * all of them. check-baseline.py compares that of several versions. */

#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/probe.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"

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
USE(dtlto_session_params)
USE(dtlto_session_config)
USE(dtlto_plugin)
USE(dtlto_batch)
USE(dtlto_bundle_span)
USE(dtlto_bundle_spans)
USE(dtlto_bundle)
USE(dtlto_local_codegen)
USE(dtlto_numbers)
USE(dtlto_probe)
USE(dtlto_refuted)
USE(dtlto_worker_status)
USE(dtlto_status)
USE(dtlto_store_params)
USE(dtlto_store)
USE(dtlto_argument)
USE(dtlto_variable)
USE(dtlto_description)
