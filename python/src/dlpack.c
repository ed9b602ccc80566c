//===- dlpack.c - Tensors of other libraries ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DLPack passes tensors between libraries of one process: a capsule with a
// structure in C, whose owner frees the tensor on request. There are two
// structures, with different capsules: the one of version 1 adds a version, and
// flags that say whether the memory is read-only. Version 1.0 and those after
// it with the same major version have this layout.
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// The structures
//===----------------------------------------------------------------------===//

enum { kDeviceCpu = 1, kDeviceCudaHost = 3 };

enum {
  kCodeInt = 0,
  kCodeUInt = 1,
  kCodeFloat = 2,
  kCodeBfloat = 4,
  kCodeBool = 6
};

enum { kFlagReadOnly = 1, kFlagIsCopied = 2 };

typedef struct {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int64_t *shape;
  int64_t *strides; // in elements; null: dense
  uint64_t byteOffset;
} DlTensor;

typedef struct DlManaged {
  DlTensor tensor;
  void *context;
  void (*release)(struct DlManaged *);
} DlManaged;

typedef struct DlVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*release)(struct DlVersioned *);
  uint64_t flags;
  DlTensor tensor;
} DlVersioned;

static const char kName[] = "dltensor", kUsedName[] = "used_dltensor";
static const char kVersionedName[] = "dltensor_versioned",
                  kUsedVersionedName[] = "used_dltensor_versioned";

static const struct {
  uint8_t code, bits;
} kTypes[] = {
    [PW_F32] = {kCodeFloat, 32}, [PW_F64] = {kCodeFloat, 64},
    [PW_I1] = {kCodeBool, 8},    [PW_I8] = {kCodeInt, 8},
    [PW_I32] = {kCodeInt, 32},   [PW_I64] = {kCodeInt, 64},
    [PW_F16] = {kCodeFloat, 16}, [PW_BF16] = {kCodeBfloat, 16},
    [PW_I16] = {kCodeInt, 16},   [PW_UI8] = {kCodeUInt, 8},
    [PW_UI16] = {kCodeUInt, 16}, [PW_UI32] = {kCodeUInt, 32},
    [PW_UI64] = {kCodeUInt, 64},
};

//===----------------------------------------------------------------------===//
// From other libraries
//===----------------------------------------------------------------------===//

static void releaseManaged(void *managed) {
  DlManaged *tensor = managed;
  if (tensor->release)
    tensor->release(tensor);
}

static void releaseVersioned(void *versioned) {
  DlVersioned *tensor = versioned;
  if (tensor->release)
    tensor->release(tensor);
}

/// Returns a view of the tensor without taking it over.
static ViewObject *readTensor(const DlTensor *tensor) {
  if (tensor->device.type != kDeviceCpu &&
      tensor->device.type != kDeviceCudaHost)
    return (ViewObject *)raiseCode(
        PW_INVALID_ARGUMENT,
        "the tensor is on a device of DLPack's type %d, not in memory of the "
        "CPU; move it there first",
        (int)tensor->device.type);
  int32_t element = 0;
  for (int32_t i = PW_F32; i <= PW_UI64; ++i)
    if (kTypes[i].code == tensor->type.code &&
        kTypes[i].bits == tensor->type.bits && tensor->type.lanes == 1)
      element = i;
  if (!element)
    return (ViewObject *)raiseCode(
        PW_INVALID_ARGUMENT,
        "the tensor has elements of DLPack's type %d with %d bits and %d "
        "lanes, which Pathways lacks",
        (int)tensor->type.code, (int)tensor->type.bits,
        (int)tensor->type.lanes);
  if (tensor->rank < 0 || tensor->rank > PyBUF_MAX_NDIM)
    return (ViewObject *)raiseCode(PW_INVALID_ARGUMENT,
                                   "the tensor has %d dimensions, expected 0 "
                                   "to %d",
                                   (int)tensor->rank, PyBUF_MAX_NDIM);
  for (int32_t i = 0; i < tensor->rank; ++i)
    if (tensor->shape[i] < 0)
      return (ViewObject *)raiseCode(PW_INVALID_ARGUMENT,
                                     "the tensor has a negative size");
  ViewObject *view =
      viewCreate(element, tensor->rank, tensor->shape, tensor->strides);
  if (view && tensor->data)
    view->data = (char *)tensor->data + tensor->byteOffset;
  return view;
}

PyObject *viewFromDlpack(PyObject *module, PyObject *capsule) {
  (void)module;
  ViewObject *view;
  if (PyCapsule_IsValid(capsule, kVersionedName)) {
    DlVersioned *tensor = PyCapsule_GetPointer(capsule, kVersionedName);
    if (tensor->version.major != 1)
      return raiseCode(PW_INVALID_ARGUMENT,
                       "the tensor is of version %u.%u of DLPack, expected 1",
                       (unsigned)tensor->version.major,
                       (unsigned)tensor->version.minor);
    view = readTensor(&tensor->tensor);
    if (!view || PyCapsule_SetName(capsule, kUsedVersionedName) < 0)
      return NULL;
    view->isReadOnly = (tensor->flags & kFlagReadOnly) != 0;
    view->handle = tensor;
    view->free = releaseVersioned;
    return (PyObject *)view;
  }
  if (!PyCapsule_IsValid(capsule, kName))
    return raiseCode(PW_INVALID_ARGUMENT,
                     "expected a capsule of DLPack that was not used yet, got "
                     "%R",
                     capsule);
  DlManaged *tensor = PyCapsule_GetPointer(capsule, kName);
  view = readTensor(&tensor->tensor);
  if (!view || PyCapsule_SetName(capsule, kUsedName) < 0)
    return NULL;
  view->handle = tensor;
  view->free = releaseManaged;
  return (PyObject *)view;
}

//===----------------------------------------------------------------------===//
// To other libraries
//===----------------------------------------------------------------------===//

/// A tensor that another library holds. It has its own memory, or that of a
/// view, and is freed on any thread, without the GIL.
typedef struct {
  union {
    DlManaged managed;
    DlVersioned versioned;
  } as;
  void *memory;    // to free, or null
  pw_view *view;   // to free, or null
  int64_t shape[]; // and the strides
} Exported;

static void freeExported(Exported *exported) {
  if (!isChild)
    pw_view_free(exported->view);
  free(exported->memory);
  free(exported);
}

static void releaseExported(DlManaged *tensor) {
  freeExported((Exported *)tensor);
}

static void releaseExportedVersioned(DlVersioned *tensor) {
  freeExported((Exported *)tensor);
}

/// Frees a tensor that nobody has taken.
static void destroyCapsule(PyObject *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  if (name == kName || name == kVersionedName)
    freeExported(PyCapsule_GetPointer(capsule, name));
}

PyObject *exportDlpack(Cell *array, const pw_tensor *type, bool isVersioned,
                       CopyPolicy policy) {
  const size_t rank = (size_t)type->rank;
  Exported *exported =
      calloc(1, sizeof *exported + 2 * rank * sizeof *exported->shape);
  if (!exported)
    return PyErr_NoMemory();
  const void *data = NULL;
  pw_error *error = NULL;
  // The old structure cannot say that the memory is read-only.
  const bool mayView = isVersioned && policy != COPY_ALWAYS;
  if (mayView) {
    size_t bytes;
    Py_BEGIN_ALLOW_THREADS
    error = pw_array_view(array->handle, &data, &bytes, &exported->view);
    Py_END_ALLOW_THREADS
    if (error && pw_error_code(error) == PW_REFUSED && policy != COPY_NEVER) {
      pw_error_free(error);
      error = NULL;
    }
  } else if (policy == COPY_NEVER) {
    free(exported);
    PyErr_SetString(PyExc_BufferError,
                    "the values are read-only, which only version 1 of DLPack "
                    "can say: they are copied for the old one");
    return NULL;
  }
  const bool isCopied = !error && !exported->view;
  if (isCopied) {
    // Other libraries align to 64 bytes, too. An empty array has memory as well.
    const size_t size = (type->bytes + 64) / 64 * 64;
    exported->memory = aligned_alloc(64, size);
    if (!exported->memory) {
      free(exported);
      return PyErr_NoMemory();
    }
    pw_tensor into = *type;
    into.data = exported->memory;
    data = exported->memory;
    Py_BEGIN_ALLOW_THREADS
    error = pw_array_get(array->handle, &into);
    Py_END_ALLOW_THREADS
  }
  if (error) {
    freeExported(exported);
    return raiseError(error);
  }
  int64_t *shape = exported->shape, *strides = shape + rank;
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    shape[i] = type->shape[i];
    strides[i] = stride;
    stride *= shape[i];
  }
  DlTensor tensor = {
      (void *)data,
      {kDeviceCpu, 0},
      type->rank,
      {kTypes[type->element].code, kTypes[type->element].bits, 1},
      shape,
      strides,
      0};
  PyObject *capsule;
  if (isVersioned) {
    DlVersioned *versioned = &exported->as.versioned;
    versioned->version.major = 1;
    versioned->version.minor = 0;
    versioned->release = releaseExportedVersioned;
    versioned->flags = isCopied ? kFlagIsCopied : kFlagReadOnly;
    versioned->tensor = tensor;
    capsule = PyCapsule_New(exported, kVersionedName, destroyCapsule);
  } else {
    exported->as.managed.tensor = tensor;
    exported->as.managed.release = releaseExported;
    capsule = PyCapsule_New(exported, kName, destroyCapsule);
  }
  if (!capsule)
    freeExported(exported);
  return capsule;
}
