// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breaks the rule of the ABI that `how=` names:
//
//   needs        configure() asks for fields that no ABI has
//   open-value   open() fails with an unknown value, without a message
//   slow-open    open() takes 1.1 s
//   slow         submit() takes 300 ms
//   past         reads a job past its size
//   refused      reads a job after submit() has refused it
//   lost         the first job has no job_done()
//   cancelled    jobs are cancelled without a request
//   extra        jobs that fail have an object
//   empty        jobs that succeed have none
//   utf8         the worker's name is not UTF-8
//   run-late     compiles each job after its job_done(); check-late: checks its
//                object
//   thread       each job leaves a thread
//   renames      ... which has called the host and changed its name
//   calls        a thread calls the host until the process ends

#include "common.h"

#include <sys/prctl.h>

static const dtlto_job *Refused;
static volatile char Sink;

static int how(const dtlto_session *s, const char *what) {
  const char *value = argument(s, "how");
  return value && !strcmp(value, what);
}

static void configure(const dtlto_session_params *params,
                      dtlto_session_config *config) {
  const char *value = parameter(params, "how");
  if (value && !strcmp(value, "needs"))
    config->needs = 1u << 30;
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (how(s, "slow-open"))
    usleep(1100 * 1000);
  return how(s, "open-value") ? 99 : DTLTO_OK;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  if (how(s, "slow"))
    usleep(300 * 1000);
  if (how(s, "past"))
    Sink = ((const char *)job)[job->size];
  if (!how(s, "refused"))
    return DTLTO_OK;
  if (Refused)
    Sink = Refused->name[0];
  Refused = job;
  return DTLTO_ERROR_INFRASTRUCTURE;
}

static void *stay(void *unused) {
  for (;;)
    pause();
  return unused;
}

static void *rename_and_stay(void *session) {
  dtlto_session *s = session;
  s->host->load_changed(s->host->context);
  prctl(PR_SET_NAME, "other");
  return stay(NULL);
}

static void *call(void *host) {
  dtlto_host copy = *(const dtlto_host *)host;
  for (;; usleep(1000))
    copy.load_changed(copy.context);
  return NULL;
}

static void start(void *(*what)(void *), void *with) {
  pthread_t thread;
  if (!pthread_create(&thread, NULL, what, with))
    pthread_detach(thread);
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  static int count;
  const uint64_t id = job->id;
  if (how(s, "thread"))
    start(stay, NULL);
  if (how(s, "renames"))
    start(rename_and_stay, s);
  if (how(s, "calls") && count++ == 0)
    start(call, (void *)(uintptr_t)s->host);
  if (how(s, "cancelled")) {
    result->status = DTLTO_CANCELLED;
    return;
  }
  if (how(s, "empty")) {
    result->status = DTLTO_OK;
    return;
  }
  if (how(s, "extra")) {
    give(result, "object", 6);
    fail(result, DTLTO_ERROR_INFRASTRUCTURE, "it broke");
    return;
  }
  if (how(s, "lost") && count++ == 0) {
    wait_for_cancel(s, id);
    result->size = 0;
    return;
  }
  codegen(s, job, result);
  if (how(s, "utf8"))
    result->worker = "node\xff";
  if (!how(s, "run-late") && !how(s, "check-late"))
    return;
  s->host->job_done(s->host->context, id, result);
  dtlto_result late = no_result();
  dtlto_span object = {"object", 6};
  if (how(s, "check-late"))
    s->host->check_result(s->host->context, id, object, NULL, 0);
  else
    ((const dtlto_local_codegen *)s->host->extension(s->host->context,
                                                     DTLTO_EXT_LOCAL_CODEGEN))
        ->run(s->host->context, id, &late);
  result->size = 0;
}

static const struct hooks hooks = {
    .threads = 2, .open = open_hook, .submit = submit, .run = run};
PLUGIN_FUNCTIONS("breaks", configure, common_open, common_submit, common_cancel,
                 common_load, common_close);
