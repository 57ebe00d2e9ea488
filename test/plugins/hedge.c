// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correct: gives each job to a worker, `codegen=PROGRAM`, and compiles it in
// the linker as well, in case the worker is slow. It then returns the worker's
// result, in its frame. `how=copy` is wrong: it returns a copy of the linker's
// object, in which damage would not be detected.

#include "common.h"

// Runs the worker. Returns whether there is a result.
static int work_out(dtlto_session *s, const dtlto_bundle_spans *bundle,
                    dtlto_result *result) {
  char name[] = "hedge-XXXXXX", command[4096];
  int fd = mkstemp(name);
  int written = fd >= 0;
  for (uint32_t i = 0; i < bundle->num_spans; ++i) {
    const dtlto_span *bytes = &bundle->spans[i].bytes;
    written &= write(fd, bytes->data, bytes->size) == (ssize_t)bytes->size;
  }
  close(fd);
  snprintf(command, sizeof(command), "%s --frame %s -o %s.o 2>&1",
           argument(s, "codegen"), name, name);
  char words[4096];
  FILE *worker = popen(command, "re");
  while (fread(words, 1, sizeof(words), worker))
    ; // ignore the compiler's messages
  int good = pclose(worker) == 0 && written;
  unlink(name);
  strcpy(command, name);
  FILE *object = fopen(strcat(command, ".o"), "rbe");
  if (good && object) {
    static _Thread_local char bytes[1 << 20];
    give(result, bytes, fread(bytes, 1, sizeof(bytes), object));
  }
  if (object)
    fclose(object);
  unlink(command);
  return good && object;
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  const dtlto_bundle *bundles =
      s->host->extension(s->host->context, DTLTO_EXT_BUNDLE);
  dtlto_bundle_spans bundle = {sizeof(bundle), 0, NULL, NULL, NULL};
  int has_bundle =
      bundles && bundles->make(s->host->context, job->id, &bundle) == DTLTO_OK;
  codegen(s, job, result);
  dtlto_buffer ours = result->object;
  const char *how = argument(s, "how");
  if (how && !strcmp(how, "copy") && result->status == DTLTO_OK) {
    give(result, ours.data, ours.size);
    release(&ours);
  } else if (has_bundle && work_out(s, &bundle, result)) {
    release(&ours);
  }
  if (has_bundle && bundle.release)
    bundle.release(bundle.owner);
}

PLUGIN("hedge", DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG,
       .threads = 2, .run = run);
