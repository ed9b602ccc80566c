//===- held_array.cc - Array that a handle owns ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/held_array.h"

#include "runtime/client/array_store.h"

namespace pathways {

HeldArray::~HeldArray() {
  if (store_ != nullptr) (void)store_->Release(handle_);
}

}  // namespace pathways
