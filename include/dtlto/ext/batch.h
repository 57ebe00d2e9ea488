/*===- dtlto/ext/batch.h - The end of a batch of jobs -------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_BATCH_H
#define DTLTO_EXT_BATCH_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: the host announces that the plugin has all jobs that
 * are ready now, for a DBS that sends many jobs at a time. */
#define DTLTO_EXT_BATCH "dtlto.batch/1"

typedef struct dtlto_batch {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] No more jobs follow until a job ends or is cancelled, or the
   * plugin reports room after a BUSY, or the linker takes over a waiting job.
   * Only a retry or a duplicate may come at any time. Called after each series
   * of submit(), even a series of one. Must not wait. */
  void (*complete)(dtlto_session *session);
} dtlto_batch;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_BATCH_H */
