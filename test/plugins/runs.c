// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs each job with `clang=PROGRAM` on two threads, like a vendor's plugin,
// and makes the mistake that `how=` names:
//
//   infrastructure  all failures are the machine's, including the compiler's
//   mute            the compiler's messages are lost
//   roles           inputs with unknown roles are left out
//   output          the object is expected under its first name, out.o
//   lines           the message of an infrastructure error has two lines
//   name            ... begins with the plugin's name
//   log-lines       a line of the log is two
//   log-name        ... begins with the plugin's name
//   no-args         it reads the command line of jobs without one
//   waits           submit() waits until fewer than four jobs are left
//   lies            code for x86 that multiplies has another factor

#include "dtlto/sdk/RunJob.h"

#include "common.h"

static int how(const dtlto_session *s, const char *what) {
  const char *value = argument(s, "how");
  return value && !strcmp(value, what);
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (how(s, "log-lines"))
    say(s, DTLTO_LOG_NOTE, "ready\nand waiting");
  if (how(s, "log-name"))
    say(s, DTLTO_LOG_NOTE, "runs: ready");
  return DTLTO_OK;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    unsigned left = 0;
    for (struct task *task = s->tasks; task; task = task->next)
      ++left;
    if (left < 4 || !how(s, "waits"))
      break;
    pthread_cond_wait(&s->change, &s->lock);
  }
  pthread_mutex_unlock(&s->lock);
  return DTLTO_OK;
}

static void ran(dtlto_session *s) {
  pthread_mutex_lock(&s->lock);
  pthread_cond_broadcast(&s->change);
  pthread_mutex_unlock(&s->lock);
}

struct stop {
  dtlto_session *s;
  uint64_t id;
};

static int is_over(void *context) {
  struct stop *stop = context;
  dtlto_session *s = stop->s;
  pthread_mutex_lock(&s->lock);
  struct task *task = s->tasks;
  while (task->id != stop->id)
    task = task->next;
  int over = s->closing || task->cancelled;
  pthread_mutex_unlock(&s->lock);
  return over;
}

// Changes at most one instruction of the object.
static void lie(dtlto_buffer *object) {
  unsigned char *bytes = (unsigned char *)object->data; // from malloc()
  for (uint64_t i = 0; i + 3 <= object->size; ++i)
    if (bytes[i] == 0x0f && bytes[i + 1] == 0xaf) { // imul
      bytes[i + 2] ^= 1;
      return;
    }
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  static _Thread_local char text[4096];
  const char *clang = argument(s, "clang");
  dtlto_job mine = *job;
  const dtlto_input *inputs[256];
  if (how(s, "no-args") && job->args[0][0] == 0)
    return;
  if (how(s, "output"))
    mine.output = "out.o";
  if (how(s, "roles") && job->num_inputs <= 256) {
    mine.num_inputs = 0;
    for (uint32_t i = 0; i < job->num_inputs; ++i)
      if (job->inputs[i]->role <= DTLTO_ROLE_INDEX)
        inputs[mine.num_inputs++] = job->inputs[i];
    mine.inputs = inputs;
  }
  struct stop stop = {s, job->id};
  dtlto_run run = {clang ? clang : "clang", is_over, &stop};
  dtlto_run_job(&mine, &run, result, text, sizeof(text));
  result->worker = "worker-7";
  if (result->status == DTLTO_OK && how(s, "lies"))
    lie(&result->object);
  if (result->status == DTLTO_ERROR_COMPILER && how(s, "mute"))
    result->message = NULL;
  if (result->status == DTLTO_ERROR_COMPILER && how(s, "infrastructure")) {
    text[strcspn(text, "\n")] = 0;
    result->status = DTLTO_ERROR_INFRASTRUCTURE;
  }
  if (result->status == DTLTO_ERROR_INFRASTRUCTURE && how(s, "lines"))
    result->message = "it wrote no object\nand said nothing";
  if (result->status == DTLTO_ERROR_INFRASTRUCTURE && how(s, "name"))
    result->message = "runs: it wrote no object";
}

static void configure(const dtlto_session_params *params,
                      dtlto_session_config *config) {
  const char *value = parameter(params, "how");
  config->needs = DTLTO_JOB_INPUTS;
  if (!value || strcmp(value, "no-args"))
    config->needs |= DTLTO_JOB_ARGS;
}

static const struct hooks hooks = {
    .threads = 2, .open = open_hook, .submit = submit, .run = run, .ran = ran};
PLUGIN_FUNCTIONS("runs", configure, common_open, common_submit, common_cancel,
                 common_load, common_close);
