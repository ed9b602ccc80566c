//===- view.c - Values of arrays without a copy ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A View is what the buffer protocol and DLPack give to other libraries. It
// remains when the array is deleted and when the session is closed.
//
//===----------------------------------------------------------------------===//

#include "module.h"

PyTypeObject *viewType;

static void dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ViewObject *view = (ViewObject *)self;
  if (view->free && !isChild)
    view->free(view->handle);
  PyMem_Free(view->shape);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

ViewObject *viewCreate(int32_t element, int32_t rank, const int64_t *shape,
                       const int64_t *strides) {
  ViewObject *view = (ViewObject *)PyType_GenericAlloc(viewType, 0);
  if (!view)
    return NULL;
  // The shape and the strides share memory, which is not empty for rank 0.
  view->shape = PyMem_Calloc(2 * (size_t)rank + 1, sizeof *view->shape);
  if (!view->shape) {
    Py_DECREF((PyObject *)view);
    PyErr_NoMemory();
    return NULL;
  }
  view->element = element;
  view->rank = rank;
  view->strides = view->shape + rank;
  view->bytes = (Py_ssize_t)elementSize(element);
  for (int32_t i = rank - 1; i >= 0; --i) {
    view->shape[i] = (Py_ssize_t)shape[i];
    view->strides[i] =
        strides ? (Py_ssize_t)(strides[i] * (int64_t)elementSize(element))
                : view->bytes;
    if (__builtin_mul_overflow(view->bytes, (Py_ssize_t)shape[i],
                               &view->bytes)) {
      Py_DECREF((PyObject *)view);
      PyErr_NoMemory();
      return NULL;
    }
  }
  return view;
}

/// Formats of the buffer protocol. That of bf16 is its bits.
static const char *const kFormats[] = {
    [PW_F32] = "f",  [PW_F64] = "d", [PW_I1] = "?",   [PW_I8] = "b",
    [PW_I32] = "i",  [PW_I64] = "q", [PW_F16] = "e",  [PW_BF16] = "H",
    [PW_I16] = "h",  [PW_UI8] = "B", [PW_UI16] = "H", [PW_UI32] = "I",
    [PW_UI64] = "Q",
};

static int getBuffer(PyObject *self, Py_buffer *buffer, int flags) {
  ViewObject *view = (ViewObject *)self;
  static char nothing;
  buffer->obj = NULL;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && view->isReadOnly) {
    PyErr_SetString(PyExc_BufferError, "the values are read-only");
    return -1;
  }
  Py_ssize_t dense = (Py_ssize_t)elementSize(view->element);
  bool isDense = true;
  for (int32_t i = view->rank - 1; i >= 0; --i) {
    isDense &= view->strides[i] == dense || view->shape[i] <= 1;
    dense *= view->shape[i];
  }
  if (!isDense && view->bytes > 0 && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyErr_SetString(PyExc_BufferError, "the values are not dense");
    return -1;
  }
  Py_INCREF(self);
  buffer->obj = self;
  buffer->buf = view->data ? view->data : &nothing;
  buffer->len = view->bytes;
  buffer->itemsize = (Py_ssize_t)elementSize(view->element);
  buffer->readonly = view->isReadOnly;
  buffer->ndim = view->rank;
  buffer->format =
      flags & PyBUF_FORMAT ? (char *)kFormats[view->element] : NULL;
  buffer->shape = flags & PyBUF_ND ? view->shape : NULL;
  buffer->strides =
      (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? view->strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = NULL;
  return 0;
}

static PyObject *elementOf(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(elementName(((ViewObject *)self)->element));
}

static PyGetSetDef properties[] = {{"element", elementOf, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_getset, properties},
                              {Py_bf_getbuffer, (void *)getBuffer},
                              {0, NULL}};

static PyType_Spec spec = {
    "pathways._pathways.View", sizeof(ViewObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int addView(PyObject *module) {
  viewType = addType(module, &spec);
  return viewType ? 0 : -1;
}
