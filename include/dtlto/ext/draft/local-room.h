/*===- dtlto/ext/draft/local-room.h - Room on this machine --------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_DRAFT_LOCAL_ROOM_H
#define DTLTO_EXT_DRAFT_LOCAL_ROOM_H

#include "../../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draft extension of the host: room on this machine, for a plugin that compiles
 * locally in processes of its own. The user limits their memory
 * (--thinlto-dist-memory), and a build that runs several programs limits the
 * cores of each (GNU make's jobserver). run() of dtlto/ext/local-codegen.h
 * obeys both by itself. */
#define DTLTO_EXT_LOCAL_ROOM "dtlto.local-room.draft/1"

typedef struct dtlto_local_room {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Waits until there is room for an accepted job. One job may
   * always run, so the wait ends. Not from inside the plugin's own functions.
   * Returns DTLTO_OK, and leave() is due; or DTLTO_CANCELLED: the job is not
   * needed any more. */
  int32_t (*enter)(dtlto_host_context *context, uint64_t job);
  /* [any-thread] The job takes no room any more; job_done() implies it. `bytes`
   * is its peak memory, without what its processes share with others, for the
   * next link's estimate; 0: not known. */
  void (*leave)(dtlto_host_context *context, uint64_t job, uint64_t bytes);
} dtlto_local_room;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_DRAFT_LOCAL_ROOM_H */
