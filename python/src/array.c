//===- array.c - Arrays ---------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

PyTypeObject *arrayType, *arrayClass;

static void freeArray(void *array) { pw_array_free(array); }

PyObject *arrayCreate(pw_array *array, SessionObject *session) {
  return handleCreate(arrayClass, array, freeArray, session);
}

/// Reads the type. Returns false with an exception.
static bool readType(Cell *cell, pw_tensor *tensor) {
  pw_error *error = pw_array_type(cell->handle, &tensor->element, &tensor->rank,
                                  &tensor->shape);
  if (error) {
    raiseError(error);
    return false;
  }
  tensor->struct_size = sizeof *tensor;
  tensor->bytes = elementSize(tensor->element);
  for (int32_t i = 0; i < tensor->rank; ++i)
    tensor->bytes *= (size_t)tensor->shape[i];
  return true;
}

static PyObject *shape(PyObject *self, void *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  PyObject *tuple =
      readType(cell, &tensor) ? shapeTuple(tensor.shape, tensor.rank) : NULL;
  cellRelease(cell);
  return tuple;
}

static PyObject *element(PyObject *self, void *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  PyObject *name = readType(cell, &tensor)
                       ? PyUnicode_FromString(elementName(tensor.element))
                       : NULL;
  cellRelease(cell);
  return name;
}

static PyObject *numBytes(PyObject *self, void *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  PyObject *bytes =
      readType(cell, &tensor) ? PyLong_FromSize_t(tensor.bytes) : NULL;
  cellRelease(cell);
  return bytes;
}

static PyObject *isReady(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const int ready = pw_array_is_ready(cell->handle);
  cellRelease(cell);
  return PyBool_FromLong(ready);
}

static pw_error *waitFor(void *array, int64_t limitNs) {
  return pw_array_wait(array, limitNs);
}

/// Waits for at most this many nanoseconds if they are not negative.
static PyObject *wait(PyObject *self, PyObject *limit) {
  return handleWait((HandleObject *)self, waitFor, limit);
}

/// Copies the array to a writable, contiguous buffer of its size.
static PyObject *get(PyObject *self, PyObject *into) {
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  Py_buffer buffer;
  if (!readType(cell, &tensor) || !waitInSlices(waitFor, cell->handle, -1) ||
      PyObject_GetBuffer(into, &buffer, PyBUF_WRITABLE) < 0) {
    cellRelease(cell);
    return NULL;
  }
  pw_error *error = NULL;
  const size_t room = (size_t)buffer.len;
  if (room == tensor.bytes) {
    tensor.data = buffer.buf;
    Py_BEGIN_ALLOW_THREADS
    error = pw_array_get(cell->handle, &tensor);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&buffer);
  cellRelease(cell);
  if (error)
    return raiseError(error);
  if (room != tensor.bytes)
    return raiseCode(PW_INVALID_ARGUMENT,
                     "the array has %zu bytes, the memory for it %zu",
                     tensor.bytes, room);
  Py_RETURN_NONE;
}

/// Copies a shard to a buffer of its size: (shard, shape, buffer).
static PyObject *getShard(PyObject *self, PyObject *arguments) {
  Py_ssize_t shard;
  PyObject *sizes;
  Py_buffer buffer;
  if (!PyArg_ParseTuple(arguments, "nO!w*", &shard, &PyTuple_Type, &sizes,
                        &buffer))
    return NULL;
  int64_t shape[PyBUF_MAX_NDIM];
  const Py_ssize_t rank = PyTuple_Size(sizes);
  Cell *cell = rank <= PyBUF_MAX_NDIM ? handleUse((HandleObject *)self) : NULL;
  pw_tensor tensor;
  bool isGood = cell && readType(cell, &tensor) &&
                waitInSlices(waitFor, cell->handle, -1);
  for (Py_ssize_t i = 0; isGood && i < rank; ++i) {
    shape[i] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i));
    isGood = !PyErr_Occurred();
  }
  pw_error *error = NULL;
  if (isGood) {
    tensor.rank = (int32_t)rank;
    tensor.shape = shape;
    tensor.data = buffer.buf;
    tensor.bytes = (size_t)buffer.len;
    Py_BEGIN_ALLOW_THREADS
    error = pw_array_get_shard(cell->handle, (size_t)shard, &tensor);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&buffer);
  cellRelease(cell);
  if (error)
    return raiseError(error);
  if (!isGood)
    return NULL;
  Py_RETURN_NONE;
}

static void freeView(void *view) { pw_view_free(view); }

/// Returns a View of the values. Errors: PW_REFUSED.
static PyObject *view(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  ViewObject *view = NULL;
  if (readType(cell, &tensor) && waitInSlices(waitFor, cell->handle, -1))
    view = viewCreate(tensor.element, tensor.rank, tensor.shape, NULL);
  if (view) {
    const void *data;
    size_t bytes;
    pw_view *handle;
    pw_error *error;
    Py_BEGIN_ALLOW_THREADS
    error = pw_array_view(cell->handle, &data, &bytes, &handle);
    Py_END_ALLOW_THREADS
    if (error) {
      Py_CLEAR(view);
      raiseError(error);
    } else {
      view->data = (void *)data;
      view->isReadOnly = true;
      view->handle = handle;
      view->free = freeView;
    }
  }
  cellRelease(cell);
  return (PyObject *)view;
}

/// Returns a capsule of DLPack: (is versioned, CopyPolicy).
static PyObject *dlpack(PyObject *self, PyObject *arguments) {
  int isVersioned, policy;
  if (!PyArg_ParseTuple(arguments, "pi", &isVersioned, &policy))
    return NULL;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_tensor tensor;
  PyObject *capsule = NULL;
  if (readType(cell, &tensor) && waitInSlices(waitFor, cell->handle, -1))
    capsule = exportDlpack(cell, &tensor, isVersioned, (CopyPolicy)policy);
  cellRelease(cell);
  return capsule;
}

typedef struct {
  Job job;
  const char *folder;
} SaveJob;

static pw_error *runSave(Job *job) {
  return pw_array_save(job->cells[0]->handle, ((SaveJob *)job)->folder);
}

/// Writes the array to a new folder, whose path is in bytes.
static PyObject *save(PyObject *self, PyObject *folder) {
  char *path;
  if (PyBytes_AsStringAndSize(folder, &path, NULL) < 0)
    return NULL;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  SaveJob *job = jobCreate(sizeof *job, runSave, NULL, folder, cell, NULL);
  if (!job)
    return NULL;
  job->folder = path;
  if (!jobRun(&job->job))
    return NULL;
  jobFree(&job->job);
  Py_RETURN_NONE;
}

static PyObject *release(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_array_release(cell->handle);
  cellRelease(cell);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_wait", wait, METH_O, NULL},
    {"_get", get, METH_O, NULL},
    {"_view", view, METH_NOARGS, NULL},
    {"_dlpack", dlpack, METH_VARARGS, NULL},
    {"_get_shard", getShard, METH_VARARGS, NULL},
    {"_placement", arrayPlacement, METH_NOARGS, NULL},
    {"_save", save, METH_O, NULL},
    {"delete", release, METH_NOARGS, NULL},
    {"is_ready", isReady, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(HandleObject, weakReferences),
     READONLY, NULL},
    {"session", T_OBJECT_EX, offsetof(HandleObject, session), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyGetSetDef properties[] = {{"shape", shape, NULL, NULL, NULL},
                                   {"element", element, NULL, NULL, NULL},
                                   {"nbytes", numBytes, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)handleDealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {"pathways._pathways.Array", sizeof(ArrayObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           slots};

int addArray(PyObject *module) {
  arrayClass = arrayType = addType(module, &spec);
  return arrayType ? 0 : -1;
}
