//===- held_array.h - Array that a handle owns ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_HELD_ARRAY_H_
#define RUNTIME_CLIENT_HELD_ARRAY_H_

#include <utility>

#include "runtime/client/handles.h"

namespace pathways {

class ArrayStore;

// An array that is released with this handle.
class HeldArray {
 public:
  HeldArray() = default;
  HeldArray(ArrayStore* store, ArrayHandle handle)
      : store_(store), handle_(handle) {}
  HeldArray(HeldArray&& other) noexcept { *this = std::move(other); }
  HeldArray& operator=(HeldArray&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~HeldArray();
  ArrayHandle handle() const { return handle_; }
  // Passes the array to the caller, who releases it.
  ArrayHandle Take() {
    store_ = nullptr;
    return handle_;
  }

 private:
  ArrayStore* store_ = nullptr;
  ArrayHandle handle_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HELD_ARRAY_H_
