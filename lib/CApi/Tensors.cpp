//===- Tensors.cpp - Arrays in memory of the caller -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "Handles.h"

#include <cstring>
#include <sys/mman.h>

using namespace pathways;
using namespace pathways::capi;

pw_error *capi::readTensor(const pw_tensor *given, pw_tensor &tensor) {
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

std::vector<int64_t> capi::getShape(const pw_tensor &tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

/// Asks for huge pages below memory that nothing has touched yet: a copy into
/// pages of 4 KiB takes five times as long. A refusal costs only time.
static void adviseHugePages(char *data, size_t bytes) {
  constexpr uintptr_t kPageBytes = uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uintptr_t end = (begin + bytes) / kPageBytes * kPageBytes;
  if (first < end)
    (void)madvise(data + (first - begin), end - first, MADV_HUGEPAGE);
}

HostArray capi::copyTensor(const pw_tensor &tensor) {
  HostArray copy{
      static_cast<ElementType>(tensor.element), getShape(tensor), {}};
  // assign() would construct one byte after the other.
  copy.data.resize(tensor.bytes);
  adviseHugePages(copy.data.data(), tensor.bytes);
  if (tensor.bytes > 0)
    std::memcpy(copy.data.data(), tensor.data, tensor.bytes);
  return copy;
}

pw_error *capi::checkFit(const pw_tensor &tensor, ElementType element,
                         const std::vector<int64_t> &shape, const char *what) {
  uint64_t bytes = elementBytes(element);
  for (int64_t size : shape)
    bytes *= static_cast<uint64_t>(size);
  const auto given = static_cast<ElementType>(tensor.element);
  if (given == element && getShape(tensor) == shape && tensor.bytes == bytes)
    return nullptr;
  return makeError(PW_INVALID_ARGUMENT,
                   std::string("the ") + what + " is " +
                       shapeString(element, shape) + " of " +
                       std::to_string(bytes) + " bytes, the memory for it is " +
                       shapeString(given, getShape(tensor)) + " of " +
                       std::to_string(tensor.bytes) + " bytes");
}
