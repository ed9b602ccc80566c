//===- run.c - Runs and their results -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

PyTypeObject *runType, *resultsType, *runClass, *resultsClass;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static void dealloc(PyObject *self) {
  Py_CLEAR(((RunObject *)self)->executable);
  handleDealloc((HandleObject *)self);
}

static pw_error *waitFor(void *run, int64_t limitNs) {
  return pw_run_wait(run, limitNs);
}

/// Waits for at most this many nanoseconds if they are not negative.
static PyObject *wait(PyObject *self, PyObject *limit) {
  return handleWait((HandleObject *)self, waitFor, limit);
}

static PyObject *isReady(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const int ready = pw_run_is_ready(cell->handle);
  cellRelease(cell);
  return PyBool_FromLong(ready);
}

static PyObject *cancel(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_error *error = pw_run_cancel(cell->handle);
  cellRelease(cell);
  if (error)
    return raiseError(error);
  Py_RETURN_NONE;
}

static PyObject *takeAt(RunObject *self, Py_ssize_t i) {
  Cell *cell = handleUse(&self->base);
  if (!cell)
    return NULL;
  pw_array *array;
  pw_error *error;
  // A result without elements is on no device, so that this may wait.
  Py_BEGIN_ALLOW_THREADS
  error = pw_run_take(cell->handle, (size_t)i, &array);
  Py_END_ALLOW_THREADS
  cellRelease(cell);
  if (error)
    return raiseError(error);
  return arrayCreate(array, self->base.session);
}

static PyObject *results(PyObject *self, void *unused) {
  (void)unused;
  PyObject *object = PyType_GenericAlloc(resultsClass, 0);
  if (object) {
    Py_INCREF(self);
    ((ResultsObject *)object)->run = (RunObject *)self;
  }
  return object;
}

static PyMethodDef methods[] = {{"_wait", wait, METH_O, NULL},
                                {"is_ready", isReady, METH_NOARGS, NULL},
                                {"cancel", cancel, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(HandleObject, weakReferences),
     READONLY, NULL},
    {"executable", T_OBJECT_EX, offsetof(RunObject, executable), READONLY,
     NULL},
    {"session", T_OBJECT_EX, offsetof(HandleObject, session), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyGetSetDef properties[] = {{"_results", results, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {"pathways._pathways.Run", sizeof(RunObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           slots};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void resultsDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(((ResultsObject *)self)->taken);
  Py_CLEAR(((ResultsObject *)self)->run);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static ExecutableObject *executableOf(PyObject *self) {
  return (ExecutableObject *)((ResultsObject *)self)->run->executable;
}

/// Returns the result at this position, which is taken once.
static PyObject *resultAt(PyObject *self, Py_ssize_t i) {
  ResultsObject *results = (ResultsObject *)self;
  const Py_ssize_t count = executableOf(self)->numResults;
  if (i < 0 || i >= count) {
    PyErr_Format(PyExc_IndexError,
                 "the position of a result is out of range, there are %zd",
                 count);
    return NULL;
  }
  if (!results->taken) {
    results->taken = PyList_New(count);
    for (Py_ssize_t k = 0; results->taken && k < count; ++k) {
      Py_INCREF(Py_None);
      PyList_SetItem(results->taken, k, Py_None);
    }
    if (!results->taken)
      return NULL;
  }
  PyObject *array = PyList_GetItem(results->taken, i);
  if (array != Py_None) {
    Py_INCREF(array);
    return array;
  }
  array = takeAt(results->run, i);
  if (array) {
    Py_INCREF(array);
    PyList_SetItem(results->taken, i, array);
  }
  return array;
}

static Py_ssize_t numResults(PyObject *self) {
  return executableOf(self)->numResults;
}

static PyObject *resultNamed(PyObject *self, PyObject *name) {
  PyObject *position =
      PyDict_GetItemWithError(executableOf(self)->resultIndex, name);
  return position ? resultAt(self, PyLong_AsSsize_t(position)) : NULL;
}

static PyObject *fields(PyObject *self, void *unused) {
  (void)unused;
  PyObject *names = PyDict_Keys(executableOf(self)->resultIndex);
  PyObject *tuple = names ? PyList_AsTuple(names) : NULL;
  Py_XDECREF(names);
  return tuple;
}

/// Raises an error that says which results there are.
static void raiseUnknown(PyObject *exception, PyObject *self, PyObject *name) {
  PyObject *known = fields(self, NULL);
  if (known)
    PyErr_Format(exception, "there is no result %R, only %R", name, known);
  Py_XDECREF(known);
}

static PyObject *getAttribute(PyObject *self, PyObject *name) {
  PyObject *result = resultNamed(self, name);
  if (result || PyErr_Occurred())
    return result;
  result = PyObject_GenericGetAttr(self, name);
  if (!result && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    raiseUnknown(PyExc_AttributeError, self, name);
  }
  return result;
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  if (PyUnicode_Check(key)) {
    PyObject *result = resultNamed(self, key);
    if (!result && !PyErr_Occurred())
      raiseUnknown(PyExc_KeyError, self, key);
    return result;
  }
  Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred())
    return NULL;
  return resultAt(self, i < 0 ? i + numResults(self) : i);
}

static PyMemberDef resultsMembers[] = {
    {"_run", T_OBJECT_EX, offsetof(ResultsObject, run), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyGetSetDef resultsProperties[] = {{"_fields", fields, NULL, NULL, NULL},
                                          {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot resultsSlots[] = {{Py_tp_dealloc, (void *)resultsDealloc},
                                     {Py_tp_members, resultsMembers},
                                     {Py_tp_getset, resultsProperties},
                                     {Py_tp_getattro, (void *)getAttribute},
                                     {Py_sq_length, (void *)numResults},
                                     {Py_sq_item, (void *)resultAt},
                                     {Py_mp_length, (void *)numResults},
                                     {Py_mp_subscript, (void *)subscript},
                                     {0, NULL}};

static PyType_Spec resultsSpec = {"pathways._pathways.Results",
                                  sizeof(ResultsObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  resultsSlots};

int addRun(PyObject *module) {
  runClass = runType = addType(module, &spec);
  if (!runType)
    return -1;
  resultsClass = resultsType = addType(module, &resultsSpec);
  return resultsType ? 0 : -1;
}
