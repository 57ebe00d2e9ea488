/*===- dtlto/sdk/RunJob.h - One job on this machine ----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Does with a job what a worker of a DBS does, for a plugin without a DBS yet.
 * Use it as it is, or read it as a description and replace it by your DBS.
 *
 *   1. make an empty folder, with each of the job's inputs under its path;
 *   2. run the job's args there, with a clang of the linker's own version;
 *   3. take the object, and keep clang's messages;
 *   4. remove the folder, and report the class of error, if any.
 *
 * Header only; C99, or C++ (RunJob.hpp has a wrapper for plugins in C++). For
 * Windows (RunJobWindows.h), and for systems with pipe2() and
 * posix_spawn_file_actions_addfchdir_np(), such as Linux with glibc 2.29 or
 * musl 1.1.24 (RunJobPosix.h). There, include it before all system headers, or
 * compile with -D_GNU_SOURCE.
 *
 * Threads: any, several at a time. The process is left unchanged: its working
 * directory, signals and environment. Descriptors are closed on exec.
 *
 * Texts: `text` has room for `size` bytes, at least 1, and always ends in NUL.
 * A longer text is truncated, and ends with how much is missing. 4096 bytes are
 * enough for a few messages of clang.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_SDK_RUNJOB_H
#define DTLTO_SDK_RUNJOB_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "CompileResult.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__USE_GNU)
#error "include <dtlto/sdk/RunJob.h> before all others, or use -D_GNU_SOURCE"
#endif

/* How to run a command. Borrowed until the function that got it returns. */
typedef struct dtlto_run {
  /* The compiler, in place of args[0]: a name to find in the PATH, or an
   * absolute path. If it is a wrapper, it must exec the compiler: only the
   * process itself is killed. (Not so on Windows.) */
  const char *program;
  /* Called many times a second, on the calling thread. If it returns non-zero,
   * the process is killed. Null: the process runs to its end, without a time
   * limit. */
  int (*stop)(void *context);
  void *context;
} dtlto_run;

/* Runs `job`, which has DTLTO_JOB_ARGS, in a folder of its own in $TMPDIR or,
 * without one, /tmp (on Windows, where GetTempPath() says). Fills status,
 * object and message of `result` for job_done(), and returns the status:
 *
 *   DTLTO_OK                    with the object, which is the caller's until
 *                               job_done() or its release(); message: warnings
 *   DTLTO_CANCELLED             run->stop returned non-zero
 *   DTLTO_ERROR_COMPILER        the compiler failed; message: its output
 *   DTLTO_ERROR_INFRASTRUCTURE  the compiler could not be run, was killed, or
 *                               wrote no object, or inputs can't be written or
 *                               read; message: one line. (A disk that is full
 *                               for the compiler is an error of the compiler.)
 *   DTLTO_ERROR_CALLER          the job breaks a rule of PluginAPI.h, such as a
 *                               path that leaves the folder: nothing was
 *                               written or run; message: one line
 *
 * The message is in `text`, or null if there is none. The object is empty
 * unless the status is DTLTO_OK. The folder is always removed. */
static inline int32_t dtlto_run_job(const dtlto_job *job, const dtlto_run *run,
                                    dtlto_result *result, char *text,
                                    size_t size);

/* Checks whether `program` (as in dtlto_run) is a clang of `llvm_version` (as
 * in dtlto_session_params): another version makes other objects. Returns
 * DTLTO_OK; or DTLTO_ERROR_INFRASTRUCTURE with the reason in `text`, in one
 * line. `text` is not changed otherwise. Takes at most ten seconds. */
static inline int32_t dtlto_run_check_clang(const char *program,
                                            const char *llvm_version,
                                            char *text, size_t size);

/* Whether `path` is as PluginAPI.h promises: relative, and each component is a
 * name: neither empty nor "." or "..". */
static inline int dtlto_run_is_clean_path(const char *path);

/*===----------------------------------------------------------------------===*
 * Implementation
 *===----------------------------------------------------------------------===*/

/* Fills `text` with "what 'name'" and the error in errno. Returns `status`. */
static inline int32_t dtlto_run_fail(int32_t status, char *text, size_t size,
                                     const char *what, const char *name) {
  int error = errno;
  snprintf(text, size, "%s '%.1000s'%s%s", what, name, error ? ": " : "",
           error ? strerror(error) : "");
  return status;
}

static inline int dtlto_run_is_clean_path(const char *path) {
#ifdef _WIN32
  if (strpbrk(path, "\\:"))
    return 0;
#endif
  for (;; ++path) {
    size_t length = strcspn(path, "/"); /* of this component */
    if (length == 0 || (length == 1 && path[0] == '.') ||
        (length == 2 && path[0] == '.' && path[1] == '.'))
      return 0;
    path += length;
    if (!*path)
      return 1;
  }
}

/* The output of a process: its first bytes, and the number of dropped ones. */
typedef struct dtlto_run_words {
  char *text;
  size_t size;
  size_t kept;
  unsigned long long dropped;
} dtlto_run_words;

/* Appends a block of output. */
static inline void dtlto_run_hear(dtlto_run_words *words, const char *block,
                                  size_t size) {
  for (size_t i = 0; i != size; ++i)
    if (words->kept + 1 < words->size)
      words->text[words->kept++] = block[i] ? block[i] : ' ';
    else
      ++words->dropped;
}

/* Ends the text, and removes newlines at its end. */
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

/* What the headers below define for their system:
 *
 *   dtlto_run_dir        an open folder; DTLTO_RUN_HERE: the current one
 *   dtlto_run_process()  runs a command in `dir`. If it ends by itself, sets
 *                        `end`, and `text` to its output, and returns DTLTO_OK;
 *                        otherwise, `text` says why not, in one line
 *   dtlto_run_seconds()  the time of a monotonic clock
 *   dtlto_run_make_folders(), dtlto_run_write(), dtlto_run_read()
 *                        make the folders of a path below `dir`; write a new
 *                        file; read a file that isn't empty. On failure, they
 *                        return 0 and set errno; dtlto_run_read() sets it to 0
 *                        or ENOENT if there is no such file
 *   dtlto_run_open_folder(), dtlto_run_close_folder()
 *                        makes a new folder, sets `name` to its name, and
 *                        returns null or what failed; removes it with its
 *                        contents
 */
#ifdef _WIN32
#include "RunJobWindows.h"
#else
#include "RunJobPosix.h"
#endif

/* Runs a command in `dir` that makes no object. The status and `text` are as in
 * dtlto_run_job(). */
static inline int32_t dtlto_run_command(const dtlto_run *run,
                                        const char *const *args,
                                        dtlto_run_dir dir, char *text,
                                        size_t size) {
  dtlto_compile_end end = {run->program, 0, 0, 1};
  int32_t status = dtlto_run_process(run, args, dir, &end, text, size);
  if (status != DTLTO_OK || (!end.exit_code && !end.signal))
    return status;
  return dtlto_compile_status(&end, text, size);
}

/* Returns non-zero if the time that `limit` points at, of dtlto_run_seconds(),
 * has passed. */
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
             status == DTLTO_CANCELLED
                 ? "did not answer --version"
                 : "is not clang %.40s, the linker's version",
             llvm_version);
    dtlto_compile_blame(text, size, program, what, text);
  }
  return DTLTO_ERROR_INFRASTRUCTURE;
}

/* Steps 1 to 3, in the empty folder `dir`. */
static inline int32_t dtlto_run_in(dtlto_run_dir dir, const dtlto_job *job,
                                   const dtlto_run *run, dtlto_buffer *object,
                                   char *text, size_t size) {
  static const dtlto_buffer none = {NULL, 0, NULL, NULL};
  for (uint32_t i = 0; i != job->num_inputs; ++i) {
    if (run->stop && run->stop(run->context))
      return DTLTO_CANCELLED;
    if (!dtlto_run_write(dir, job->inputs[i]->path, job->inputs[i]->bytes))
      return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                            "cannot write", job->inputs[i]->path);
  }
  if (!dtlto_run_make_folders(dir, job->output))
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                          "cannot create the folders of", job->output);
  dtlto_compile_end end = {run->program, 0, 0, 0};
  int32_t status = dtlto_run_process(run, job->args, dir, &end, text, size);
  if (status != DTLTO_OK)
    return status;
  int succeeded = !end.exit_code && !end.signal;
  end.has_object = succeeded && dtlto_run_read(dir, job->output, object);
  if (succeeded && !end.has_object && errno && errno != ENOENT)
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size, "cannot read",
                          job->output);
  status = dtlto_compile_status(&end, text, size);
  if (status != DTLTO_OK && end.has_object) {
    object->release(object->owner, object->data, object->size);
    *object = none;
  }
  return status;
}

/* Whether the job keeps the rules that this file relies on; if not, fills
 * `text`. */
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
    /* If nothing is written, the input would be taken for the object. */
    else if (!strcmp(name, job->output))
      wrong = "the output is also an input:";
  }
  if (wrong)
    dtlto_run_fail(DTLTO_ERROR_CALLER, text, size, wrong, name);
  return !wrong;
}

/* Does all four steps. */
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
