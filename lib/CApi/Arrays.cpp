//===- Arrays.cpp - Arrays of the C API -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <memory>

using namespace pathways;
using namespace pathways::capi;

/// Reads the description of an array in the caller's memory.
static pw_error *readTensor(const pw_tensor *given, pw_tensor &tensor) {
  if (pw_error *error = readOptions(given, tensor, "pw_tensor"))
    return error;
  if (tensor.rank < 0)
    return makeError(PW_INVALID_ARGUMENT, "pw_tensor: rank is " +
                                              std::to_string(tensor.rank) +
                                              ", expected at least 0");
  if (tensor.rank > 0 && !tensor.shape)
    return makeError(PW_INVALID_ARGUMENT, "pw_tensor: the shape is null");
  if (tensor.bytes > 0 && !tensor.data)
    return makeError(PW_INVALID_ARGUMENT, "pw_tensor: the data is null");
  if (elementBytes(static_cast<ElementType>(tensor.element)) == 0 ||
      tensor.element < 0 || tensor.element > PW_UI64)
    return makeError(PW_INVALID_ARGUMENT,
                     "pw_tensor: there is no element type " +
                         std::to_string(tensor.element));
  return nullptr;
}

static std::vector<int64_t> getShape(const pw_tensor &tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

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
    HostArray copy{
        static_cast<ElementType>(tensor.element), getShape(tensor), {}};
    const auto *bytes = static_cast<const char *>(tensor.data);
    copy.data.assign(bytes, bytes + tensor.bytes);
    return makeHandle(session->session.put(std::move(copy)), array);
  });
}

pw_error *pw_borrow(pw_session *session, const pw_tensor *values,
                    void (*done)(void *context), void *context,
                    pw_array **array) {
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

pw_error *pw_restore(pw_session *session, const char *folder,
                     pw_array **array) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"session", session}, {"folder", folder}, {"array", array}}))
      return error;
    return makeHandle(session->session.loadArray(folder), array);
  });
}

pw_error *pw_array_type(const pw_array *array, int32_t *element, int32_t *rank,
                        const int64_t **shape) {
  if (pw_error *error = requireAll({{"array", array}}))
    return error;
  if (element)
    *element = static_cast<int32_t>(array->array.element());
  if (rank)
    *rank = static_cast<int32_t>(array->array.shape().size());
  if (shape)
    *shape = array->array.shape().data();
  return nullptr;
}

int pw_array_is_ready(const pw_array *array) {
  return !array || array->array.isReady();
}

pw_error *pw_array_wait(const pw_array *array, int64_t limit_ns) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}}))
      return error;
    return toError(array->array.awaitFor(limit_ns),
                   "the run that fills the array", limit_ns);
  });
}

/// Returns an error if `tensor` is no memory for the array.
static pw_error *checkFit(const Array &array, const pw_tensor &tensor) {
  uint64_t bytes = elementBytes(array.element());
  for (int64_t size : array.shape())
    bytes *= size;
  const auto element = static_cast<ElementType>(tensor.element);
  if (element == array.element() && getShape(tensor) == array.shape() &&
      tensor.bytes == bytes)
    return nullptr;
  return makeError(PW_INVALID_ARGUMENT,
                   "the array is " +
                       shapeString(array.element(), array.shape()) + " of " +
                       std::to_string(bytes) + " bytes, the memory for it is " +
                       shapeString(element, getShape(tensor)) + " of " +
                       std::to_string(tensor.bytes) + " bytes");
}

pw_error *pw_array_get(const pw_array *array, const pw_tensor *into) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"into", into}}))
      return error;
    pw_tensor tensor{};
    if (pw_error *error = readTensor(into, tensor))
      return error;
    if (pw_error *error = checkFit(array->array, tensor))
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

void pw_view_free(pw_view *view) { delete view; }

pw_error *pw_array_save(const pw_array *array, const char *folder) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"folder", folder}}))
      return error;
    return toError(array->array.save(folder));
  });
}

void pw_array_release(pw_array *array) {
  if (array)
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

void pw_array_free(pw_array *array) { delete array; }
