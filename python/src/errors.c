//===- errors.c - Exceptions, and waits that signals interrupt ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

Hooks hooks;

/// Takes the message over. Returns null with another exception.
static PyObject *make(pw_code code, const char *id, PyObject *message) {
  PyObject *error = NULL;
  if (message && hooks.makeError)
    error =
        PyObject_CallFunction(hooks.makeError, "isO", (int)code, id, message);
  else if (message)
    error = PyObject_CallFunctionObjArgs(PyExc_RuntimeError, message, NULL);
  Py_XDECREF(message);
  return error;
}

/// Raises an exception, and takes it over. Null if there is another one.
static PyObject *raise(PyObject *error) {
  if (error)
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
  return NULL;
}

PyObject *makeException(pw_error *error) {
  const char *text = pw_error_message(error);
  PyObject *exception =
      make(pw_error_code(error), pw_error_id(error),
           PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
  pw_error_free(error);
  return exception;
}

PyObject *raiseError(pw_error *error) { return raise(makeException(error)); }

PyObject *raiseCode(pw_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyObject *exception =
      make(code, "", PyUnicode_FromFormatV(format, arguments));
  va_end(arguments);
  return raise(exception);
}

PyObject *takeText(pw_text *text) {
  size_t size;
  const char *data = pw_text_data(text, &size);
  PyObject *string = PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, "replace");
  pw_text_free(text);
  return string;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

bool waitInSlices(pw_error *(*wait)(void *, int64_t), void *handle,
                  int64_t limitNs) {
  const int64_t begin = limitNs >= 0 ? now() : 0;
  int64_t left = limitNs;
  while (true) {
    const int64_t slice = left >= 0 && left < SLICE_NS ? left : SLICE_NS;
    pw_error *error;
    Py_BEGIN_ALLOW_THREADS
    error = wait(handle, slice);
    Py_END_ALLOW_THREADS
    finishWork();
    if (!error)
      return true;
    if (pw_error_code(error) != PW_TIMED_OUT) {
      raiseError(error);
      return false;
    }
    pw_error_free(error);
    if (PyErr_CheckSignals() < 0)
      return false;
    if (limitNs < 0)
      continue;
    left = limitNs - (now() - begin);
    if (left <= 0) {
      char seconds[32];
      snprintf(seconds, sizeof seconds, "%g", (double)limitNs * 1e-9);
      raiseCode(PW_TIMED_OUT, "not ready after %s s", seconds);
      return false;
    }
  }
}
