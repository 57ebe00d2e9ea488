/*===- dtlto/ext/probe.h - Whether there is a farm ----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_PROBE_H
#define DTLTO_EXT_PROBE_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: whether this user's settings name a farm
 * (--thinlto-dist-plugin=auto). */
#define DTLTO_EXT_PROBE "dtlto.probe/1"

typedef struct dtlto_probe {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Without a session, before configure(). Returns DTLTO_OK if
   * the arguments, the environment and the files of this machine name a farm;
   * otherwise an error. Writes one line to `why`, truncated to `why_size` bytes
   * with its NUL: where the farm is named, or why there is none. Contacts no
   * other machine, and returns within `timeout_ms`. Keeps no state. */
  int32_t (*probe)(const dtlto_session_params *params, uint32_t timeout_ms,
                   char *why, uint64_t why_size);
} dtlto_probe;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_PROBE_H */
