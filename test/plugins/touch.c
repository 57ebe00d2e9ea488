// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong uses of memory and locks. `how=` selects one:
//
//   job-late     reads the job after its job_done()
//   write        writes to the bytes of the job's inputs; write-path: to a path
//   params-late  reads the parameters after open()
//   object       changes the object after its job_done()
//   bundle       keeps the bundle of each job; span-size: asks for it with a
//                struct that is too small
//   twice        releases the bundle of each job twice
//   room-late    waits for room for each job after its job_done()
//   room-submit  waits for it in submit()
//   number-job   reports a number for a job that it never had
//   number-name  reports a number without a name
//   host-late    reads the host after close()
//   late-call    calls the host after close()
//   release      takes a lock in the release() of its objects while it holds it
//                around job_done(); running jobs take long
//   abort        installs a handler of SIGABRT in submit()
//   locked       calls job_done() while it holds a lock that load() takes

#include "common.h"

#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/numbers.h"
#include <signal.h>

static const dtlto_session_params *Params;
static dtlto_host Copy;
static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;
static volatile char Sink;

static int how(dtlto_session *s, const char *what) {
  const char *value = argument(s, "how");
  return value && !strcmp(value, what);
}

static void enter_room(dtlto_session *s, uint64_t job) {
  const dtlto_local_room *room =
      s->host->extension(s->host->context, DTLTO_EXT_LOCAL_ROOM);
  if (room)
    room->enter(s->host->context, job);
}

static void tell_number(dtlto_session *s, const char *name, uint64_t job) {
  const dtlto_numbers *numbers =
      s->host->extension(s->host->context, DTLTO_EXT_NUMBERS);
  if (numbers)
    numbers->job(s->host->context, job, name, DTLTO_UNIT_COUNT, 1);
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  Params = params;
  Copy = *s->host;
  return DTLTO_OK;
}

static void configure(const dtlto_session_params *params,
                      dtlto_session_config *config) {
  const char *value = parameter(params, "how");
  static const char *const with_inputs[] = {"bundle", "twice", "span-size",
                                            "write", "write-path"};
  for (size_t i = 0; value && i < sizeof(with_inputs) / sizeof(*with_inputs);
       ++i)
    if (!strcmp(value, with_inputs[i]))
      config->needs = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;
}

static void release_locked(void *owner, const void *data, uint64_t size) {
  pthread_mutex_lock(&Lock);
  free_bytes(owner, data, size);
  pthread_mutex_unlock(&Lock);
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  if (how(s, "params-late"))
    Sink = Params->llvm_version[0];
  if (how(s, "abort"))
    signal(SIGABRT, _exit);
  if (how(s, "room-submit"))
    enter_room(s, job->id);
  return DTLTO_OK;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  uint64_t id = job->id;
  const dtlto_bundle *bundles =
      s->host->extension(s->host->context, DTLTO_EXT_BUNDLE);
  if (how(s, "write"))
    *(char *)(uintptr_t)job->inputs[0]->bytes.data = 0;
  if (how(s, "write-path"))
    *(char *)(uintptr_t)job->inputs[0]->path = 0;
  dtlto_bundle_spans spans = {how(s, "span-size") ? 8 : sizeof(spans), 0, NULL,
                              NULL, NULL};
  if (bundles && bundles->make(s->host->context, job->id, &spans) != DTLTO_OK)
    spans.release = NULL;
  codegen(s, job, result);
  int locked = how(s, "locked") || how(s, "release");
  if ((how(s, "object") || how(s, "release")) && result->status == DTLTO_OK) {
    dtlto_buffer whole = result->object;
    give(result, whole.data, whole.size);
    release(&whole);
  }
  if (how(s, "release")) {
    result->object.release = result->object.data ? release_locked : NULL;
    wait_for_cancel(s, id);
  }
  char *object = result->object.owner;
  if (locked)
    pthread_mutex_lock(&Lock);
  s->host->job_done(s->host->context, job->id, result);
  if (locked)
    pthread_mutex_unlock(&Lock);
  if (how(s, "object") && result->status == DTLTO_OK)
    object[0] ^= 1;
  if (how(s, "job-late"))
    Sink = job->name[0];
  if (how(s, "room-late"))
    enter_room(s, id);
  if (how(s, "number-job"))
    tell_number(s, "jobs", id + 1000);
  if (how(s, "number-name"))
    tell_number(s, NULL, id);
  if (spans.release && how(s, "twice"))
    spans.release(spans.owner);
  if (spans.release && !how(s, "bundle"))
    spans.release(spans.owner);
  result->size = 0;
}

static int32_t load(dtlto_session *s, dtlto_load *load) {
  pthread_mutex_lock(&Lock);
  int32_t status = common_load(s, load);
  pthread_mutex_unlock(&Lock);
  return status;
}

static void *read_late(void *host) {
  usleep(100 * 1000);
  Sink = (char)((const dtlto_host *)host)->abi_minor;
  return NULL;
}

static void *call_late(void *unused) {
  (void)unused;
  usleep(100 * 1000);
  Copy.load_changed(Copy.context);
  return NULL;
}

static void close_session(dtlto_session *s) {
  const dtlto_host *host = s->host;
  void *(*late)(void *) = how(s, "late-call")   ? call_late
                          : how(s, "host-late") ? read_late
                                                : NULL;
  common_close(s);
  pthread_t thread;
  if (late && !pthread_create(&thread, NULL, late, (void *)(uintptr_t)host))
    pthread_detach(thread);
}

static const struct hooks hooks = {
    .threads = 2, .open = open_hook, .submit = submit, .run = run};
PLUGIN_FUNCTIONS("touch", configure, common_open, common_submit, common_cancel,
                 load, close_session);
