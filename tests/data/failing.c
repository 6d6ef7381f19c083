/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: the n-th allocation, write or thread from now on fails. `fail_allocation(n)`, `fail_write(n)`, `fail_thread(n)` are extern functions, so a
   program arms them itself; FAIL_AT="allocation 1234" does it from the start. What is armed fails once. */
#define _GNU_SOURCE
#include "toy_extern.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static long allocations, writes, threads; /* until the one that fails; 0: none */

__attribute__((constructor)) static void arm(void) {
  const char *at = getenv("FAIL_AT");
  const char *number = at ? strchr(at, ' ') : NULL;
  if (number)
    *(at[0] == 'a' ? &allocations : at[0] == 'w' ? &writes : &threads) = atol(number);
}

static int fails(long *left) { return *left > 0 && __atomic_sub_fetch(left, 1, __ATOMIC_RELAXED) == 0; }

void *malloc(size_t n) { return fails(&allocations) ? (errno = ENOMEM, NULL) : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails(&allocations) ? (errno = ENOMEM, NULL) : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails(&allocations) ? (errno = ENOMEM, NULL) : __libc_realloc(p, n); }
void *memalign(size_t a, size_t n) { return fails(&allocations) ? (errno = ENOMEM, NULL) : __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { return memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) { return (*p = memalign(a, n)) ? 0 : ENOMEM; }

ssize_t write(int file, const void *data, size_t n) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next)
    next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  if (file != STDERR_FILENO && fails(&writes)) {
    errno = ENOSPC;
    return -1;
  }
  return next(file, data, n);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!next)
    next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return fails(&threads) ? EAGAIN : next(thread, attributes, body, argument);
}

static int32_t set(const toy_call *call, long *counter) {
  *counter = *(int64_t *)call->arguments[0].data;
  *(int64_t *)call->results[0].data = 0;
  return 0;
}
int32_t fail_allocation(const toy_call *call) { return set(call, &allocations); }
int32_t fail_write(const toy_call *call) { return set(call, &writes); }
int32_t fail_thread(const toy_call *call) { return set(call, &threads); }
