//===- events.c - The ends of runs, for event loops -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

static PyTypeObject *eventsType;

static void freeEvents(void *events) { pw_events_free(events); }

static PyObject *create(PyObject *type, PyObject *unused) {
  (void)unused;
  if (!useProcess())
    return NULL;
  pw_events *events;
  pw_error *error = pw_events_create(&events);
  if (error)
    return raiseError(error);
  return handleCreate((PyTypeObject *)type, events, freeEvents, NULL);
}

static PyObject *descriptor(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const int number = pw_events_descriptor(cell->handle);
  cellRelease(cell);
  return PyLong_FromLong(number);
}

/// Adds an event for the end of a run: (run, tag).
static PyObject *notify(PyObject *self, PyObject *arguments) {
  PyObject *run;
  unsigned long long tag;
  if (!PyArg_ParseTuple(arguments, "O!K", runType, &run, &tag))
    return NULL;
  Cell *cell = handleUse((HandleObject *)self);
  Cell *runCell = cell ? handleUse((HandleObject *)run) : NULL;
  pw_error *error = NULL;
  if (runCell)
    error = pw_run_notify(runCell->handle, cell->handle, tag);
  const bool isDone = runCell != NULL;
  cellRelease(runCell);
  cellRelease(cell);
  if (!isDone)
    return NULL;
  if (error)
    return raiseError(error);
  Py_RETURN_NONE;
}

/// Returns (tag, exception or None) of each event so far. Never waits.
static PyObject *take(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  PyObject *taken = PyList_New(0);
  while (taken) {
    pw_event event;
    int found = 0;
    pw_error *error = pw_events_next(cell->handle, 0, &event, &found);
    if (error) {
      raiseError(error);
      Py_CLEAR(taken);
    }
    if (error || !found)
      break;
    PyObject *failure = event.error ? makeException(event.error) : Py_None;
    if (!event.error)
      Py_INCREF(failure);
    PyObject *item =
        failure ? Py_BuildValue("KN", (unsigned long long)event.tag, failure)
                : NULL;
    if (!item || PyList_Append(taken, item) < 0)
      Py_CLEAR(taken);
    Py_XDECREF(item);
  }
  cellRelease(cell);
  finishWork();
  return taken;
}

static PyMethodDef methods[] = {
    {"_create", create, METH_NOARGS | METH_CLASS, NULL},
    {"fileno", descriptor, METH_NOARGS, NULL},
    {"notify", notify, METH_VARARGS, NULL},
    {"take", take, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)handleDealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, handleMembers},
                              {0, NULL}};

static PyType_Spec spec = {
    "pathways._pathways.Events", sizeof(HandleObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int addEvents(PyObject *module) {
  eventsType = addType(module, &spec);
  return eventsType ? 0 : -1;
}
