/*===- dtlto/ext/refuted.h - Results that were wrong --------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_REFUTED_H
#define DTLTO_EXT_REFUTED_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: the host reports which of its results were wrong, so
 * that the plugin can avoid a worker that fails where others do not. */
#define DTLTO_EXT_REFUTED "dtlto.refuted/1"

typedef struct dtlto_refuted {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] The result of `job`, which had its job_done(), was wrong.
   * `status` and `worker` are those of the result; `worker` may be null, and is
   * borrowed until the call returns. DTLTO_ERROR_COMPILER: the module compiles
   * on another worker or in the linker. DTLTO_OK: the object was refused, or
   * differs from the object that the linker made. Must not wait. One wrong
   * result may be an accident; avoid a worker with two for a while. */
  void (*result)(dtlto_session *session, uint64_t job, const char *worker,
                 int32_t status);
} dtlto_refuted;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_REFUTED_H */
