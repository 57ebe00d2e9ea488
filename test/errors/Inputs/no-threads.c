// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For LD_PRELOAD: after $THREADS threads, pthread_create() fails, as if the
// number of processes is limited.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                      void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument) {
  static int started;
  const char *most = getenv("THREADS");
  if (most && __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED) >= atoi(most))
    return EAGAIN;
  create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, start, argument);
}
