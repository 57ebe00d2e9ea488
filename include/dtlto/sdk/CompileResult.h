/*===- dtlto/sdk/CompileResult.h - What the end of a compile means -*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Turns what a compiler left, on any machine, into the status and message of a
 * job: exit code, object, standard error. RunJob.h uses the same rule for its
 * processes. Also compares a compiler's version with the linker's.
 *
 * Header only; C99, or C++ (CompileResult.hpp has wrappers). Threads: any.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_SDK_COMPILERESULT_H
#define DTLTO_SDK_COMPILERESULT_H

#include "../PluginAPI.h"
#include <stdio.h>
#include <string.h>

/* How a compiler ended. */
typedef struct dtlto_compile_end {
  /* The name for messages. Null: "the compiler". */
  const char *program;
  /* What the process returned. A code from 126 on is not the compiler's: a
   * shell could not run the compiler, or saw it killed. */
  int64_t exit_code;
  /* The signal that killed the process, or 0. */
  int signal;
  /* Whether the output exists and isn't empty. */
  int has_object;
} dtlto_compile_end;

/* Returns the status of a job whose compiler ended in this way:
 *
 *   DTLTO_OK                    there is an object
 *   DTLTO_ERROR_COMPILER        the compiler reports an error in the program
 *   DTLTO_ERROR_INFRASTRUCTURE  the compiler was killed or could not be run,
 *                               could not read its inputs, or wrote no object
 *
 * `text` has room for `size` bytes. It holds the compiler's standard error, and
 * becomes the message: unchanged, but without newlines at its end, or one line
 * for an infrastructure error. It may be empty for DTLTO_OK only. */
static inline int32_t dtlto_compile_status(const dtlto_compile_end *end,
                                           char *text, size_t size);

/* Whether `answer`, a clang's output for --version, such as "Debian clang
 * version 19.1.7 (3+b1)", names exactly `llvm_version` (as in
 * dtlto_session_params), not just a version that begins like it. */
static inline int dtlto_run_is_version(const char *answer,
                                       const char *llvm_version);

/*===----------------------------------------------------------------------===*
 * Implementation
 *===----------------------------------------------------------------------===*/

/* Makes `text` one line: "'program' what: line", with the first line of `line`,
 * which is a part of `text`. */
static inline int32_t dtlto_compile_blame(char *text, size_t size,
                                          const char *program, const char *what,
                                          const char *line) {
  char head[1200];
  size_t room = size - 1, rest = strcspn(line, "\r\n"), length;
  snprintf(head, sizeof(head), "%s%.1000s%s %s%s", program ? "'" : "",
           program ? program : "the compiler", program ? "'" : "", what,
           rest ? ": " : "");
  length = strlen(head);
  length = length < room ? length : room;
  rest = rest < room - length ? rest : room - length;
  memmove(text + length, line, rest);
  memcpy(text, head, length);
  text[length + rest] = 0;
  return DTLTO_ERROR_INFRASTRUCTURE;
}

/* Returns the first line of `text` that begins with `begin`, or null. */
static inline const char *dtlto_compile_find(const char *text,
                                             const char *begin) {
  while (strncmp(text, begin, strlen(begin)) != 0) {
    text = strchr(text, '\n');
    if (!text)
      return NULL;
    ++text;
  }
  return text;
}

static inline int32_t dtlto_compile_status(const dtlto_compile_end *end,
                                           char *text, size_t size) {
  static const char backend[] = "Error running ThinLTO backend: ";
  static const char failed_import[] =
      "Error running ThinLTO backend: Function Import: ";
  char what[64] = "wrote no object";
  const char *line = text;
  size_t length = strlen(text);
  while (length && strchr("\r\n", text[length - 1]))
    text[--length] = 0;
  if (end->signal)
    snprintf(what, sizeof(what), "was killed by signal %d", end->signal);
  else if (end->exit_code > 255 || end->exit_code < 0) /* an exception */
    snprintf(what, sizeof(what), "ended with 0x%lX",
             (unsigned long)end->exit_code & 0xffffffff);
  else if (end->exit_code >= 126)
    snprintf(what, sizeof(what), "ended with %d", (int)end->exit_code);
  else if (end->exit_code) {
    if (!*text)
      snprintf(text, size, "exit code %d, without a message",
               (int)end->exit_code);
    return DTLTO_ERROR_COMPILER;
  } else {
    /* Modules that contradict each other: an error in the program. */
    if (!end->has_object && dtlto_compile_find(text, failed_import))
      return DTLTO_ERROR_COMPILER;
    /* A clang that can't read the index, or an import, exits with 0 and writes
     * an empty or a wrong object. */
    line = dtlto_compile_find(text, backend);
    if (!line)
      line = dtlto_compile_find(text, "Error loading ");
    if (line)
      snprintf(what, sizeof(what), "could not read its inputs");
    else if (end->has_object)
      return DTLTO_OK;
  }
  return dtlto_compile_blame(text, size, end->program, what,
                             line ? line : text);
}

static inline int dtlto_run_is_version(const char *answer,
                                       const char *llvm_version) {
  static const char before[] = "clang version ";
  size_t length = strlen(llvm_version);
  while ((answer = strstr(answer, before))) {
    answer += sizeof(before) - 1;
    if (!strncmp(answer, llvm_version, length) &&
        strchr(" (\r\n", answer[length])) /* or the end of the answer */
      return length != 0;
  }
  return 0;
}

#endif /* DTLTO_SDK_COMPILERESULT_H */
