/*===- dtlto/sdk/RunJobPosix.h - Processes and files of POSIX ------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A part of RunJob.h, which documents each function.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_SDK_RUNJOBPOSIX_H
#define DTLTO_SDK_RUNJOBPOSIX_H

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int dtlto_run_dir; /* a descriptor */
#define DTLTO_RUN_HERE (-1)

/* Finds `program` in the PATH, except in folders that depend on the current
 * one: the program whose version was checked must be the one that compiles.
 * Returns 0 or an errno value. */
static inline int dtlto_run_find(const char *program, char *path, size_t size) {
  struct stat info;
  if (strchr(program, '/'))
    return (size_t)snprintf(path, size, "%s", program) < size ? 0
                                                              : ENAMETOOLONG;
  const char *next = getenv("PATH");
  if (!next)
    next = "/usr/bin:/bin";
  for (; *next; next += *next == ':') {
    size_t length = strcspn(next, ":");
    int is_whole =
        *next == '/' && (size_t)snprintf(path, size, "%.*s/%s", (int)length,
                                         next, program) < size;
    if (is_whole && !stat(path, &info) && S_ISREG(info.st_mode) &&
        !access(path, X_OK))
      return 0;
    next += length;
  }
  return ENOENT;
}

/* Starts run->program with `args` in the folder `dir` (-1: the current one),
 * with stdout and stderr to `out`. Returns 0 or an errno value. */
static inline int dtlto_run_start(const dtlto_run *run, const char *const *args,
                                  int dir, int out, pid_t *pid) {
  char path[4096];
  posix_spawn_file_actions_t actions;
  int error = dtlto_run_find(run->program, path, sizeof(path));
  if (!error)
    error = posix_spawn_file_actions_init(&actions);
  if (error)
    return error;
  /* First, since `out` may be 0 itself. */
  if (dir >= 0)
    error = posix_spawn_file_actions_addfchdir_np(&actions, dir);
  if (!error)
    error =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!error)
    error = posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (!error)
    error = posix_spawn_file_actions_adddup2(&actions, out, 2);
  if (!error)
    error =
        posix_spawn(pid, path, &actions, NULL, (char *const *)args, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Reads what is in the pipe `fd` now, but at most as much as a pipe can hold,
 * so that a process that never stops writing doesn't block the caller. Returns
 * 0 once the pipe has no writer. */
static inline int dtlto_run_listen(int fd, dtlto_run_words *words) {
  char block[4096];
  ssize_t n = 1;
  for (int i = 0; i != 16 && (n = read(fd, block, sizeof(block))) > 0; ++i)
    dtlto_run_hear(words, block, (size_t)n);
  return n != 0;
}

static inline int32_t dtlto_run_process(const dtlto_run *run,
                                        const char *const *args, int dir,
                                        dtlto_compile_end *end, char *text,
                                        size_t size) {
  int ends[2], status = 0, error, stopped = 0, pause = 1;
  pid_t pid, ended;
  dtlto_run_words words = {text, size, 0, 0};
  text[0] = 0;
  errno = 0;
  if (strchr(run->program, '/') && run->program[0] != '/')
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                          "neither a name nor an absolute path:", run->program);
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                          "cannot create a pipe for", run->program);
  fcntl(ends[1], F_SETFL, 0); /* only our end shall be non-blocking */
  error = dtlto_run_start(run, args, dir, ends[1], &pid);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    errno = error;
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size, "cannot run",
                          run->program);
  }

  /* The end of the process counts, not the end of the pipe: a process may close
   * the pipe early, or leave children that hold it. */
  struct pollfd heard = {ends[0], POLLIN, 0};
  for (;;) {
    ended = waitpid(pid, &status, WNOHANG);
    error = errno;
    if (heard.fd >= 0 && !dtlto_run_listen(heard.fd, &words))
      heard.fd = -1; /* poll() then only waits */
    if (ended > 0 || (ended < 0 && error != EINTR))
      break;
    if (!stopped && run->stop && run->stop(run->context))
      stopped = !kill(pid, SIGKILL);
    poll(&heard, 1, heard.fd >= 0 ? 20 : pause);
    if (heard.fd < 0 && pause < 20)
      pause *= 2;
  }
  close(ends[0]);
  dtlto_run_end_words(&words);
  if (stopped)
    return DTLTO_CANCELLED;
  if (ended < 0) /* other code has waited for it */
    return dtlto_compile_blame(text, size, run->program,
                               "ended with an unknown status", text);
  end->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end->signal = WIFEXITED(status) ? 0 : WTERMSIG(status);
  return DTLTO_OK;
}

static inline time_t dtlto_run_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/* Makes the folders of `path` in `dir`. */
static inline int dtlto_run_make_folders(int dir, const char *path) {
  char part[4096];
  for (const char *p = path; (p = strchr(p, '/')); ++p) {
    size_t length = (size_t)(p - path);
    if (length >= sizeof(part)) {
      errno = ENAMETOOLONG;
      return 0;
    }
    memcpy(part, path, length);
    part[length] = 0;
    if (mkdirat(dir, part, 0700) && errno != EEXIST)
      return 0;
  }
  return 1;
}

/* Writes a new file. Returns 0 and sets errno on failure. */
static inline int dtlto_run_write(int dir, const char *path, dtlto_span bytes) {
  if (!dtlto_run_make_folders(dir, path))
    return 0;
  int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return 0;
  const char *next = (const char *)bytes.data;
  for (uint64_t left = bytes.size; left;) {
    ssize_t n = write(fd, next, left < 1 << 30 ? (size_t)left : 1 << 30);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      int error = errno;
      close(fd);
      errno = error;
      return 0;
    }
    next += n;
    left -= (uint64_t)n;
  }
  return !close(fd);
}

/* Reads a file that isn't empty. Returns 0 and sets errno on failure: to 0 or
 * ENOENT if there is no such file. */
static inline int dtlto_run_read(int dir, const char *path,
                                 dtlto_buffer *object) {
  errno = 0;
  int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return 0;
  struct stat info;
  char *bytes = NULL;
  size_t size = 0, got = 0;
  if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0) {
    size = (size_t)info.st_size;
    bytes = (char *)malloc(size);
  }
  while (bytes && got != size) {
    ssize_t n = read(fd, bytes + got, size - got);
    if (n > 0)
      got += (size_t)n;
    else if (n == 0 || errno != EINTR)
      break;
  }
  int error = errno;
  close(fd);
  if (!bytes || got != size) {
    free(bytes);
    errno = error;
    return 0;
  }
  object->data = object->owner = bytes;
  object->size = size;
  object->release = dtlto_run_release;
  return 1;
}

static inline int dtlto_run_remove_one(const char *path,
                                       const struct stat *info, int kind,
                                       struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
  return remove(path);
}

/* Makes an empty folder and sets `folder` to its name. Returns null, or what
 * failed. */
static inline const char *dtlto_run_open_folder(char *folder, size_t size,
                                                dtlto_run_dir *dir) {
  const char *top = getenv("TMPDIR");
  int length = snprintf(folder, size, "%s/dtlto-job-XXXXXX",
                        top && top[0] == '/' ? top : "/tmp");
  if ((size_t)length >= size)
    errno = ENAMETOOLONG;
  if ((size_t)length >= size || !mkdtemp(folder))
    return "cannot create the folder";
  *dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*dir >= 0)
    return NULL;
  int error = errno;
  rmdir(folder);
  errno = error;
  return "cannot open the folder";
}

static inline void dtlto_run_close_folder(const char *folder,
                                          dtlto_run_dir dir) {
  close(dir);
  nftw(folder, dtlto_run_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif /* DTLTO_SDK_RUNJOBPOSIX_H */
