// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library for LD_PRELOAD with which a test sets the wall clock of a process
// while that runs. The file that WALL_CLOCK names has 8 bytes, a number of
// seconds that is added to the time of day. The process maps the file, so what
// the test writes there counts at once. The monotonic clock is not touched. A
// wait until a time of day ends when the clock that was set says so, as in the
// kernel.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef int ReadClock(clockid_t, struct timespec *);
typedef int ClockWait(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                      const struct timespec *);

static ReadClock *read_clock;
static ClockWait *clock_wait;
static const int64_t *step;

__attribute__((constructor)) static void prepare(void) {
  if (read_clock != NULL) return;
  clock_wait = (ClockWait *)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  read_clock = (ReadClock *)dlsym(RTLD_NEXT, "clock_gettime");
  const char *name = getenv("WALL_CLOCK");
  const int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *mapped = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  step = mapped;
  close(file);
}

static int64_t seconds(void) { return __atomic_load_n(step, __ATOMIC_RELAXED); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  prepare();
  const int result = read_clock(clock, time);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    time->tv_sec += seconds();
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

static int is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
                                : a->tv_nsec < b->tv_nsec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                           pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  prepare();
  for (;;) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!is_before(&now, until)) return ETIMEDOUT;
    // The clock may be set meanwhile, so it is looked at again.
    const long look_ns = 20 * 1000 * 1000;
    struct timespec look;
    read_clock(CLOCK_MONOTONIC, &look);
    look.tv_nsec += look_ns;
    if (look.tv_nsec >= 1000000000) {
      look.tv_nsec -= 1000000000;
      ++look.tv_sec;
    }
    const int result = clock_wait(condition, mutex, CLOCK_MONOTONIC, &look);
    if (result != ETIMEDOUT) return result;
  }
}
