// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A template for plugins in C99. Replace dtlto_run_job() by your build system,
// and keep the rest; see docs/PLUGIN-GUIDE.md.

#include <dtlto/sdk/RunJob.h> // first; includes PluginAPI.h and C's headers
#include <pthread.h>

enum { NUM_THREADS = 4, NUM_TASKS = 2 * NUM_THREADS, MAX_TEXT = 4096 };

struct dtlto_session {
  const dtlto_host *host;
  char clang[1024];
  uint32_t num_threads;
  pthread_t threads[NUM_THREADS];
  // Guards the fields below. Not held in calls of the host, which may wait.
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int closing;
  struct task {
    enum state { FREE, WAITING, RUNNING } state;
    const dtlto_job *job; // readable until its job_done()
    int stop;
    dtlto_session *session;
  } tasks[NUM_TASKS]; // more than threads, so that these are never idle
};

static struct task *take(dtlto_session *s, enum state from, enum state to) {
  for (struct task *t = s->tasks; t != s->tasks + NUM_TASKS; ++t)
    if (t->state == from)
      return t->state = to, t;
  return NULL;
}

static int is_cancelled(void *task) {
  struct task *t = task;
  pthread_mutex_lock(&t->session->lock);
  int stop = t->stop;
  pthread_mutex_unlock(&t->session->lock);
  return stop;
}

static void *work(void *session) {
  dtlto_session *s = session;
  const dtlto_host *host = s->host;
  for (;;) {
    struct task *t;
    pthread_mutex_lock(&s->lock);
    while (!(t = take(s, WAITING, RUNNING)) && !s->closing)
      pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (!t)
      return NULL;

    char text[MAX_TEXT];
    dtlto_result result = {.size = sizeof(result), .worker = "this machine"};
    uint64_t id = t->job->id;
    host->job_state(host->context, id, DTLTO_STATE_RUNNING, result.worker);
    dtlto_run run = {s->clang, is_cancelled, t};
    dtlto_run_job(t->job, &run, &result, text, sizeof(text));

    pthread_mutex_lock(&s->lock);
    t->state = FREE; // before job_done(), after which the job is gone
    pthread_mutex_unlock(&s->lock);
    host->job_done(host->context, id, &result); // transfers the object
    host->load_changed(host->context);
  }
}

// Reads clang=PROGRAM, and checks that it has the linker's version.
static int32_t read_settings(dtlto_session *s, const dtlto_session_params *p,
                             char *text) {
  strcpy(s->clang, "clang");
  for (uint32_t i = 0; i != p->num_args; ++i)
    if (sscanf(p->args[i], "clang=%1023[^\n]", s->clang) != 1) {
      snprintf(text, MAX_TEXT,
               "wrong argument '%.200s', expected clang=PROGRAM", p->args[i]);
      return DTLTO_ERROR_CALLER;
    }
  return dtlto_run_check_clang(s->clang, p->llvm_version, text, MAX_TEXT);
}

static void configure(const dtlto_session_params *p, dtlto_session_config *c) {
  (void)p;
  c->needs = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
}

static int32_t open_session(const dtlto_host *host,
                            const dtlto_session_params *p,
                            dtlto_session **out) {
  char text[MAX_TEXT] = "no memory, or no thread";
  int32_t status = DTLTO_ERROR_INFRASTRUCTURE;
  dtlto_session *s = calloc(1, sizeof(*s));
  if (s && (status = read_settings(s, p, text)) == DTLTO_OK) {
    s->host = host;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_t *next = s->threads;
    while (s->num_threads != NUM_THREADS && !pthread_create(next++, 0, work, s))
      ++s->num_threads;
  }
  if (s && s->num_threads != 0)
    return *out = s, DTLTO_OK;
  host->log(host->context, DTLTO_LOG_ERROR, text);
  free(s);
  return status ? status : DTLTO_ERROR_INFRASTRUCTURE;
}

static int32_t submit(dtlto_session *s, const dtlto_job *job) {
  pthread_mutex_lock(&s->lock);
  struct task *t = take(s, FREE, WAITING);
  if (t)
    *t = (struct task){WAITING, job, 0, s};
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return t ? DTLTO_OK : DTLTO_BUSY;
}

// Cancels the job `id`; if `id` is 0, cancels all jobs and ends the threads.
static void cancel(dtlto_session *s, uint64_t id) {
  pthread_mutex_lock(&s->lock);
  s->closing |= id == 0;
  for (struct task *t = s->tasks; t != s->tasks + NUM_TASKS; ++t)
    if (t->state != FREE && (id == 0 || t->job->id == id))
      t->stop = 1; // its thread will call job_done()
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static int32_t load(dtlto_session *s, dtlto_load *load) {
  uint32_t n[3] = {0};
  pthread_mutex_lock(&s->lock);
  for (struct task *t = s->tasks; t != s->tasks + NUM_TASKS; ++t)
    ++n[t->state];
  pthread_mutex_unlock(&s->lock);
  load->slots = s->num_threads;
  load->free = s->num_threads - n[RUNNING];
  load->queued = n[WAITING];
  load->local = s->num_threads;
  return DTLTO_OK;
}

static void close_session(dtlto_session *s) {
  cancel(s, 0);
  for (uint32_t i = 0; i != s->num_threads; ++i)
    pthread_join(s->threads[i], NULL);
  free(s);
}

static const void *extension(const char *id) { return (void)id, NULL; }

// clang-format off
const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin), DTLTO_ABI_MAJOR, DTLTO_ABI_MINOR, 0, "example", "1.0",
    configure, open_session, submit, cancel, load, close_session, extension};
