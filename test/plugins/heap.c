// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: writes past the end of an allocation, so that malloc() calls abort()
// while it holds its lock. `handler=hang`: a handler of SIGABRT that allocates
// memory and doesn't return, as a run-time library's might; `handler=exit`: one
// that calls exit(0). `threads=1`: instead, several threads call abort() at the
// same time.

#include "common.h"
#include <signal.h>

static void hang(int signal) {
  (void)signal;
  for (;;) {
    free(malloc(100));
    pause();
  }
}

static void end(int signal) {
  (void)signal;
  exit(0);
}

static void *abort_with_others(void *barrier) {
  pthread_barrier_wait(barrier);
  abort();
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  const char *handler = argument(s, "handler");
  if (handler)
    signal(SIGABRT, strcmp(handler, "hang") ? end : hang);
  return DTLTO_OK;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  (void)job;
  (void)result;
  static pthread_barrier_t barrier;
  pthread_t thread;
  if (argument(s, "threads")) {
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i != 7; ++i)
      pthread_create(&thread, NULL, abort_with_others, &barrier);
    abort_with_others(&barrier);
  }
  char *volatile block = malloc(24); // hides its size from compilers
  memset(block + 24, 0xff, 4096 - 24);
  for (size_t size = 1; size < 1 << 20; size *= 2)
    free(malloc(size));
  abort(); // some linkers have another malloc()
}

PLUGIN("heap", 0, .open = open_hook, .run = run);
