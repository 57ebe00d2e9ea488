/* Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * CompileResult.h doesn't include the code that runs processes. */

#include "dtlto/sdk/CompileResult.h"

#include "dtlto/sdk/CompileResult.h"

#ifdef DTLTO_SDK_RUNJOB_H
#error "CompileResult.h includes RunJob.h"
#endif
