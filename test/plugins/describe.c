// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes itself, correctly or as $DTLTO_TEST_DESCRIBE says.

#include "common.h"

#include "dtlto/ext/describe.h"

#define SIZE sizeof(dtlto_argument)
#define ESCAPE "\x1b[31mred\n\xff\t"

static const char *modes[] = {"fast", "slow"};
static const char *const all[] = {"all"};
static dtlto_argument a[] = {
    {SIZE, DTLTO_ARGUMENT_TEXT, "queue", "NAME", NULL, "The queue", 0, 0, NULL,
     0, 0},
    {SIZE, DTLTO_ARGUMENT_FILE, "log", "PATH", "x.log", "The log", 0, 0, NULL,
     0, 0},
    {SIZE, DTLTO_ARGUMENT_NUMBER, "jobs", "N", "all", "Jobs at a time", 1, 64,
     all, 1, 0},
    {SIZE, DTLTO_ARGUMENT_CHOICE, "mode", NULL, "fast", "How it runs", 0, 0,
     modes, 2, 0},
    {SIZE, DTLTO_ARGUMENT_SWITCH, "keep", NULL, NULL, "Keep files", 0, 0, NULL,
     0, 0},
    {SIZE, 1000, "later", NULL, NULL, "Of a later version", 0, 0, NULL, 0, 0}};
static dtlto_variable variable = {sizeof(variable), 0, "TEST_QUEUE",
                                  "Like queue="};
static const dtlto_argument *arguments[600] = {&a[0], &a[1], &a[2],
                                               &a[3], &a[4], &a[5]};
static const dtlto_variable *variables[600] = {&variable};
static dtlto_description description = {sizeof(description),
                                        0,
                                        "Tests descriptions",
                                        "Test Inc.",
                                        "https://example.com/bugs",
                                        arguments,
                                        variables,
                                        6,
                                        1};

static void spoil(const char *how) {
  if (!strcmp(how, "many")) {
    for (int i = 0; i != 600; ++i) {
      arguments[i] = &a[i % 6];
      variables[i] = &variable;
    }
    description.num_arguments = description.num_variables = UINT32_MAX;
  } else if (!strcmp(how, "control")) {
    description.summary = description.vendor = description.reports = ESCAPE;
    for (int i = 0; i != 6; ++i)
      a[i].name = a[i].value = a[i].default_value = a[i].help = ESCAPE;
    modes[0] = ESCAPE;
    variable.name = variable.help = ESCAPE;
  } else if (!strcmp(how, "long")) {
    static char text[1 << 20];
    memset(text, 'x', sizeof(text) - 1);
    description.summary = a[0].name = a[0].help = text;
  } else if (!strcmp(how, "null")) {
    description.summary = description.vendor = description.reports = NULL;
    arguments[1] = NULL;
    a[0].name = a[2].help = a[3].name = NULL;
    a[2].choices = NULL;
    variable.help = NULL;
  } else if (!strcmp(how, "null-name")) {
    a[0].name = NULL;
  } else if (!strcmp(how, "null-entry")) {
    arguments[1] = NULL;
  } else if (!strcmp(how, "null-arrays")) {
    description.arguments = NULL;
    description.variables = NULL;
  } else if (!strcmp(how, "unsized")) {
    description.size = 0;
  } else if (!strcmp(how, "unsized-argument")) {
    a[0].size = 0;
    variable.size = 0;
  } else if (!strcmp(how, "twice")) {
    a[0].name = "log";
  } else if (!strcmp(how, "default")) {
    a[2].default_value = "65";
  } else if (!strcmp(how, "choice")) {
    a[3].default_value = "medium";
  } else if (!strcmp(how, "none")) {
    a[3].num_choices = 0;
  } else if (!strcmp(how, "limits")) {
    a[2].max = 0;
  } else if (!strcmp(how, "hang")) {
    for (;;)
      pause();
  } else if (!strcmp(how, "exit")) {
    exit(0);
  }
}

static const void *extension(const char *id) {
  if (strcmp(id, DTLTO_EXT_DESCRIBE))
    return NULL;
  const char *how = getenv("DTLTO_TEST_DESCRIBE");
  if (how)
    spoil(how);
  return &description;
}

static const struct hooks hooks;

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0,
    "describe",
    "test",
    common_configure,
    common_open,
    common_submit,
    common_cancel,
    common_load,
    common_close,
    extension};
