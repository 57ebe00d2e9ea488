// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   host.exe DLL VERSION TRIPLE MODULE OBJECT [IMPORT...] -- [ARGUMENT...]
//
// A minimal host for a plugin. Runs the one job that compiles MODULE with
// MODULE.thinlto.bc and IMPORTs, and writes its object to OBJECT. Prints the
// plugin's messages. With DTLTO_TEST_CANCEL, it cancels the job after that many
// milliseconds.

#include "dtlto/PluginAPI.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

enum { MAX_INPUTS = 16 };

struct dtlto_host_context {
  const char *object;
  volatile int done; // written last
  volatile int32_t status;
};

static void sleep_ms(int ms) {
#ifdef _WIN32
  Sleep((DWORD)ms);
#else
  usleep((unsigned)ms * 1000);
#endif
}

static const dtlto_plugin *load_plugin(const char *path) {
#ifdef _WIN32
  HMODULE library = LoadLibraryA(path);
  return library ? (const void *)GetProcAddress(library, DTLTO_PLUGIN_SYMBOL)
                 : NULL;
#else
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, DTLTO_PLUGIN_SYMBOL) : NULL;
#endif
}

static void on_log(dtlto_host_context *c, uint32_t level, const char *message) {
  (void)c;
  printf("log %u: %s\n", level, message);
}

static void on_state(dtlto_host_context *c, uint64_t job, uint32_t state,
                     const char *worker) {
  (void)c, (void)job;
  printf("state %u on %s\n", state, worker ? worker : "nobody");
}

static void on_done(dtlto_host_context *c, uint64_t job,
                    const dtlto_result *r) {
  (void)job;
  printf("done %d: %s\n", r->status, r->message ? r->message : "");
  c->status = r->status;
  if (r->status == DTLTO_OK) {
    FILE *file = fopen(c->object, "wb");
    if (!file ||
        fwrite(r->object.data, 1, r->object.size, file) != r->object.size)
      c->status = DTLTO_ERROR_CALLER;
    if (file)
      fclose(file);
  }
  if (r->object.release)
    r->object.release(r->object.owner, r->object.data, r->object.size);
  c->done = 1;
}

static void on_load(dtlto_host_context *c) { (void)c; }

static int32_t check_result(dtlto_host_context *c, uint64_t job,
                            dtlto_span object, char *why, uint64_t why_size) {
  (void)c, (void)job, (void)object, (void)why, (void)why_size;
  return DTLTO_OK;
}

static const void *extension(dtlto_host_context *c, const char *id) {
  (void)c, (void)id;
  return NULL;
}

static dtlto_input read_input(uint32_t role, const char *path) {
  dtlto_input in = {.size = sizeof(in), .role = role, .path = path};
  FILE *file = fopen(path, "rb");
  if (!file)
    exit((printf("no %s\n", path), 2));
  fseek(file, 0, SEEK_END);
  in.bytes.size = (uint64_t)ftell(file);
  rewind(file);
  void *bytes = malloc(in.bytes.size + 1);
  in.bytes.data = bytes;
  if (fread(bytes, 1, in.bytes.size, file) != in.bytes.size)
    exit(2);
  fclose(file);
  return in;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (argc < 7)
    return 2;
  const dtlto_plugin *plugin = load_plugin(argv[1]);
  if (!plugin)
    return printf("no plugin in %s\n", argv[1]), 2;

  char shard[1024], index[1100], target[200];
  snprintf(shard, sizeof(shard), "%s.thinlto.bc", argv[4]);
  snprintf(index, sizeof(index), "-fthinlto-index=%s", shard);
  snprintf(target, sizeof(target), "--target=%s", argv[3]);
  dtlto_input inputs[MAX_INPUTS];
  const dtlto_input *all[MAX_INPUTS];
  uint32_t n = 0;
  inputs[n++] = read_input(DTLTO_ROLE_PRIMARY, argv[4]);
  inputs[n++] = read_input(DTLTO_ROLE_INDEX, shard);
  int arg = 6;
  for (; arg != argc && strcmp(argv[arg], "--") && n != MAX_INPUTS; ++arg)
    inputs[n++] = read_input(DTLTO_ROLE_IMPORT, argv[arg]);
  for (uint32_t i = 0; i != n; ++i)
    all[i] = &inputs[i];
  const char *args[] = {"clang",
                        "--no-default-config",
                        "-c",
                        target,
                        "-O2",
                        "-ffunction-sections",
                        "-fdata-sections",
#ifdef _WIN32
                        "-mno-incremental-linker-compatible",
                        "-Xclang",
                        "-gno-codeview-command-line",
#endif
                        index,
                        "-x",
                        "ir",
                        argv[4],
                        "-o",
                        "out.o",
                        NULL};
  dtlto_job job = {.size = sizeof(job),
                   .id = 1,
                   .name = argv[4],
                   .triple = argv[3],
                   .fields = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS,
                   .cost = 1,
                   .inputs = all,
                   .num_inputs = n,
                   .args = args,
                   .num_args = sizeof(args) / sizeof(*args) - 1,
                   .output = "out.o"};

  dtlto_host_context context = {argv[5], 0, -1};
  dtlto_host host = {.size = sizeof(host),
                     .abi_major = DTLTO_ABI_MAJOR,
                     .abi_minor = DTLTO_ABI_MINOR,
                     .name = "dtlto",
                     .version = "test",
                     .context = &context,
                     .log = on_log,
                     .job_state = on_state,
                     .job_done = on_done,
                     .load_changed = on_load,
                     .check_result = check_result,
                     .extension = extension};
  dtlto_session_params params = {.size = sizeof(params),
                                 .llvm_version = argv[2],
                                 .output = "",
                                 .num_jobs = 1,
                                 .job_timeout_s = 60};
  params.args = (const char *const *)argv + arg + 1;
  params.num_args = arg < argc ? (uint32_t)(argc - arg - 1) : 0;
  dtlto_session_config config = {.size = sizeof(config)};
  plugin->configure(&params, &config);
  printf("needs %u\n", config.needs);
  dtlto_session *session;
  if (plugin->open(&host, &params, &session) != DTLTO_OK)
    return 3;
  int32_t status = DTLTO_BUSY;
  for (int i = 0; i != 600 && status == DTLTO_BUSY; ++i) {
    status = plugin->submit(session, &job);
    if (status == DTLTO_BUSY)
      sleep_ms(100);
  }
  if (status == DTLTO_OK && getenv("DTLTO_TEST_CANCEL")) {
    sleep_ms(atoi(getenv("DTLTO_TEST_CANCEL")));
    plugin->cancel(session, 1);
  }
  for (int i = 0; i != 6000 && status == DTLTO_OK && !context.done; ++i)
    sleep_ms(10);
  if (!context.done)
    printf("no result\n");
  plugin->close(session);
  return context.status == DTLTO_OK ? 0 : 1;
}
