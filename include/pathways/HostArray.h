//===- HostArray.h - Dense array in the caller's memory ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_HOSTARRAY_H
#define PATHWAYS_HOSTARRAY_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pathways {

/// Values equal those of proto::ElementType.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kF32 = 1,
  kF64 = 2,
  kI1 = 3, // one byte each, 0 or 1
  kI8 = 4,
  kI32 = 5,
  kI64 = 6,
  kF16 = 7,
  kBF16 = 8,
  kI16 = 9,
  kUI8 = 10, // kUI8 to kUI64: unsigned
  kUI16 = 11,
  kUI32 = 12,
  kUI64 = 13,
};

/// Bytes of one element in memory; 0 for kInvalid.
int64_t elementBytes(ElementType element);
/// Returns "f32", "i1", "ui8", ..., or "invalid" for kInvalid.
const char *elementName(ElementType element);
/// Returns the type of that name, or kInvalid for any other text.
ElementType elementFromName(const std::string &name);

/// The element type whose elements are values of T: float, double, bool, or an
/// integer of 8, 16, 32 or 64 bits such as int8_t or uint32_t. Other types do
/// not compile.
template <typename T> constexpr ElementType elementOf() {
  static_assert(sizeof(bool) == 1);
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::kF64;
  } else if constexpr (std::is_same_v<T, bool>) {
    return ElementType::kI1;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return ElementType::kI8;
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return ElementType::kI16;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return ElementType::kI32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return ElementType::kI64;
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return ElementType::kUI8;
  } else if constexpr (std::is_same_v<T, uint16_t>) {
    return ElementType::kUI16;
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return ElementType::kUI32;
  } else {
    static_assert(std::is_same_v<T, uint64_t>,
                  "no element type has these values");
    return ElementType::kUI64;
  }
}

/// Allocator that leaves new elements uninitialized unless a value is given, so
/// that memory which is about to be overwritten is not written twice.
template <typename T> struct UninitializedAllocator : std::allocator<T> {
  template <typename U> struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <typename U, typename... Arguments>
  void construct(U *at, Arguments &&...arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void *>(at)) U;
    } else {
      ::new (static_cast<void *>(at)) U(std::forward<Arguments>(arguments)...);
    }
  }
};

/// Bytes of an array. Bytes added by resize() are undefined.
using ArrayBytes = std::vector<char, UninitializedAllocator<char>>;

/// Global, dense, row-major array in the client's memory.
struct HostArray {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape; // elements; empty: a scalar
  ArrayBytes data;            // numElements() * elementBytes(element)

  /// Returns an array with a copy of `values`, row-major, or of one dimension
  /// if no shape is given. If the shape has another number of elements, the
  /// array has the element type kInvalid, which every call refuses.
  template <typename T>
  static HostArray of(std::span<const T> values, std::vector<int64_t> shape);
  template <typename T> static HostArray of(std::span<const T> values) {
    return of<T>(values, {static_cast<int64_t>(values.size())});
  }

  int64_t numElements() const;
  /// Returns the elements, row-major; none if T is not the type of the elements
  /// (elementOf) or `data` has another size.
  template <typename T> std::span<const T> values() const;
};

template <typename T>
HostArray HostArray::of(std::span<const T> values, std::vector<int64_t> shape) {
  HostArray array{elementOf<T>(), std::move(shape), {}};
  if (array.numElements() != static_cast<int64_t>(values.size())) {
    array.element = ElementType::kInvalid;
    return array;
  }
  const auto *bytes = reinterpret_cast<const char *>(values.data());
  array.data.assign(bytes, bytes + values.size_bytes());
  return array;
}

template <typename T> std::span<const T> HostArray::values() const {
  const auto count = static_cast<size_t>(numElements());
  if (element != elementOf<T>() || data.size() != count * sizeof(T))
    return {};
  return {reinterpret_cast<const T *>(data.data()), count};
}

/// Dense, row-major array in memory that the caller owns.
struct BorrowedArray {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
  const char *data = nullptr;
  size_t bytes = 0;
  /// Called once, when the memory is no longer read; may be empty. It runs on
  /// any thread: it must not wait, and must not call the object that borrowed
  /// the memory.
  std::function<void()> done;
};

/// Returns "64x256xf32", as in MLIR, or "f32" for a scalar.
std::string shapeString(ElementType element, const std::vector<int64_t> &shape);

} // namespace pathways

#endif // PATHWAYS_HOSTARRAY_H
