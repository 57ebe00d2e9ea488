/*===- dtlto/ext/bundle.h - A job as one stream of bytes ----------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_BUNDLE_H
#define DTLTO_EXT_BUNDLE_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the host: a job as one stream of bytes that dtlto-codegen reads
 * (docs/BUNDLE.md), for a DBS that sends its workers one input. It comes as
 * spans, so that a DBS can send an input once and then refer to it. */
#define DTLTO_EXT_BUNDLE "dtlto.bundle/1"

/* A piece of a bundle. */
typedef struct dtlto_bundle_span {
  dtlto_span bytes; /* never empty */
  /* The input of the job whose bytes these are, all of them and at the same
   * address. Null: headers, the manifest or padding. */
  const dtlto_input *input;
} dtlto_bundle_span;

/* The spans, which make the stream when they are concatenated in this order.
 * The array, and spans without an input, are borrowed until release(owner),
 * which is called once, on any thread, also after job_done(). Spans of inputs
 * live as long as those of dtlto_job. */
typedef struct dtlto_bundle_spans {
  uint32_t size;
  uint32_t num_spans;
  const dtlto_bundle_span *spans;
  void *owner;                  /* opaque; passed to release */
  void (*release)(void *owner); /* null: nothing to do */
} dtlto_bundle_spans;

typedef struct dtlto_bundle {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Makes the bundle of an accepted job that has DTLTO_JOB_CONFIG
   * and _DIGESTS. Fills in *bundle, whose `size` the caller has set. Returns
   * DTLTO_OK, or an error, and then there is nothing to release. Equal jobs
   * have equal bundles. */
  int32_t (*make)(dtlto_host_context *context, uint64_t job,
                  dtlto_bundle_spans *bundle);
} dtlto_bundle;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_BUNDLE_H */
