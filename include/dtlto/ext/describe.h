/*===- dtlto/ext/describe.h - What a plugin is --------------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_EXT_DESCRIBE_H
#define DTLTO_EXT_DESCRIBE_H

#include "../PluginAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extension of the plugin: a dtlto_description of it, its arguments and its
 * environment, for display and for the completion of command lines
 * (--thinlto-dist-plugin=list, --thinlto-dist-plugin-help). It is constant, and
 * valid as long as the library is loaded. The host reads it without a session.
 * Each text is one line of UTF-8, and may be null unless it is said to be
 * there. dtlto_plugin has the name and the version.
 *
 *   static const dtlto_argument queue = {
 *       .size = sizeof(queue), .name = "queue", .help = "The queue"};
 *   static const dtlto_argument *const arguments[] = {&queue};
 *   static const dtlto_description description = {
 *       .size = sizeof(description), .summary = "Runs jobs on X",
 *       .arguments = arguments, .num_arguments = 1};
 */
#define DTLTO_EXT_DESCRIBE "dtlto.describe/1"

/* What the value of an argument is. Treat an unknown value as
 * DTLTO_ARGUMENT_TEXT. */
enum {
  DTLTO_ARGUMENT_TEXT = 0,
  DTLTO_ARGUMENT_FILE = 1,   /* a file or a folder of this machine */
  DTLTO_ARGUMENT_NUMBER = 2, /* decimal, from `min` to `max` */
  DTLTO_ARGUMENT_CHOICE = 3, /* one of `choices` */
  DTLTO_ARGUMENT_SWITCH = 4  /* none: the argument is only a name */
};

/* An argument `NAME=VALUE`, or `NAME`. */
typedef struct dtlto_argument {
  uint32_t size;
  uint32_t kind;             /* DTLTO_ARGUMENT_... */
  const char *name;          /* never null; unique */
  const char *value;         /* what it is, e.g. "PATH" or "SECONDS" */
  const char *default_value; /* e.g. "60"; null if there is none */
  const char *help;          /* never null */
  uint64_t min;              /* of a number; otherwise 0 */
  uint64_t max;
  /* The values of a choice. Of another kind: words that are valid as well, or
   * that are likely. */
  const char *const *choices;
  uint32_t num_choices;
  uint32_t reserved; /* 0 */
} dtlto_argument;

/* A variable of the environment that the plugin reads. */
typedef struct dtlto_variable {
  uint32_t size;
  uint32_t reserved; /* 0 */
  const char *name;  /* never null; unique */
  const char *help;  /* never null */
} dtlto_variable;

typedef struct dtlto_description {
  uint32_t size;
  uint32_t reserved;   /* 0 */
  const char *summary; /* what it does, e.g. "Runs jobs on X"; never null */
  const char *vendor;  /* who made it */
  const char *reports; /* where to report a problem: a URL, or an address */
  const dtlto_argument *const *arguments;
  const dtlto_variable *const *variables;
  uint32_t num_arguments;
  uint32_t num_variables;
} dtlto_description;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_EXT_DESCRIBE_H */
