/*===- dtlto/ext/status.h - The machines of a DBS -----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_STATUS_H
#define DTLTO_EXT_STATUS_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: the machines of its DBS, for display
 * (--thinlto-dist-status). */
#define DTLTO_EXT_STATUS "dtlto.status/1"

/* Whether a worker takes jobs. Treat an unknown value as DTLTO_WORKER_UNKNOWN.
 */
enum {
  DTLTO_WORKER_UNKNOWN = 0, /* was not asked, or cannot be asked */
  DTLTO_WORKER_UP = 1,      /* takes jobs of a link like this one */
  DTLTO_WORKER_OUT = 2      /* takes none; dtlto_worker_status.why says why */
};

/* One machine of the DBS. Borrowed until the function that gets it returns. An
 * unknown number is UINT32_MAX, an unknown text null. */
typedef struct dtlto_worker_status {
  uint32_t size;
  uint32_t state;         /* DTLTO_WORKER_... */
  const char *name;       /* as in job_state(); never null */
  const char *compiler;   /* e.g. "clang 19.1.7" */
  const char *why;        /* why it is out, one line */
  uint32_t slots;         /* jobs that it runs at the same time */
  uint32_t busy;          /* slots in use, by any client */
  uint32_t load_permille; /* of its cores: 1000 if all are busy, or more */
  uint32_t reserved;      /* 0 */
} dtlto_worker_status;

typedef struct dtlto_status {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] In an open session, with or without jobs: asks the DBS, and
   * calls worker(context, ...) once for each of its machines, on the calling
   * thread, in the order of the user's own list if there is one. May wait for
   * the network, but returns within `timeout_ms`; a machine that has not
   * answered by then is OUT. Returns DTLTO_OK, or an error after having logged
   * the reason with DTLTO_LOG_WARNING: the DBS as a whole cannot be asked. */
  int32_t (*query)(dtlto_session *session, uint32_t timeout_ms,
                   void (*worker)(void *context,
                                  const dtlto_worker_status *status),
                   void *context);
} dtlto_status;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_STATUS_H */
