/*===- dtlto/sdk/RunJob.h - One job on this machine ----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * What a worker of a DBS does with a job, for a plugin that has no DBS yet: use
 * it as it is, read it as a description, and put your DBS in its place.
 *
 *   1. make an empty folder, with each of the job's inputs under its path;
 *   2. run the job's args there, with a clang of the linker's own version;
 *   3. take the object, and keep what clang said;
 *   4. remove the folder, and tell which class of error it was, if any.
 *
 * Header only; C11, or C++ (RunJob.hpp has a wrapper for plugins in C++). For
 * Windows (RunJobWindows.h), and for systems with pipe2() and
 * posix_spawn_file_actions_addfchdir_np(), such as Linux with glibc 2.29 or
 * musl 1.1.24 (RunJobPosix.h); there, include it before all system headers, or
 * compile with -D_GNU_SOURCE.
 *
 * Threads: any, several at a time. Nothing of the process is changed: not its
 * working directory, signals or environment; descriptors are closed on exec.
 *
 * Texts: `text` has room for `size` bytes, at least 1, and always ends in NUL.
 * What doesn't fit is left out, and the text ends with how much that was; 4096
 * bytes are enough for a few messages of clang.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_SDK_RUNJOB_H
#define DTLTO_SDK_RUNJOB_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "../PluginAPI.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) && !defined(__USE_GNU)
#error "include <dtlto/sdk/RunJob.h> before all others, or use -D_GNU_SOURCE"
#endif

/* How to run a command. Borrowed until the function that got it returns. */
typedef struct dtlto_run {
  /* The compiler, in the place of args[0]: a name that is looked for in the
   * PATH, or an absolute path. One that starts another program must exec it:
   * only the process itself is killed. (Not so on Windows.) */
  const char *program;
  /* Asked many times a second, on the calling thread, whether to give up: not 0
   * kills the process. Null: it runs to its end, however long that takes. */
  int (*stop)(void *context);
  void *context;
} dtlto_run;

/* Runs `job`, which has DTLTO_JOB_ARGS, in a folder of its own in $TMPDIR or,
 * without one, /tmp (on Windows, where GetTempPath() says). Fills status,
 * object and message of `result` for job_done(), and returns the status:
 *
 *   DTLTO_OK                    with the object, which is the caller's until
 *                               job_done() or its release(); message: warnings
 *   DTLTO_CANCELLED             run->stop said so
 *   DTLTO_ERROR_COMPILER        the compiler said no; message: its words
 *   DTLTO_ERROR_INFRASTRUCTURE  it could not be run, was killed, or wrote no
 *                               object, or inputs can't be written; message:
 *                               one line. (A disk that is full for a compiler
 *                               is the compiler's no.)
 *   DTLTO_ERROR_CALLER          the job breaks a promise of PluginAPI.h, such
 *                               as a path that leaves the folder: nothing was
 *                               written or run; message: one line
 *
 * The message is in `text`, or null if there is none. Without DTLTO_OK, the
 * object is empty. The folder is gone in all cases. */
static inline int32_t dtlto_run_job(const dtlto_job *job, const dtlto_run *run,
                                    dtlto_result *result, char *text,
                                    size_t size);

/* Asks `program` (as in dtlto_run) whether it is a clang of `llvm_version` (as
 * in dtlto_session_params): another one makes other objects. Returns DTLTO_OK;
 * or DTLTO_ERROR_INFRASTRUCTURE, and `text`, which is left alone otherwise,
 * says in one line why not. Takes no longer than ten seconds. */
static inline int32_t dtlto_run_check_clang(const char *program,
                                            const char *llvm_version,
                                            char *text, size_t size);

/* Whether `answer`, what a clang anywhere wrote when asked for --version, such
 * as "Debian clang version 19.1.7 (3+b1)", names `llvm_version` (as in
 * dtlto_session_params), and not just one that begins like it. */
static inline int dtlto_run_is_version(const char *answer,
                                       const char *llvm_version);

/* Whether `path` is what PluginAPI.h promises of a job's paths: relative, and
 * every part of it a name: not empty, not `.`, not `..`. */
static inline int dtlto_run_is_clean_path(const char *path);

/*===----------------------------------------------------------------------===*
 * How it is done
 *===----------------------------------------------------------------------===*/

/* Fills `text` with "what 'name'" and the error in errno. Returns `status`. */
static inline int32_t dtlto_run_fail(int32_t status, char *text, size_t size,
                                     const char *what, const char *name) {
  int error = errno;
  snprintf(text, size, "%s '%.1000s'%s%s", what, name, error ? ": " : "",
           error ? strerror(error) : "");
  return status;
}

/* Makes `text` one line: "'name' what: first line of text". */
static inline int32_t dtlto_run_blame(char *text, size_t size, const char *name,
                                      const char *what) {
  char head[1200];
  text[strcspn(text, "\n")] = 0;
  snprintf(head, sizeof(head), "'%.1000s' %s%s", name, what,
           text[0] ? ": " : "");
  size_t room = size - 1, length = strlen(head), rest = strlen(text);
  length = length < room ? length : room;
  rest = rest < room - length ? rest : room - length;
  memmove(text + length, text, rest);
  memcpy(text, head, length);
  text[length + rest] = 0;
  return DTLTO_ERROR_INFRASTRUCTURE;
}

static inline int dtlto_run_is_clean_path(const char *path) {
#ifdef _WIN32
  if (strpbrk(path, "\\:"))
    return 0;
#endif
  for (;; ++path) {
    size_t length = strcspn(path, "/"); /* of this part */
    if (length == 0 || (length == 1 && path[0] == '.') ||
        (length == 2 && path[0] == '.' && path[1] == '.'))
      return 0;
    path += length;
    if (!*path)
      return 1;
  }
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

/* What a process wrote: the first bytes, and how many more there were. */
typedef struct dtlto_run_words {
  char *text;
  size_t size;
  size_t kept;
  unsigned long long dropped;
} dtlto_run_words;

/* Takes what it wrote into account. */
static inline void dtlto_run_hear(dtlto_run_words *words, const char *block,
                                  size_t size) {
  for (size_t i = 0; i != size; ++i)
    if (words->kept + 1 < words->size)
      words->text[words->kept++] = block[i] ? block[i] : ' ';
    else
      ++words->dropped;
}

/* Ends the text. Newlines at its end are no part of it. */
static inline void dtlto_run_end_words(dtlto_run_words *words) {
  const size_t room = 40; /* for the longest of these notes */
  words->text[words->kept] = 0;
  if (words->dropped && words->kept > room) {
    words->kept -= room;
    snprintf(words->text + words->kept, room + 1, "\n[and %llu more bytes]",
             words->dropped + room);
  } else
    while (words->kept && words->text[words->kept - 1] == '\n')
      words->text[--words->kept] = 0;
}

static inline void dtlto_run_release(void *owner, const void *data,
                                     uint64_t size) {
  (void)data;
  (void)size;
  free(owner);
}

/* What the system has of its own:
 *
 *   dtlto_run_dir        a folder that is open; DTLTO_RUN_HERE: where we are
 *   dtlto_run_command()  runs a command to its end in `dir`. `text` has what it
 *                        wrote, or why that is no verdict; the status is as in
 *                        dtlto_run_job()
 *   dtlto_run_seconds()  of a clock that never goes back
 *   dtlto_run_make_folders(), dtlto_run_write(), dtlto_run_read()
 *                        the folders of a path below `dir`; a file that isn't
 *                        there yet; one that isn't empty. They return 0 and set
 *                        errno if they can't; to 0 or ENOENT where there is no
 *                        such file to read
 *   dtlto_run_open_folder(), dtlto_run_close_folder()
 *                        makes a new folder, with its name in `name` and null
 *                        or what it can't do; removes it with all that is in it
 */
#ifdef _WIN32
#include "RunJobWindows.h"
#else
#include "RunJobPosix.h"
#endif

/* Not 0 when the time of dtlto_run_seconds() that `limit` points at has passed.
 */
static inline int dtlto_run_is_late(void *limit) {
  return dtlto_run_seconds() > *(const time_t *)limit;
}

static inline int32_t dtlto_run_check_clang(const char *program,
                                            const char *llvm_version,
                                            char *text, size_t size) {
  const char *args[] = {program, "--version", NULL};
  char answer[4096], what[128];
  time_t limit = dtlto_run_seconds() + 8;
  dtlto_run run = {program, dtlto_run_is_late, &limit};
  int32_t status =
      dtlto_run_command(&run, args, DTLTO_RUN_HERE, answer, sizeof(answer));
  if (status == DTLTO_OK && dtlto_run_is_version(answer, llvm_version))
    return DTLTO_OK;
  if (status == DTLTO_ERROR_INFRASTRUCTURE)
    snprintf(text, size, "%s", answer);
  else {
    snprintf(text, size, "%s", status == DTLTO_CANCELLED ? "" : answer);
    snprintf(what, sizeof(what),
             status == DTLTO_CANCELLED ? "gives no answer to --version"
                                       : "isn't clang %.40s, as the linker is",
             llvm_version);
    dtlto_run_blame(text, size, program, what);
  }
  return DTLTO_ERROR_INFRASTRUCTURE;
}

/* Steps 1 to 3, in the empty folder `dir`. */
static inline int32_t dtlto_run_in(dtlto_run_dir dir, const dtlto_job *job,
                                   const dtlto_run *run, dtlto_buffer *object,
                                   char *text, size_t size) {
  for (uint32_t i = 0; i != job->num_inputs; ++i) {
    if (run->stop && run->stop(run->context))
      return DTLTO_CANCELLED;
    if (!dtlto_run_write(dir, job->inputs[i]->path, job->inputs[i]->bytes))
      return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                            "can't write", job->inputs[i]->path);
  }
  if (!dtlto_run_make_folders(dir, job->output))
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                          "can't make the folders of", job->output);
  int32_t status = dtlto_run_command(run, job->args, dir, text, size);
  /* An exit code of 0 is no object yet: clang says 0, and writes an empty file,
   * where it can't read the index. */
  if (status == DTLTO_OK && !dtlto_run_read(dir, job->output, object)) {
    if (errno && errno != ENOENT)
      return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                            "can't read", job->output);
    return dtlto_run_blame(text, size, run->program, "wrote no object");
  }
  return status;
}

/* Whether the job keeps the promises that we rely on; if not, fills `text`. */
static inline int dtlto_run_accept(const dtlto_job *job, char *text,
                                   size_t size) {
  const char *wrong = NULL, *name = job->output;
  errno = 0;
  if (!(job->fields & DTLTO_JOB_ARGS)) {
    name = job->name;
    wrong = "configure() asked for no DTLTO_JOB_ARGS: no command line for";
  } else if (!dtlto_run_is_clean_path(name))
    wrong = "an output outside of the job's folder:";
  for (uint32_t i = 0; !wrong && i != job->num_inputs; ++i) {
    name = job->inputs[i]->path;
    if (!dtlto_run_is_clean_path(name))
      wrong = "an input outside of the job's folder:";
    /* It would be taken for the object if nothing is written. */
    else if (!strcmp(name, job->output))
      wrong = "the output is an input, too:";
  }
  if (wrong)
    dtlto_run_fail(DTLTO_ERROR_CALLER, text, size, wrong, name);
  return !wrong;
}

/* All steps. */
static inline int32_t dtlto_run_steps(const dtlto_job *job,
                                      const dtlto_run *run,
                                      dtlto_buffer *object, char *text,
                                      size_t size) {
  char folder[4096];
  if (!dtlto_run_accept(job, text, size))
    return DTLTO_ERROR_CALLER;
  dtlto_run_dir dir;
  const char *wrong = dtlto_run_open_folder(folder, sizeof(folder), &dir);
  if (wrong)
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size, wrong,
                          folder);
  int32_t status = dtlto_run_in(dir, job, run, object, text, size);
  dtlto_run_close_folder(folder, dir);
  return status;
}

static inline int32_t dtlto_run_job(const dtlto_job *job, const dtlto_run *run,
                                    dtlto_result *result, char *text,
                                    size_t size) {
  static const dtlto_buffer none = {NULL, 0, NULL, NULL};
  text[0] = 0;
  result->object = none;
  result->status = dtlto_run_steps(job, run, &result->object, text, size);
  result->message = text[0] ? text : NULL;
  return result->status;
}

#endif /* DTLTO_SDK_RUNJOB_H */
