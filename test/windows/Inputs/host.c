// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   host.exe DLL VERSION TRIPLE MODULE OBJECT [IMPORT...] -- [ARGUMENT...]
//
// The smallest host of a plugin. Runs the one job that compiles MODULE with
// MODULE.thinlto.bc and IMPORTs, and writes its object to OBJECT. Prints what
// the plugin says. With DTLTO_TEST_CANCEL, it cancels the job after so many
// milliseconds.

#include "dtlto/PluginAPI.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { MAX_INPUTS = 16 };

struct dtlto_host_context {
  const char *object;
  HANDLE done;
  int32_t status;
};

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
  SetEvent(c->done);
}

static void on_load(dtlto_host_context *c) { (void)c; }

static void set_needs(dtlto_host_context *c, uint32_t parts) {
  (void)c;
  printf("needs %u\n", parts);
}

static const void *extension(dtlto_host_context *c, const char *id) {
  static const dtlto_needs needs = {sizeof(needs), 0, set_needs};
  (void)c;
  return strcmp(id, DTLTO_EXT_NEEDS) ? NULL : &needs;
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
  HMODULE library = LoadLibraryA(argv[1]);
  const dtlto_plugin *plugin =
      library ? (const void *)GetProcAddress(library, "dtlto_plugin_entry")
              : NULL;
  if (!plugin)
    return printf("no plugin in %s: %lu\n", argv[1], GetLastError()), 2;

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
                        "-mno-incremental-linker-compatible",
                        "-Xclang",
                        "-gno-codeview-command-line",
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
                   .parts = DTLTO_PART_INPUTS | DTLTO_PART_ARGS,
                   .cost = 1,
                   .inputs = all,
                   .num_inputs = n,
                   .args = args,
                   .num_args = sizeof(args) / sizeof(*args) - 1,
                   .output = "out.o"};

  dtlto_host_context context = {argv[5], CreateEventA(NULL, TRUE, FALSE, NULL),
                                -1};
  dtlto_host host = {sizeof(host), DTLTO_ABI_MAJOR, DTLTO_ABI_MINOR, 0,
                     "dtlto",      "test",          &context,        on_log,
                     on_state,     on_done,         on_load,         extension};
  dtlto_session_params params = {.size = sizeof(params),
                                 .llvm_version = argv[2],
                                 .output = "",
                                 .num_jobs = 1,
                                 .job_timeout_s = 60};
  params.args = (const char *const *)argv + arg + 1;
  params.num_args = arg < argc ? (uint32_t)(argc - arg - 1) : 0;
  dtlto_session *session;
  if (plugin->open(&host, &params, &session) != DTLTO_OK)
    return 3;
  int32_t status = DTLTO_BUSY;
  for (int i = 0; i != 600 && status == DTLTO_BUSY; ++i) {
    status = plugin->submit(session, &job);
    if (status == DTLTO_BUSY)
      Sleep(100);
  }
  if (status == DTLTO_OK && getenv("DTLTO_TEST_CANCEL")) {
    Sleep((DWORD)atoi(getenv("DTLTO_TEST_CANCEL")));
    plugin->cancel(session, 1);
  }
  if (status == DTLTO_OK &&
      WaitForSingleObject(context.done, 60000) != WAIT_OBJECT_0)
    printf("no result\n");
  plugin->close(session);
  return context.status == DTLTO_OK ? 0 : 1;
}
