// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Has a store in its own memory. `how=` is its fault:
//
//   mixed     get() returns the last entry, whatever the key is
//   long      returns more bytes than requested
//   borrowed  doesn't copy the bytes that are put
//   mute      accepts nothing, and gives no reason
//   missing   a missing entry is an error
//   unsized   its struct has size 0

#include "common.h"

#include "dtlto/ext/draft/store.h"

static int32_t opened(dtlto_session *s, const dtlto_session_params *params);
static const struct hooks hooks = {.open = opened};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards what follows
static struct entry {
  uint8_t key[32];
  const void *data;
  uint64_t size;
} entries[8];
static int count;

static int is(dtlto_session *s, const char *how) {
  const char *given = argument(s, "how");
  return given && !strcmp(given, how);
}

static struct entry *find(dtlto_session *s, const uint8_t *key) {
  if (count && is(s, "mixed"))
    return &entries[0];
  for (int i = 0; i != count; ++i)
    if (!memcmp(entries[i].key, key, sizeof(entries[i].key)))
      return &entries[i];
  return NULL;
}

static int32_t get(dtlto_session *s, const uint8_t *key, uint64_t max_bytes,
                   uint32_t timeout_ms, dtlto_buffer *bytes, char *why,
                   uint64_t why_size) {
  (void)timeout_ms;
  memset(bytes, 0, sizeof(*bytes));
  pthread_mutex_lock(&mutex);
  struct entry *e = find(s, key);
  if (e && (e->size <= max_bytes || is(s, "long"))) {
    bytes->data = e->data; // lives until the process ends
    bytes->size = e->size;
  }
  int32_t status =
      !e && is(s, "missing") ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_OK;
  if (status)
    snprintf(why, why_size, "there is nothing");
  pthread_mutex_unlock(&mutex);
  return status;
}

static int32_t put(dtlto_session *s, const uint8_t *key, dtlto_span bytes,
                   uint32_t timeout_ms, char *why, uint64_t why_size) {
  (void)timeout_ms;
  (void)why;
  (void)why_size;
  if (is(s, "mute"))
    return DTLTO_ERROR_INFRASTRUCTURE;
  pthread_mutex_lock(&mutex);
  struct entry *e = find(s, key);
  if (!e)
    e = &entries[count++];
  memcpy(e->key, key, sizeof(e->key));
  void *copy = malloc(bytes.size + 1);
  if (bytes.size)
    memcpy(copy, bytes.data, bytes.size);
  e->data = is(s, "borrowed") ? bytes.data : copy;
  e->size = bytes.size;
  pthread_mutex_unlock(&mutex);
  return DTLTO_OK;
}

static dtlto_store store = {sizeof(dtlto_store), 0, get, put};

static int32_t opened(dtlto_session *s, const dtlto_session_params *params) {
  (void)params;
  if (is(s, "unsized"))
    store.size = 0;
  if (is(s, "null"))
    store.put = NULL;
  return DTLTO_OK;
}

static const void *extension(const char *id) {
  return strcmp(id, DTLTO_EXT_STORE) ? NULL : &store;
}

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
