/*===- dtlto/ext/draft/store.h - A store of bytes in the DBS ------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_DRAFT_STORE_H
#define DTLTO_EXT_DRAFT_STORE_H

#include "../../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draft extension of the plugin: a store of bytes in the DBS, where a later
 * link finds them, also on another machine. The host keeps optimised modules
 * there (--thinlto-dist-keep-ir=farm). */
#define DTLTO_EXT_STORE "dtlto.store.draft/1"

/* Both functions are [any-thread], and may wait for the network, but return
 * within `timeout_ms`. The host calls them while a session with jobs is open,
 * and calls close() only after they have returned. A `key` has 32 bytes. They
 * return DTLTO_OK; DTLTO_CANCELLED if the plugin has given up
 * (DTLTO_LOG_ERROR); or an error after having written one line with the reason
 * to `why`, truncated to `why_size` bytes with its NUL. After an error the host
 * makes no more calls of that kind. */
typedef struct dtlto_store {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* What any client last put under `key`; the host checks it like a worker's
   * result. The host becomes the owner of *bytes and may release them after
   * close(). They are empty if there is nothing under the key, or more than
   * `max_bytes`. */
  int32_t (*get)(dtlto_session *session, const uint8_t *key, uint64_t max_bytes,
                 uint32_t timeout_ms, dtlto_buffer *bytes, char *why,
                 uint64_t why_size);
  /* Replaces what is under `key`. The store may evict it at any time. `bytes`
   * are borrowed until the call returns; empty bytes remove the entry. */
  int32_t (*put)(dtlto_session *session, const uint8_t *key, dtlto_span bytes,
                 uint32_t timeout_ms, char *why, uint64_t why_size);
} dtlto_store;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_DRAFT_STORE_H */
