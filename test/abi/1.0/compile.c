// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE
#include "compile.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_PATH = 4096 + 512 };

static int32_t fail(int32_t status, char *text, const char *what,
                    const char *name) {
  snprintf(text, MAX_TEXT, "%s '%.2000s': %s", what, name, strerror(errno));
  return status;
}

// Runs `args` in `folder` with the program `clang`. What it writes to `fd` (1
// or 2) goes to `text`. Returns OK, COMPILER if it said no, INFRASTRUCTURE if
// it could not run or was killed, and CANCELLED if we killed it.
static int32_t run(const char *clang, const char *const *args,
                   const char *folder, int fd, atomic_int *stop, char *text) {
  int ends[2], status, killed = 0;
  if (pipe2(ends, O_CLOEXEC))
    return fail(DTLTO_ERROR_INFRASTRUCTURE, text, "no pipe for", clang);
  pid_t pid;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], fd);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  int error =
      posix_spawnp(&pid, clang, &actions, NULL, (char *const *)args, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    errno = error;
    return fail(DTLTO_ERROR_INFRASTRUCTURE, text, "can't run", clang);
  }

  size_t size = 0;
  for (;;) {
    char rest[4096];
    struct pollfd end = {ends[0], POLLIN, 0};
    if (poll(&end, 1, 20) > 0) {
      ssize_t n = read(ends[0], rest, sizeof(rest));
      if (n == 0)
        break;
      for (ssize_t i = 0; i < n && size < MAX_TEXT - 1; ++i)
        text[size++] = rest[i];
    }
    if (*stop && !killed)
      killed = !kill(pid, SIGKILL);
  }
  close(ends[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  while (size && text[size - 1] == '\n')
    --size;
  text[size] = 0;
  if (killed)
    return DTLTO_CANCELLED;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return DTLTO_OK;
  if (WIFEXITED(status) && WEXITSTATUS(status) != 127)
    return DTLTO_ERROR_COMPILER;
  if (size == 0)
    snprintf(text, MAX_TEXT, "'%.2000s' ended with status %d", clang, status);
  return DTLTO_ERROR_INFRASTRUCTURE;
}

int32_t read_settings(const dtlto_session_params *params,
                      struct settings *settings, char *text) {
  settings->jobs = 4;
  strcpy(settings->clang, "clang");
  for (uint32_t i = 0; i != params->num_args; ++i) {
    const char *arg = params->args[i]; // ours to read until open() returns
    char *end = NULL;
    if (!strncmp(arg, "clang=", 6) && strlen(arg + 6) < 1024)
      strcpy(settings->clang, arg + 6);
    else if (strncmp(arg, "jobs=", 5) ||
             (settings->jobs = (uint32_t)strtoul(arg + 5, &end, 10)) < 1 ||
             settings->jobs > MAX_THREADS || *end) {
      snprintf(
          text, MAX_TEXT,
          "wrong argument '%.200s', expected clang=PROGRAM, or jobs=N with "
          "N from 1 to %d",
          arg, MAX_THREADS);
      return DTLTO_ERROR_CALLER;
    }
  }

  // Another version would make other objects.
  const char *args[] = {settings->clang, "--version", NULL};
  char wanted[64];
  atomic_int stop = 0;
  if (run(settings->clang, args, "/", 1, &stop, text) != DTLTO_OK)
    return DTLTO_ERROR_INFRASTRUCTURE;
  for (char *p = text; (p = strpbrk(p, "(\n"));)
    *p = ' '; // "19.1.7 (package 1.2)", "19.1.7\n"
  snprintf(wanted, sizeof(wanted), "version %s ", params->llvm_version);
  if (strstr(text, wanted))
    return DTLTO_OK;
  snprintf(text, MAX_TEXT,
           "'%s' isn't clang %s, as the linker is; name one with clang=PROGRAM",
           settings->clang, params->llvm_version);
  return DTLTO_ERROR_INFRASTRUCTURE;
}

static int write_file(const char *folder, const dtlto_input *input) {
  char path[MAX_PATH];
  if (snprintf(path, sizeof(path), "%s/%s", folder, input->path) >= MAX_PATH)
    return errno = ENAMETOOLONG, 0;
  for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
    *p = 0;
    mkdir(path, 0700);
  }
  FILE *file = fopen(path, "wb");
  if (!file)
    return 0;
  size_t n = fwrite(input->bytes.data, 1, input->bytes.size, file);
  return !fclose(file) && n == input->bytes.size;
}

static void free_object(void *owner, const void *data, uint64_t size) {
  (void)data, (void)size;
  free(owner);
}

static int read_object(const char *folder, const char *name, dtlto_buffer *o) {
  char path[MAX_PATH];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  struct stat info = {0};
  fstat(fileno(file), &info);
  size_t size = (size_t)info.st_size;
  void *bytes = size ? malloc(size) : NULL;
  int whole = bytes && fread(bytes, 1, size, file) == size;
  fclose(file);
  if (whole)
    *o = (dtlto_buffer){bytes, size, bytes, free_object};
  else
    free(bytes);
  return whole;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *place) {
  (void)info, (void)kind, (void)place;
  return remove(path);
}

int32_t compile(const struct settings *settings, const dtlto_job *job,
                atomic_int *stop, dtlto_buffer *object, char *text) {
  char folder[] = "/tmp/dtlto-example-XXXXXX";
  int32_t status = DTLTO_OK;
  if (*stop)
    return DTLTO_CANCELLED;
  if (!mkdtemp(folder))
    return fail(DTLTO_ERROR_INFRASTRUCTURE, text, "can't make", folder);
  for (uint32_t i = 0; status == DTLTO_OK && i != job->num_inputs; ++i)
    if (!write_file(folder, job->inputs[i]))
      status = fail(DTLTO_ERROR_INFRASTRUCTURE, text, "can't write",
                    job->inputs[i]->path);
  if (status == DTLTO_OK)
    status = run(settings->clang, job->args, folder, 2, stop, text);
  // An exit code of 0 is no object yet: clang says 0, and writes an empty file,
  // where it can't read the index.
  if (status == DTLTO_OK && !read_object(folder, job->output, object)) {
    status = DTLTO_ERROR_INFRASTRUCTURE;
    if (!text[0])
      snprintf(text, MAX_TEXT, "'%s' wrote no object", settings->clang);
  }
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return status;
}
