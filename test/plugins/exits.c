// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: ends the linker's process. `in=open`, `in=submit`, `in=job` (on a
// thread of its own), `in=close`: where. `code=N`: the exit code (0).
// `by=pipe`: by a SIGPIPE, with an atexit handler that hangs; with EXITS_PIPE
// in the environment, LLVM's SIGPIPE handler is removed. `by=settings`: changes
// the working folder and the umask instead. `by=ignore`: changes the handling
// of SIGPIPE. `by=child`: ends only a forked child. `by=print`: writes to
// standard output.

#include "common.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
  if (getenv("EXITS_PIPE"))
    signal(SIGPIPE, SIG_DFL);
}

static void hang(void) {
  for (;;)
    pause();
}

static void end(const dtlto_session *s, const char *here) {
  const char *in = argument(s, "in"), *by = argument(s, "by");
  if (!in || strcmp(in, here))
    return;
  if (by && !strcmp(by, "ignore")) {
    signal(SIGPIPE, SIG_IGN);
    return;
  }
  if (by && !strcmp(by, "settings")) {
    umask(077);
    if (chdir("/"))
      abort();
    return;
  }
  if (by && !strcmp(by, "print")) {
    puts("hello, linker");
    return;
  }
  if (by && !strcmp(by, "child")) {
    pid_t child = fork();
    if (!child)
      exit(0);
    waitpid(child, NULL, 0);
    return;
  }
  if (!by || strcmp(by, "pipe"))
    exit((int)number(s, "code", 0));
  atexit(hang);
  raise(SIGPIPE);
}

static int32_t open_session(dtlto_session *s,
                            const dtlto_session_params *params) {
  (void)params;
  end(s, "open");
  return DTLTO_OK;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  end(s, "submit");
  return DTLTO_OK;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  end(s, "job");
  codegen(s, job, result);
}

static void closed(dtlto_session *s) { end(s, "close"); }

PLUGIN("exits", 0, .open = open_session, .submit = submit, .run = run,
       .closed = closed);
