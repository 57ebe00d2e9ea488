// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports three workers, of which one is up. `how=` is what else it does:
//
//   out       none is up
//   error     the query fails
//   nameless  a worker has no name
//   unsized   a worker's struct has no size
//   odd       an invalid state, numbers that are too large, and texts with
//             terminal escapes
//   hang      query() doesn't return after the first worker
//   close     close() doesn't return
//   slow      query() returns 2.5 s after its limit
//   thread    reports the workers on another thread
//   twice     reports them twice

#include "common.h"

#include "dtlto/ext/status.h"

static const struct hooks hooks;

static dtlto_worker_status worker(uint32_t state, const char *name) {
  return (dtlto_worker_status){.size = sizeof(dtlto_worker_status),
                               .state = state,
                               .name = name,
                               .slots = UINT32_MAX,
                               .busy = UINT32_MAX,
                               .load_permille = UINT32_MAX};
}

static int32_t ask(dtlto_session *s, uint32_t timeout_ms,
                   void (*tell)(void *, const dtlto_worker_status *),
                   void *context) {
  (void)timeout_ms;
  const char *how = argument(s, "how");
  how = how ? how : "";
  if (!strcmp(how, "error")) {
    say(s, DTLTO_LOG_WARNING, "nobody is at home");
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  int out = !strcmp(how, "out");
  dtlto_worker_status first =
      worker(out ? DTLTO_WORKER_OUT : DTLTO_WORKER_UP, "node1");
  first.compiler = "clang 1.2.3";
  first.why = out ? "it is broken" : NULL;
  first.slots = 16;
  first.busy = 3;
  first.load_permille = 1234;
  tell(context, &first);
  if (!strcmp(how, "hang"))
    for (;;)
      pause();
  dtlto_worker_status second = worker(DTLTO_WORKER_OUT, "a-longer-name:4711");
  second.why = "its clang is of another time";
  if (!strcmp(how, "unsized"))
    second.size = 0;
  if (!strcmp(how, "nameless"))
    second.name = NULL;
  tell(context, &second);
  dtlto_worker_status third = worker(DTLTO_WORKER_UNKNOWN, "node3");
  if (!strcmp(how, "odd")) {
    third.state = 99;
    third.slots = third.busy = third.load_permille = UINT32_MAX - 1;
    third.name = "\xff\x1b[2J\n\"";
  }
  tell(context, &third);
  return DTLTO_OK;
}

struct question {
  dtlto_session *s;
  void (*tell)(void *, const dtlto_worker_status *);
  void *context;
};

static void *ask_there(void *question) {
  struct question *q = question;
  ask(q->s, 0, q->tell, q->context);
  return NULL;
}

static int32_t query(dtlto_session *s, uint32_t timeout_ms,
                     void (*tell)(void *, const dtlto_worker_status *),
                     void *context) {
  const char *how = argument(s, "how");
  how = how ? how : "";
  if (!strcmp(how, "slow"))
    usleep((timeout_ms + 2500) * 1000);
  if (!strcmp(how, "thread")) {
    struct question q = {s, tell, context};
    pthread_t thread;
    pthread_create(&thread, NULL, ask_there, &q);
    pthread_join(thread, NULL);
    return DTLTO_OK;
  }
  if (!strcmp(how, "twice"))
    ask(s, timeout_ms, tell, context);
  return ask(s, timeout_ms, tell, context);
}

static const dtlto_status status = {sizeof(dtlto_status), 0, query};

static const void *extension(const char *id) {
  return strcmp(id, DTLTO_EXT_STATUS) ? NULL : &status;
}

static void close_session(dtlto_session *s) {
  const char *how = argument(s, "how");
  while (how && !strcmp(how, "close"))
    pause();
  common_close(s);
}

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0,
    "status",
    "test",
    common_configure,
    common_open,
    common_submit,
    common_cancel,
    common_load,
    close_session,
    extension};
