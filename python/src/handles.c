//===- handles.c - Owners of handles of the C API -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <pthread.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Cell *cellCreate(void *handle, void (*freeHandle)(void *)) {
  Cell *cell = malloc(sizeof *cell);
  if (!cell) {
    freeHandle(handle);
    PyErr_NoMemory();
    return NULL;
  }
  atomic_init(&cell->references, 1);
  cell->handle = handle;
  cell->free = freeHandle;
  return cell;
}

void cellRetain(Cell *cell) {
  atomic_fetch_add_explicit(&cell->references, 1, memory_order_relaxed);
}

void cellRelease(Cell *cell) {
  if (!cell || atomic_fetch_sub_explicit(&cell->references, 1,
                                         memory_order_acq_rel) != 1)
    return;
  // The memory of the parent is not the child's to free.
  if (!isChild)
    cell->free(cell->handle);
  free(cell);
}

//===----------------------------------------------------------------------===//
// Work left for Python
//===----------------------------------------------------------------------===//

static _Atomic(Leftover *) leftovers;

void leaveWork(Leftover *work) {
  work->next = atomic_load_explicit(&leftovers, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&leftovers, &work->next, work,
                                                memory_order_release,
                                                memory_order_relaxed))
    ;
}

void finishWork(void) {
  if (!atomic_load_explicit(&leftovers, memory_order_relaxed) || isChild)
    return;
  Leftover *work =
      atomic_exchange_explicit(&leftovers, NULL, memory_order_acquire);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  while (work) {
    Leftover *next = work->next;
    work->finish(work);
    work = next;
  }
  PyErr_Restore(type, value, traceback);
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

bool isChild;
static bool isUsed;

static void noteChild(void) {
  if (isUsed)
    isChild = true;
}

bool checkProcess(void) {
  if (!isChild)
    return true;
  raiseCode(PW_INVALID_ARGUMENT,
            "this process was forked from one that uses Pathways, whose "
            "threads it lacks; start it by \"spawn\"");
  return false;
}

bool useProcess(void) {
  if (!checkProcess())
    return false;
  if (!isUsed && pthread_atfork(NULL, NULL, noteChild) != 0) {
    PyErr_NoMemory();
    return false;
  }
  isUsed = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

PyMemberDef handleMembers[] = {{"__weaklistoffset__", T_PYSSIZET,
                                offsetof(HandleObject, weakReferences),
                                READONLY, NULL},
                               {NULL, 0, 0, 0, NULL}};

PyObject *handleCreate(PyTypeObject *type, void *handle,
                       void (*freeHandle)(void *), SessionObject *session) {
  Cell *cell = cellCreate(handle, freeHandle);
  if (!cell)
    return NULL;
  HandleObject *object = (HandleObject *)PyType_GenericAlloc(type, 0);
  if (!object) {
    cellRelease(cell);
    return NULL;
  }
  object->cell = cell;
  if (session) {
    Py_INCREF((PyObject *)session);
    object->session = session;
    object->next = session->handles;
    if (object->next)
      object->next->previous = object;
    session->handles = object;
  }
  return (PyObject *)object;
}

void handleClose(HandleObject *object) {
  Cell *cell = object->cell;
  object->cell = NULL;
  if (object->session && cell) {
    if (object->previous)
      object->previous->next = object->next;
    else
      object->session->handles = object->next;
    if (object->next)
      object->next->previous = object->previous;
    object->next = object->previous = NULL;
  }
  cellRelease(cell);
}

void handleDealloc(HandleObject *object) {
  PyTypeObject *type = Py_TYPE((PyObject *)object);
  if (object->weakReferences)
    PyObject_ClearWeakRefs((PyObject *)object);
  handleClose(object);
  Py_CLEAR(object->session);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

Cell *handleUse(HandleObject *object) {
  if (!checkProcess())
    return NULL;
  if (!object->cell) {
    raiseCode(PW_INVALID_ARGUMENT, object->session
                                       ? "the session of this object is closed"
                                       : "the session is closed");
    return NULL;
  }
  cellRetain(object->cell);
  return object->cell;
}

PyObject *handleWait(HandleObject *object, pw_error *(*wait)(void *, int64_t),
                     PyObject *limit) {
  const long long limitNs = PyLong_AsLongLong(limit);
  if (limitNs == -1 && PyErr_Occurred())
    return NULL;
  Cell *cell = handleUse(object);
  if (!cell)
    return NULL;
  const bool isDone = waitInSlices(wait, cell->handle, limitNs);
  cellRelease(cell);
  if (!isDone)
    return NULL;
  Py_RETURN_NONE;
}

//===----------------------------------------------------------------------===//
// Handles of several objects
//===----------------------------------------------------------------------===//

static void freeHeld(PyObject *capsule) {
  Held *held = PyCapsule_GetPointer(capsule, NULL);
  for (Py_ssize_t i = 0; i < held->count; ++i)
    cellRelease(held->cells[i]);
  PyMem_Free(held);
}

PyObject *holdHandles(PyObject *objects, PyTypeObject *type, const char *what,
                      Held **result) {
  const Py_ssize_t count = PyTuple_Size(objects);
  Held *held = PyMem_Calloc(1, sizeof *held + (size_t)count * sizeof(Cell *));
  if (!held)
    return PyErr_NoMemory();
  PyObject *capsule = PyCapsule_New(held, NULL, freeHeld);
  if (!capsule) {
    PyMem_Free(held);
    return NULL;
  }
  for (; held->count < count; ++held->count) {
    PyObject *object = PyTuple_GetItem(objects, held->count);
    if (!PyObject_TypeCheck(object, type))
      raiseCode(PW_INVALID_ARGUMENT, "%R is no %s", object, what);
    else
      held->cells[held->count] = handleUse((HandleObject *)object);
    if (!held->cells[held->count]) {
      Py_DECREF(capsule);
      return NULL;
    }
  }
  *result = held;
  return capsule;
}
