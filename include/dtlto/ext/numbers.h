/*===- dtlto/ext/numbers.h - Counters for the link's report -------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_NUMBERS_H
#define DTLTO_EXT_NUMBERS_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the host: counters of the plugin or its DBS, such as cache hits,
 * bytes on the network, or times by a worker's clock. They are shown in reports
 * (--thinlto-dist-report) and decide nothing. */
#define DTLTO_EXT_NUMBERS "dtlto.numbers/1"

/* The unit of a number. Treat an unknown unit as DTLTO_UNIT_COUNT. */
enum {
  DTLTO_UNIT_COUNT = 0,
  DTLTO_UNIT_BYTES = 1,
  DTLTO_UNIT_MICROSECONDS = 2
};

typedef struct dtlto_numbers {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Sets a number of the session; replaces an earlier value of the
   * same name. `unit` is DTLTO_UNIT_.... `name` is a few words, lower case,
   * copied before the call returns. The host truncates long names, and shows
   * the first names if there are too many. Also allowed in close(). */
  void (*session)(dtlto_host_context *context, const char *name, uint32_t unit,
                  uint64_t value);
  /* [any-thread] The same for an accepted job. Ignored after its job_done(). */
  void (*job)(dtlto_host_context *context, uint64_t job, const char *name,
              uint32_t unit, uint64_t value);
} dtlto_numbers;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_NUMBERS_H */
