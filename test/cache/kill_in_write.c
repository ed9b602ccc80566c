/*===- kill_in_write.c - Die while writing a cached kernel ------------------===*\
 *
 * Part of the Pathways project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Preloaded into a compiler. KILL_AT=N:BYTES kills it by SIGKILL, or the signal
 * with the number KILL_BY, in the N-th write to a temporary file of the kernel cache, once BYTES
 * of it are written; KILL_AT=N:rename and N:renamed right before and right after
 * the N-th of these files gets its final name.
 *
\*===------------------------------------------------------------------------===*/

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char kSuffix[] = ".kernel.tmp";

static int isTemporary(const char *path, size_t size) {
  size_t suffix = sizeof kSuffix - 1;
  return size > suffix && memcmp(path + size - suffix, kSuffix, suffix) == 0;
}

static void end(void) {
  const char *by = getenv("KILL_BY");
  kill(getpid(), by ? atoi(by) : SIGKILL);
}

/* Whether this is the event to die in, and what KILL_AT says of it. */
static const char *atLast(atomic_int *events) {
  const char *at = getenv("KILL_AT");
  if (!at || atomic_fetch_add(events, 1) + 1 != atoi(at))
    return NULL;
  return strchr(at, ':') + 1;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  static atomic_int events;
  ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  if (length > 0 && isTemporary(path, length)) {
    const char *what = atLast(&events);
    if (what && *what != 'r') {
      size_t most = strtoul(what, NULL, 10);
      next(fd, bytes, most < size ? most : size);
      end();
    }
  }
  return next(fd, bytes, size);
}

int rename(const char *from, const char *to) {
  static atomic_int events;
  int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  const char *what = isTemporary(from, strlen(from)) ? atLast(&events) : NULL;
  if (what && strcmp(what, "rename") == 0)
    end();
  int result = next(from, to);
  if (what && strcmp(what, "renamed") == 0)
    end();
  return result;
}
