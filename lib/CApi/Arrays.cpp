//===- Arrays.cpp - Arrays of the C API -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Tensors.h"

#include <memory>

using namespace pathways;
using namespace pathways::capi;

/// Reads what both ways to make an array of values take.
static pw_error *readPut(pw_session *session, const pw_tensor *values,
                         pw_array **array, pw_tensor &tensor) {
  if (pw_error *error = requireAll(
          {{"session", session}, {"values", values}, {"array", array}}))
    return error;
  return readTensor(values, tensor);
}

pw_error *pw_put(pw_session *session, const pw_tensor *values,
                 pw_array **array) {
  return guard([&]() -> pw_error * {
    pw_tensor tensor{};
    if (pw_error *error = readPut(session, values, array, tensor))
      return error;
    return makeHandle(session->session.put(copyTensor(tensor)), array);
  });
}

pw_error *pw_borrow(pw_session *session, const pw_tensor *values,
                    void (*done)(void *context), void *context,
                    pw_array **array) {
  if (isForkedChild() && done)
    done(context);
  return guard([&]() -> pw_error * {
    // Whatever fails, `done` is called once: by the last owner of this, or by
    // the constructor if there is no memory for it.
    std::shared_ptr<void> borrowed(static_cast<void *>(&array),
                                   [done, context](void *) {
                                     if (done)
                                       done(context);
                                   });
    pw_tensor tensor{};
    if (pw_error *error = readPut(session, values, array, tensor))
      return error;
    BorrowedArray memory{
        static_cast<ElementType>(tensor.element), getShape(tensor),
        static_cast<const char *>(tensor.data), tensor.bytes,
        [owner = std::move(borrowed)]() mutable { owner.reset(); }};
    return makeHandle(session->session.put(std::move(memory)), array);
  });
}

pw_error *pw_array_type(const pw_array *array, int32_t *element, int32_t *rank,
                        const int64_t **shape) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}}))
      return error;
    if (element)
      *element = static_cast<int32_t>(array->array.element());
    if (rank)
      *rank = static_cast<int32_t>(array->array.shape().size());
    if (shape)
      *shape = array->array.shape().data();
    return nullptr;
  });
}

int pw_array_is_ready(const pw_array *array) {
  return !array || isForkedChild() || array->array.isReady();
}

pw_error *pw_array_wait(const pw_array *array, int64_t limit_ns) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}}))
      return error;
    return toError(array->array.awaitFor(limit_ns),
                   "the run that fills the array", limit_ns);
  });
}

pw_error *pw_array_get(const pw_array *array, const pw_tensor *into) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"into", into}}))
      return error;
    pw_tensor tensor{};
    if (pw_error *error = readTensor(into, tensor))
      return error;
    if (pw_error *error = checkFit(tensor, array->array.element(),
                                   array->array.shape(), "array"))
      return error;
    return toError(array->array.fetchInto(
        {static_cast<char *>(tensor.data), tensor.bytes}));
  });
}

pw_error *pw_array_view(const pw_array *array, const void **data, size_t *bytes,
                        pw_view **view) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array},
                                      {"data", data},
                                      {"bytes", bytes},
                                      {"view", view}}))
      return error;
    if (pw_error *error = makeHandle(array->array.view(), view))
      return error;
    *data = (*view)->view.data.data();
    *bytes = (*view)->view.data.size();
    return nullptr;
  });
}

void pw_view_free(pw_view *view) { freeHandle(view); }

void pw_array_release(pw_array *array) {
  if (array && !isForkedChild())
    array->array.release();
}

pw_error *pw_array_retain(const pw_array *array, pw_array **copy) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"copy", copy}}))
      return error;
    *copy = new pw_array(*array);
    return nullptr;
  });
}

void pw_array_free(pw_array *array) { freeHandle(array); }
