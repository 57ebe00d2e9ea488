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
//   slow            submit() takes 30 ms
//   early-room      four jobs are accepted at a time; load_changed() is called
//                   in submit(), before it returns DTLTO_BUSY
//   deaf            cancel() does nothing
//   any-version     clang's version isn't compared with the linker's
//   paraphrases     the compiler's words are replaced by other ones
//   nameless        results name no worker
//   large           results have a `size` larger than that of their struct
//   keeps-file, keeps-thread, keeps-memory
//                   each job leaves a descriptor, a thread, or the memory of an
//                   object
//   setenv, setlocale
//                   the process gets another environment, or locale
//   lies            code for x86 that multiplies has another factor

#include "dtlto/sdk/RunJob.h"

#include "common.h"
#include <fcntl.h>
#include <locale.h>

static int how(const dtlto_session *s, const char *what) {
  const char *value = argument(s, "how");
  return value && !strcmp(value, what);
}

static int32_t open_hook(dtlto_session *s, const dtlto_session_params *params) {
  char text[512];
  const char *clang = argument(s, "clang");
  if (!how(s, "any-version") &&
      dtlto_run_check_clang(clang ? clang : "clang", params->llvm_version, text,
                            sizeof(text)) != DTLTO_OK) {
    say(s, DTLTO_LOG_ERROR, "%s", text);
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  if (how(s, "setenv"))
    setenv("RUNS_HOW", "setenv", 1);
  if (how(s, "setlocale"))
    setlocale(LC_ALL, "C.UTF-8");
  if (how(s, "log-lines"))
    say(s, DTLTO_LOG_NOTE, "ready\nand waiting");
  if (how(s, "log-name"))
    say(s, DTLTO_LOG_NOTE, "runs: ready");
  return DTLTO_OK;
}

static unsigned num_tasks(dtlto_session *s) { // the lock is held
  unsigned n = 0;
  for (struct task *task = s->tasks; task; task = task->next)
    ++n;
  return n;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  (void)job;
  if (how(s, "slow"))
    usleep(30 * 1000);
  pthread_mutex_lock(&s->lock);
  while (how(s, "waits") && num_tasks(s) >= 4)
    pthread_cond_wait(&s->change, &s->lock);
  int32_t status =
      how(s, "early-room") && num_tasks(s) >= 4 ? DTLTO_BUSY : DTLTO_OK;
  pthread_mutex_unlock(&s->lock);
  if (how(s, "early-room"))
    s->host->load_changed(s->host->context);
  return status;
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
  int over = s->closing || (task->cancelled && !how(s, "deaf"));
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

static void *stay(void *unused) {
  for (;;)
    pause();
  return unused;
}

static void keep(dtlto_session *s, const dtlto_result *result) {
  static void *volatile kept; // the last block, which points to the one before
  pthread_t thread;
  if (how(s, "keeps-file"))
    open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (how(s, "keeps-thread") && !pthread_create(&thread, NULL, stay, NULL))
    pthread_detach(thread);
  if (how(s, "keeps-memory")) {
    void **block = calloc(1, result->object.size + 4096);
    *block = kept;
    kept = block;
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
  result->worker = how(s, "nameless") ? NULL : "worker-7";
  if (how(s, "large"))
    result->size = 2 * sizeof(*result);
  keep(s, result);
  if (result->status == DTLTO_OK && how(s, "lies"))
    lie(&result->object);
  if (result->status == DTLTO_ERROR_COMPILER && how(s, "mute"))
    result->message = NULL;
  if (result->status == DTLTO_ERROR_COMPILER && how(s, "paraphrases"))
    result->message = "compile failed";
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
