//===- host_array.h - A dense array in the client's memory ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_HOST_ARRAY_H_
#define RUNTIME_BASE_HOST_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pathways {

// Values equal those of proto::ElementType.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kF32 = 1,
  kF64 = 2,
  kI1 = 3,  // one byte each, 0 or 1
  kI8 = 4,
  kI32 = 5,
  kI64 = 6,
  kF16 = 7,
  kBF16 = 8,
};

// Bytes of one element in memory; 0 for kInvalid.
int64_t ElementBytes(ElementType element);
// "f32", "i1", ...; "invalid" for kInvalid.
const char* ElementName(ElementType element);
// The reverse; kInvalid for any other name.
ElementType ElementFromName(const std::string& name);

// Leaves what nobody gave a value undefined, so that memory which is about to
// be written is not written twice.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
  }
};

// Bytes of an array. What resize adds is undefined.
using ArrayBytes = std::vector<char, UninitializedAllocator<char>>;

// Global, dense, row-major, in the client's memory.
struct HostArray {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;  // elements; empty: a scalar
  ArrayBytes data;             // num_elements() * ElementBytes(element)

  int64_t num_elements() const;
};

// An array in memory of somebody else, dense and row-major.
struct BorrowedArray {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
  const char* data = nullptr;
  size_t bytes = 0;
  // Called once, when nobody reads the memory any more; may be empty. On any
  // thread: it must neither wait nor call who borrows.
  std::function<void()> done;
};

// "64x256xf32", as in MLIR; "f32" for a scalar.
std::string ShapeString(ElementType element, const std::vector<int64_t>& shape);

}  // namespace pathways

#endif  // RUNTIME_BASE_HOST_ARRAY_H_
