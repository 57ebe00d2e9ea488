/*===- dtlto/ext/store.h - A store of bytes that machines share ---*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_STORE_H
#define DTLTO_EXT_STORE_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: a store of bytes under keys, on a server that the
 * machines of a team share (--thinlto-dist-remote-cache=URL). It works without
 * a session, next to any other plugin. The host loads the library
 * libdtlto_store_SCHEME.so for a URL that begins with `SCHEME://`; the schemes
 * https, grpcs and rediss have the library of http, grpc and redis. */
#define DTLTO_EXT_STORE "dtlto.store/1"

/* The plugin's side of one store; opaque to the host. */
typedef struct dtlto_store_client dtlto_store_client;

/* Borrowed until open() returns. */
typedef struct dtlto_store_params {
  uint32_t size;
  uint32_t num_args;
  /* As the user gave it, without credentials. Empty: the store of the DBS that
   * `args` name, which are then those of the plugin. */
  const char *url;
  const char *const *args; /* --thinlto-dist-remote-cache-arg=..., in order */
  uint32_t max_calls;      /* get() and put() at the same time, at most */
  uint32_t reserved;       /* 0 */
} dtlto_store_params;

/* Functions return DTLTO_OK or an error. After an error they have written one
 * line with the reason to `why`, truncated to `why_size` bytes with its NUL. It
 * names the server, and contains no credentials. A `key` has 32 bytes. */
typedef struct dtlto_store {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Reads arguments, environment and files of this machine, and
   * sets *client. Contacts no server. DTLTO_ERROR_CALLER: a wrong argument or
   * URL, which fails the link. */
  int32_t (*open)(const dtlto_store_params *params, dtlto_store_client **client,
                  char *why, uint64_t why_size);
  /* [any-thread] Returns what any client last put under `key`, within
   * `timeout_ms`. The host checks it like a worker's result, becomes the owner
   * of *bytes, and releases them before close(). They are empty if there is
   * nothing under the key, or more than `max_bytes`. An error means that the
   * store is unusable: the host calls get() no more. */
  int32_t (*get)(dtlto_store_client *client, const uint8_t *key,
                 uint64_t max_bytes, uint32_t timeout_ms, dtlto_buffer *bytes,
                 char *why, uint64_t why_size);
  /* [any-thread] Replaces what is under `key`, within `timeout_ms`. The store
   * may evict it at any time. `bytes` are borrowed until the call returns.
   * After an error the host calls put() no more. */
  int32_t (*put)(dtlto_store_client *client, const uint8_t *key,
                 dtlto_span bytes, uint32_t timeout_ms, char *why,
                 uint64_t why_size);
  /* [any-thread] Ends the store. No call is under way, and none follows. */
  void (*close)(dtlto_store_client *client);
} dtlto_store;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_STORE_H */
