// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One job on this machine: what a plugin for a build system has something else
// for.

#ifndef COMPILE_H
#define COMPILE_H

#include <dtlto/PluginAPI.h>
#include <stdatomic.h>

enum {
  MAX_TEXT = 4096, // of a message, with its NUL
  MAX_THREADS = 64
};

// What --thinlto-dist-plugin-arg= says.
struct settings {
  char clang[1024]; // clang=PROGRAM, a name or an absolute path
  uint32_t jobs;    // jobs=N
};

// Reads the arguments, and makes sure that clang is of the linker's version.
// Returns DTLTO_OK, or an error, and `text` says why.
int32_t read_settings(const dtlto_session_params *params,
                      struct settings *settings, char *text);

// Runs the job's command line in a temporary folder, and kills it when `*stop`
// becomes 1. Returns the status of the job's result. With DTLTO_OK, `object` is
// the caller's; `text` has what the compiler wrote, or why it could not be run.
int32_t compile(const struct settings *settings, const dtlto_job *job,
                atomic_int *stop, dtlto_buffer *object, char *text);

#endif
