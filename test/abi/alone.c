/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The headers don't depend on earlier includes, and may be included twice.
 * Compiled as C and as C++. */

#include "dtlto/PluginAPI.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/probe.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"

#include "dtlto/PluginAPI.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/probe.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"
