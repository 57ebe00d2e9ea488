/*===- dtlto/ext/local-codegen.h - Code generation in the linker --*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_LOCAL_CODEGEN_H
#define DTLTO_EXT_LOCAL_CODEGEN_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the host: code generation in the linker's own process. */
#define DTLTO_EXT_LOCAL_CODEGEN "dtlto.local-codegen/1"

typedef struct dtlto_local_codegen {
  uint32_t size;
  /* How many calls of run() the user allows at the same time (--thinlto-jobs,
   * or the number of cores); at least 1. */
  uint32_t slots;
  /* [any-thread] Compiles an accepted job on the calling thread, exactly as
   * in-process ThinLTO does, and fills in `result`, whose `size` the caller has
   * set. Waits first until the user's limits for memory and the jobserver leave
   * room. Pass the result to job_done() unchanged (its strings live until
   * then), or release its object and pass a worker's result instead. Returns
   * result->status. Warnings reach the user as in a plain link, errors with
   * job_done(). */
  int32_t (*run)(dtlto_host_context *context, uint64_t job,
                 dtlto_result *result);
} dtlto_local_codegen;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_LOCAL_CODEGEN_H */
