// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store whose entries are files of a folder, file:///FOLDER. `how=` is its
// fault:
//
//   mixed      get() returns the last entry, whatever the key is
//   long       returns more bytes than requested
//   borrowed   doesn't copy the bytes that are put
//   mute       accepts nothing, and gives no reason
//   missing    a missing entry is an error
//   unsized    its struct has size 0
//   flip       get() returns one wrong bit
//   hang       get() never returns
//   hang-put   put() never returns
//   fail       get() fails
//   slow       get() takes a second
//   late       get() takes two seconds, except for the first entry
//   refuse     open() fails

#include "common.h"

#include "dtlto/ext/store.h"
#include <unistd.h>

struct dtlto_store_client {
  char folder[3000];
  char how[32];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards what follows
static const void *borrowed;
static uint64_t borrowed_size;
static int gets;

static int is(dtlto_store_client *c, const char *how) {
  return !strcmp(c->how, how);
}

static int32_t opened(const dtlto_store_params *params,
                      dtlto_store_client **client, char *why,
                      uint64_t why_size) {
  dtlto_store_client *c = calloc(1, sizeof(*c));
  const char *url = params->url;
  if (!strncmp(url, "file://", 7))
    snprintf(c->folder, sizeof(c->folder), "%s", url + 7);
  for (uint32_t i = 0; i != params->num_args; ++i)
    if (!strncmp(params->args[i], "how=", 4))
      snprintf(c->how, sizeof(c->how), "%s", params->args[i] + 4);
  if (!c->folder[0] || is(c, "refuse")) {
    snprintf(why, why_size, "'%s' is not file:///<folder>", url);
    free(c);
    return DTLTO_ERROR_CALLER;
  }
  *client = c;
  return DTLTO_OK;
}

static void path_of(dtlto_store_client *c, const uint8_t *key, char *path,
                    size_t size) {
  int n = snprintf(path, size, "%s/", c->folder);
  if (is(c, "mixed"))
    snprintf(path + n, size - n, "all");
  else
    for (int i = 0; i != 32; ++i)
      n += snprintf(path + n, size - n, "%02x", key[i]);
}

static void release_data(void *owner, const void *data, uint64_t size) {
  (void)data;
  (void)size;
  free(owner);
}

static int32_t get(dtlto_store_client *c, const uint8_t *key,
                   uint64_t max_bytes, uint32_t timeout_ms, dtlto_buffer *bytes,
                   char *why, uint64_t why_size) {
  (void)timeout_ms;
  memset(bytes, 0, sizeof(*bytes));
  pthread_mutex_lock(&mutex);
  int number = gets++;
  pthread_mutex_unlock(&mutex);
  if (is(c, "hang"))
    for (;;)
      pause();
  if (is(c, "slow"))
    sleep(1);
  if (is(c, "late") && number != 0)
    sleep(2);
  if (is(c, "fail")) {
    snprintf(why, why_size, "the server is tired");
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  if (is(c, "borrowed") && borrowed) {
    bytes->data = borrowed;
    bytes->size = borrowed_size;
    return DTLTO_OK;
  }
  char path[4096];
  path_of(c, key, path, sizeof(path));
  FILE *f = fopen(path, "rb");
  if (!f) {
    snprintf(why, why_size, "there is nothing");
    return is(c, "missing") ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_OK;
  }
  fseek(f, 0, SEEK_END);
  uint64_t size = ftell(f);
  rewind(f);
  if (size && (size <= max_bytes || is(c, "long"))) {
    char *data = malloc(size);
    size = fread(data, 1, size, f);
    if (is(c, "flip"))
      data[size / 2] ^= 1;
    *bytes = (dtlto_buffer){data, size, data, release_data};
  }
  fclose(f);
  return DTLTO_OK;
}

static int32_t put(dtlto_store_client *c, const uint8_t *key, dtlto_span bytes,
                   uint32_t timeout_ms, char *why, uint64_t why_size) {
  (void)timeout_ms;
  if (is(c, "mute"))
    return DTLTO_ERROR_INFRASTRUCTURE;
  if (is(c, "hang-put"))
    for (;;)
      pause();
  if (is(c, "borrowed")) {
    borrowed = bytes.data;
    borrowed_size = bytes.size;
    return DTLTO_OK;
  }
  char path[4096], unfinished[4200];
  path_of(c, key, path, sizeof(path));
  snprintf(unfinished, sizeof(unfinished), "%s.%lx", path,
           (unsigned long)pthread_self());
  FILE *f = fopen(unfinished, "wb");
  if (!f || fwrite(bytes.data, 1, bytes.size, f) != bytes.size || fclose(f) ||
      rename(unfinished, path)) {
    snprintf(why, why_size, "'%s' cannot be written", c->folder);
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  return DTLTO_OK;
}

static void closed(dtlto_store_client *c) { free(c); }

static dtlto_store store = {sizeof(dtlto_store), 0, opened, get, put, closed};

static const void *extension(const char *id) {
  const char *how = getenv("DTLTO_TEST_STORE");
  if (how && !strcmp(how, "unsized"))
    store.size = 0;
  if (how && !strcmp(how, "null"))
    store.put = NULL;
  return strcmp(id, DTLTO_EXT_STORE) ? NULL : &store;
}

static const struct hooks hooks;

DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0,
    "store",
    "test",
    common_configure,
    common_open,
    common_submit,
    common_cancel,
    common_load,
    common_close,
    extension};
