//===- values.c - Values of Python as arrays ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Types of elements
//===----------------------------------------------------------------------===//

static const struct {
  const char *name;
  size_t size;
} kElements[] = {
    [PW_F32] = {"f32", 4},   [PW_F64] = {"f64", 8},   [PW_I1] = {"i1", 1},
    [PW_I8] = {"i8", 1},     [PW_I32] = {"i32", 4},   [PW_I64] = {"i64", 8},
    [PW_F16] = {"f16", 2},   [PW_BF16] = {"bf16", 2}, [PW_I16] = {"i16", 2},
    [PW_UI8] = {"ui8", 1},   [PW_UI16] = {"ui16", 2}, [PW_UI32] = {"ui32", 4},
    [PW_UI64] = {"ui64", 8},
};
enum { kNumElements = sizeof kElements / sizeof *kElements };

const char *elementName(int32_t element) {
  return element > 0 && element < kNumElements ? kElements[element].name
                                               : "invalid";
}

size_t elementSize(int32_t element) {
  return element > 0 && element < kNumElements ? kElements[element].size : 0;
}

int32_t elementFromName(const char *name) {
  for (int32_t i = 1; i < kNumElements; ++i)
    if (strcmp(kElements[i].name, name) == 0)
      return i;
  return 0;
}

PyObject *shapeTuple(const int64_t *shape, int32_t rank) {
  PyObject *tuple = PyTuple_New(rank);
  for (int32_t i = 0; tuple && i < rank; ++i) {
    PyObject *size = PyLong_FromLongLong(shape[i]);
    if (!size || PyTuple_SetItem(tuple, i, size) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

/// Returns the type of the elements of a buffer, or 0 for a format with more
/// than one number, with another order of bytes or unknown. 'H' may be bf16,
/// which the format does not say, and is 0 too.
static int32_t elementOfFormat(const char *format, Py_ssize_t itemSize) {
  if (!format)
    return PW_UI8;
  // '<' is the order of this machine.
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (!format[0] || format[1])
    return 0;
  static const int32_t kSigned[] = {
      [1] = PW_I8, [2] = PW_I16, [4] = PW_I32, [8] = PW_I64};
  static const int32_t kUnsigned[] = {
      [1] = PW_UI8, [4] = PW_UI32, [8] = PW_UI64};
  if (itemSize < 1 || itemSize > 8)
    return 0;
  switch (*format) {
  case '?':
    return PW_I1;
  case 'e':
    return PW_F16;
  case 'f':
    return PW_F32;
  case 'd':
    return PW_F64;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return kSigned[itemSize];
  case 'B':
  case 'I':
  case 'L':
  case 'Q':
    return kUnsigned[itemSize];
  default:
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Borrowed memory
//===----------------------------------------------------------------------===//

/// Largest value, in bytes, that is copied although it could be borrowed: below
/// this, a copy takes no longer than to lock an array.
enum { kLargestCopy = 64 << 10 };

/// Memory that the runtime reads after a put has returned.
typedef struct {
  Leftover work;
  Py_buffer buffer;
  PyObject *locked; // to unlock, or null
} Borrowed;

static void finishBorrowed(Leftover *work) {
  Borrowed *borrowed = (Borrowed *)work;
  PyBuffer_Release(&borrowed->buffer);
  if (borrowed->locked) {
    PyObject *nothing =
        PyObject_CallFunctionObjArgs(hooks.unlock, borrowed->locked, NULL);
    if (!nothing)
      PyErr_WriteUnraisable(borrowed->locked);
    Py_XDECREF(nothing);
    Py_DECREF(borrowed->locked);
  }
  PyMem_Free(borrowed);
}

/// Called on a thread of the runtime, which must not take the GIL.
static void doneWith(void *borrowed) {
  leaveWork(&((Borrowed *)borrowed)->work);
}

/// Puts the contents of a buffer into the session without a copy, and takes
/// the buffer over. `locked` is what keeps them as they are, or null.
static pw_array *borrowBuffer(Cell *session, Py_buffer *buffer,
                              PyObject *locked, const pw_tensor *tensor) {
  Borrowed *borrowed = PyMem_Calloc(1, sizeof *borrowed);
  if (!borrowed) {
    PyBuffer_Release(buffer);
    PyErr_NoMemory();
    return NULL;
  }
  borrowed->work.finish = finishBorrowed;
  borrowed->buffer = *buffer; // its pointers lead to the exporter's memory
  buffer->obj = NULL;
  Py_XINCREF(locked);
  borrowed->locked = locked;
  pw_array *array;
  pw_error *error;
  Py_BEGIN_ALLOW_THREADS
  error = pw_borrow(session->handle, tensor, doneWith, borrowed, &array);
  Py_END_ALLOW_THREADS
  if (!error)
    return array;
  raiseError(error);
  return NULL;
}

//===----------------------------------------------------------------------===//
// Arrays of values
//===----------------------------------------------------------------------===//

/// Returns whether each byte is 0 or 1, as the bytes of i1 must be.
static bool areBooleans(const unsigned char *bytes, size_t size) {
  unsigned char any = 0;
  for (size_t i = 0; i < size; ++i)
    any |= bytes[i];
  return any <= 1;
}

/// Copies the contents of a buffer into the session.
static pw_array *copyBuffer(Cell *session, const pw_tensor *tensor) {
  pw_tensor copied = *tensor;
  unsigned char *booleans = NULL;
  if (tensor->element == PW_I1 && !areBooleans(tensor->data, tensor->bytes)) {
    booleans = PyMem_Malloc(tensor->bytes);
    if (!booleans) {
      PyErr_NoMemory();
      return NULL;
    }
    for (size_t i = 0; i < tensor->bytes; ++i)
      booleans[i] = ((const unsigned char *)tensor->data)[i] != 0;
    copied.data = booleans;
  }
  pw_array *array;
  pw_error *error;
  if (tensor->bytes <= kLargestCopy) {
    error = pw_put(session->handle, &copied, &array);
  } else {
    Py_BEGIN_ALLOW_THREADS
    error = pw_put(session->handle, &copied, &array);
    Py_END_ALLOW_THREADS
  }
  PyMem_Free(booleans);
  if (!error)
    return array;
  raiseError(error);
  return NULL;
}

/// Returns 1 if the memory of `owner` cannot change now, so that it may be
/// borrowed, 0 if it can, and -1 with an exception.
static int lock(PyObject *owner) {
  PyObject *answer = PyObject_CallFunctionObjArgs(hooks.lock, owner, NULL);
  const int isLocked = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return isLocked;
}

/// Puts the contents of a contiguous buffer into the session, and gives the
/// buffer back. `owner` is the array that the caller has, or None if nobody
/// else can change the contents.
static pw_array *putBuffer(SessionObject *session, Py_buffer *buffer,
                           int32_t element, PyObject *owner,
                           CopyPolicy policy) {
  const pw_tensor tensor = {sizeof tensor, element,
                            buffer->ndim,  (const int64_t *)buffer->shape,
                            buffer->buf,   (size_t)buffer->len};
  pw_array *array = NULL;
  Cell *cell = handleUse(&session->base);
  bool isBorrowed = policy == COPY_NEVER ||
                    (policy == COPY_IF_SMALL && tensor.bytes > kLargestCopy);
  if (isBorrowed && element == PW_I1)
    isBorrowed = areBooleans(buffer->buf, tensor.bytes);
  PyObject *locked = NULL;
  if (cell && isBorrowed && owner != Py_None) {
    const int isLocked = lock(owner);
    if (isLocked < 0) {
      cellRelease(cell);
      cell = NULL;
    } else if (isLocked) {
      locked = owner;
    } else {
      isBorrowed = policy == COPY_NEVER;
    }
  }
  if (cell && isBorrowed)
    array = borrowBuffer(cell, buffer, locked, &tensor);
  else if (cell)
    array = copyBuffer(cell, &tensor);
  if (buffer->obj)
    PyBuffer_Release(buffer);
  cellRelease(cell);
  return array;
}

/// Lets the package make an array of a value of any type.
static pw_array *putAdapted(SessionObject *session, PyObject *value,
                            int32_t element, CopyPolicy policy,
                            const char *what) {
  PyObject *adapted = PyObject_CallFunction(
      hooks.adapt, "Ozs", value, element ? elementName(element) : NULL, what);
  if (!adapted)
    return NULL;
  PyObject *source, *owner;
  const char *name;
  pw_array *array = NULL;
  Py_buffer buffer;
  if (PyArg_ParseTuple(adapted, "OsO", &source, &name, &owner)) {
    if (policy == COPY_NEVER && owner == Py_None)
      raiseCode(PW_INVALID_ARGUMENT,
                "%s cannot be borrowed: it is not one block of elements in the "
                "order of this machine",
                what);
    else if (PyObject_GetBuffer(source, &buffer,
                                PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0)
      array = putBuffer(session, &buffer, elementFromName(name), owner, policy);
  }
  Py_DECREF(adapted);
  return array;
}

/// Puts an array without values into a session that only costs.
static pw_array *putNothing(Cell *session, PyObject *value, int32_t element,
                            const char *what) {
  PyObject *described =
      PyObject_CallFunction(hooks.describe, "Ozs", value,
                            element ? elementName(element) : NULL, what);
  const char *name;
  PyObject *sizes;
  int64_t shape[PyBUF_MAX_NDIM];
  pw_array *array = NULL;
  if (described &&
      PyArg_ParseTuple(described, "sO!", &name, &PyTuple_Type, &sizes)) {
    const Py_ssize_t rank = PyTuple_Size(sizes);
    for (Py_ssize_t i = 0; i < rank && i < PyBUF_MAX_NDIM; ++i)
      shape[i] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i));
    const pw_tensor tensor = {
        sizeof tensor, elementFromName(name), (int32_t)rank, shape, NULL, 0};
    pw_error *error = NULL;
    if (rank > PyBUF_MAX_NDIM)
      raiseCode(PW_INVALID_ARGUMENT, "%s has %zd dimensions", what, rank);
    else if (!PyErr_Occurred())
      error = pw_put(session->handle, &tensor, &array);
    if (error)
      raiseError(error);
  }
  Py_XDECREF(described);
  return array;
}

pw_array *putDivided(SessionObject *session, PyObject *value,
                     const char *sharding) {
  PyObject *adapted =
      PyObject_CallFunction(hooks.adapt, "Ozs", value, NULL, "the value");
  if (!adapted)
    return NULL;
  PyObject *source, *owner;
  const char *name;
  pw_array *array = NULL;
  Py_buffer buffer;
  Cell *cell = handleUse(&session->base);
  if (cell && PyArg_ParseTuple(adapted, "OsO", &source, &name, &owner) &&
      PyObject_GetBuffer(source, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) ==
          0) {
    const pw_tensor tensor = {sizeof tensor, elementFromName(name),
                              buffer.ndim,   (const int64_t *)buffer.shape,
                              buffer.buf,    (size_t)buffer.len};
    pw_error *error;
    Py_BEGIN_ALLOW_THREADS
    error = pw_put_sharded(cell->handle, &tensor, sharding, &array);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&buffer);
    if (error)
      raiseError(error);
  }
  cellRelease(cell);
  Py_DECREF(adapted);
  return array;
}

/// Returns true for an array whose buffer does not tell which elements count.
static bool isMasked(PyObject *value) {
  static PyTypeObject *unmasked; // the last type that has no mask
  PyTypeObject *type = Py_TYPE(value);
  if (type == unmasked)
    return false;
  PyObject *mask = PyObject_GetAttrString((PyObject *)type, "mask");
  if (mask) {
    Py_DECREF(mask);
    return true;
  }
  PyErr_Clear();
  Py_INCREF((PyObject *)type);
  PyObject *before = (PyObject *)unmasked;
  unmasked = type;
  Py_XDECREF(before);
  return false;
}

pw_array *putValue(SessionObject *session, PyObject *value, int32_t element,
                   CopyPolicy policy, const char *what) {
  finishWork();
  Cell *cell = handleUse(&session->base);
  if (!cell)
    return NULL; // before anything is imported, as at the end of the process
  if (session->isCostsOnly) {
    pw_array *array = putNothing(cell, value, element, what);
    cellRelease(cell);
    return array;
  }
  cellRelease(cell);
  Py_buffer buffer;
  if (!PyObject_CheckBuffer(value) || isMasked(value) ||
      PyObject_GetBuffer(value, &buffer, PyBUF_RECORDS_RO) < 0) {
    PyErr_Clear();
    return putAdapted(session, value, element, policy, what);
  }
  const int32_t own = elementOfFormat(buffer.format, buffer.itemsize);
  if (own && (!element || own == element) &&
      PyBuffer_IsContiguous(&buffer, 'C'))
    return putBuffer(session, &buffer, own, value, policy);
  PyBuffer_Release(&buffer);
  return putAdapted(session, value, element, policy, what);
}
