//===- Tensors.h - Arrays in memory of the caller ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_TENSORS_H
#define LIB_CAPI_TENSORS_H

#include "pathways/CApi.h"
#include "pathways/HostArray.h"

#include <cstdint>
#include <vector>

namespace pathways::capi {

/// Reads the description of an array in the caller's memory. Returns an error
/// if it is inconsistent; its size need not fit its type.
pw_error *readTensor(const pw_tensor *given, pw_tensor &tensor);
std::vector<int64_t> getShape(const pw_tensor &tensor);
/// Copies the values once.
HostArray copyTensor(const pw_tensor &tensor);
/// Returns an error unless `tensor` is memory for an array of that type. `what`
/// names the array.
pw_error *checkFit(const pw_tensor &tensor, ElementType element,
                   const std::vector<int64_t> &shape, const char *what);

} // namespace pathways::capi

#endif // LIB_CAPI_TENSORS_H
