//===- jobs.c - Calls that signals interrupt ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of the library that waits knows nothing of Ctrl-C. The main thread,
// the only one whose signals Python handles, therefore leaves such a call to a
// thread of its own, and looks for signals meanwhile. If a signal raises an
// exception, it abandons the call, whose result is freed when it ends.
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Calls that were abandoned and still run.
static atomic_int numAbandoned;

void jobFree(Job *job) {
  Py_XDECREF(job->inputs);
  for (size_t i = 0; i < sizeof job->cells / sizeof *job->cells; ++i)
    cellRelease(job->cells[i]);
  pw_error_free(job->error);
  pthread_mutex_destroy(&job->mutex);
  pthread_cond_destroy(&job->hasEnded);
  free(job);
}

static void finishAbandoned(Leftover *work) {
  Job *job = (Job *)work;
  if (!job->error && job->discard)
    job->discard(job);
  jobFree(job);
}

void *jobCreate(size_t size, pw_error *(*call)(Job *), void (*discard)(Job *),
                PyObject *inputs, Cell *first, Cell *second) {
  Job *job = calloc(1, size);
  if (!job) {
    cellRelease(first);
    cellRelease(second);
    return PyErr_NoMemory();
  }
  job->work.finish = finishAbandoned;
  job->call = call;
  job->discard = discard;
  Py_XINCREF(inputs);
  job->inputs = inputs;
  job->cells[0] = first;
  job->cells[1] = second;
  pthread_mutex_init(&job->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&job->hasEnded, &attributes);
  pthread_condattr_destroy(&attributes);
  return job;
}

static void *runJob(void *argument) {
  Job *job = argument;
  pw_error *error = job->call(job);
  pthread_mutex_lock(&job->mutex);
  job->error = error;
  job->isDone = true;
  const bool isAbandoned = job->isAbandoned;
  pthread_cond_signal(&job->hasEnded);
  pthread_mutex_unlock(&job->mutex);
  if (isAbandoned) {
    leaveWork(&job->work);
    atomic_fetch_sub(&numAbandoned, 1);
  }
  return NULL;
}

/// Starts a thread that handles no signals but those of faults.
static bool startThread(Job *job) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  static const int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof kFaults / sizeof *kFaults; ++i)
    sigdelset(&blocked, kFaults[i]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  const int status = pthread_create(&thread, &attributes, runJob, job);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return status == 0;
}

/// Waits for the end of the job, but no longer than one slice.
static bool waitForSlice(Job *job) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += SLICE_NS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  pthread_mutex_lock(&job->mutex);
  while (!job->isDone &&
         pthread_cond_timedwait(&job->hasEnded, &job->mutex, &until) == 0)
    ;
  const bool isDone = job->isDone;
  pthread_mutex_unlock(&job->mutex);
  return isDone;
}

/// Returns false if the job ended before it could be abandoned.
static bool abandon(Job *job) {
  pthread_mutex_lock(&job->mutex);
  const bool isRunning = !job->isDone;
  if (isRunning) {
    job->isAbandoned = true;
    atomic_fetch_add(&numAbandoned, 1);
  }
  pthread_mutex_unlock(&job->mutex);
  return isRunning;
}

bool jobRun(Job *job) {
  const bool isMain = syscall(SYS_gettid) == getpid();
  if (!isMain || !startThread(job)) {
    Py_BEGIN_ALLOW_THREADS
    job->error = job->call(job);
    Py_END_ALLOW_THREADS
  } else {
    while (true) {
      bool isDone;
      Py_BEGIN_ALLOW_THREADS
      isDone = waitForSlice(job);
      Py_END_ALLOW_THREADS
      if (isDone)
        break;
      if (PyErr_CheckSignals() == 0)
        continue;
      if (!abandon(job))
        finishAbandoned(&job->work);
      return false;
    }
  }
  finishWork();
  if (!job->error)
    return true;
  pw_error *error = job->error;
  job->error = NULL;
  raiseError(error);
  jobFree(job);
  return false;
}

static atomic_int numCompilerCalls;

void compilerBegin(void) { atomic_fetch_add(&numCompilerCalls, 1); }
void compilerEnd(void) { atomic_fetch_sub(&numCompilerCalls, 1); }

/// Runs when Python has given its signal handlers back, so that a second Ctrl-C
/// ends the process. The calls may be those of a job that was abandoned, or of
/// a daemon thread.
static void awaitCompiler(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (!isChild && atomic_load(&numCompilerCalls) != 0)
    nanosleep(&pause, NULL);
}

bool addCompilerWait(void) {
  if (Py_AtExit(awaitCompiler) == 0)
    return true;
  PyErr_SetString(PyExc_ImportError,
                  "the interpreter takes no more functions to call at its end");
  return false;
}

PyObject *abandonedCalls(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromLong(atomic_load(&numAbandoned));
}
