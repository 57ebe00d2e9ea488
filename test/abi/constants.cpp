// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of ABI 1: numbers and strings that are compiled into both sides. A
// released line never changes. C++, since C can't compare strings at compile
// time.

#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/probe.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"

static constexpr bool equal(const char *A, const char *B) {
  return *A == *B && (*A == '\0' || equal(A + 1, B + 1));
}

static_assert(DTLTO_ABI_MAJOR == 1, "");
static_assert(DTLTO_ABI_MINOR == 0, "");

static_assert(DTLTO_OK == 0, "");
static_assert(DTLTO_BUSY == 1, "");
static_assert(DTLTO_CANCELLED == 2, "");
static_assert(DTLTO_ERROR_CALLER == 16, "");
static_assert(DTLTO_ERROR_INFRASTRUCTURE == 17, "");
static_assert(DTLTO_ERROR_COMPILER == 18, "");

static_assert(DTLTO_ROLE_OTHER == 0, "");
static_assert(DTLTO_ROLE_PRIMARY == 1, "");
static_assert(DTLTO_ROLE_IMPORT == 2, "");
static_assert(DTLTO_ROLE_INDEX == 3, "");

static_assert(DTLTO_JOB_INPUTS == 1, "");
static_assert(DTLTO_JOB_ARGS == 2, "");
static_assert(DTLTO_JOB_DIGESTS == 4, "");
static_assert(DTLTO_JOB_CONFIG == 8, "");
static_assert(DTLTO_JOB_WHOLE_IMPORTS == 16, "");

static_assert(DTLTO_STATE_QUEUED == 0, "");
static_assert(DTLTO_STATE_SENDING == 1, "");
static_assert(DTLTO_STATE_RUNNING == 2, "");
static_assert(DTLTO_STATE_RECEIVING == 3, "");
static_assert(DTLTO_STATE_LOCAL == 4, "");

static_assert(DTLTO_WORKER_UNKNOWN == 0, "");
static_assert(DTLTO_WORKER_UP == 1, "");
static_assert(DTLTO_WORKER_OUT == 2, "");

static_assert(DTLTO_UNIT_COUNT == 0, "");
static_assert(DTLTO_UNIT_BYTES == 1, "");
static_assert(DTLTO_UNIT_MICROSECONDS == 2, "");

static_assert(DTLTO_LOG_DEBUG == 0, "");
static_assert(DTLTO_LOG_NOTE == 1, "");
static_assert(DTLTO_LOG_WARNING == 2, "");
static_assert(DTLTO_LOG_ERROR == 3, "");
static_assert(DTLTO_LOG_COMPILER == 4, "");

static_assert(equal(DTLTO_PLUGIN_SYMBOL, "dtlto_plugin_entry"), "");
static_assert(equal(DTLTO_EXT_LOCAL_CODEGEN, "dtlto.local-codegen/1"), "");
static_assert(equal(DTLTO_EXT_BUNDLE, "dtlto.bundle/1"), "");
static_assert(equal(DTLTO_EXT_NUMBERS, "dtlto.numbers/1"), "");
static_assert(equal(DTLTO_EXT_STATUS, "dtlto.status/1"), "");
static_assert(equal(DTLTO_EXT_PROBE, "dtlto.probe/1"), "");
static_assert(equal(DTLTO_EXT_STORE, "dtlto.store/1"), "");
static_assert(equal(DTLTO_EXT_REFUTED, "dtlto.refuted/1"), "");
static_assert(equal(DTLTO_EXT_BATCH, "dtlto.batch/1"), "");
static_assert(equal(DTLTO_EXT_DESCRIBE, "dtlto.describe/1"), "");

static_assert(DTLTO_ARGUMENT_TEXT == 0, "");
static_assert(DTLTO_ARGUMENT_FILE == 1, "");
static_assert(DTLTO_ARGUMENT_NUMBER == 2, "");
static_assert(DTLTO_ARGUMENT_CHOICE == 3, "");
static_assert(DTLTO_ARGUMENT_SWITCH == 4, "");
