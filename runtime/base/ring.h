//===- ring.h - First-in-first-out queue that reuses memory -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_RING_H_
#define RUNTIME_BASE_RING_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/line_allocator.h"

namespace pathways {

// First-in-first-out queue in one array, which doubles when it is full and
// never shrinks. A popped element stays in its slot, and Push returns it again
// with its contents; with elements that are pointers, pointees are made only
// once. Not thread-safe: one owner calls it. Push moves elements when the array
// grows.
template <typename T>
class Ring {
 public:
  // Iterates from front to back. Valid until the queue changes.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const Ring* ring, size_t i) : ring_(ring), i_(i) {}
    const T& operator*() const { return (*ring_)[i_]; }
    const T* operator->() const { return &(*ring_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(ring_, i_++); }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const Ring* ring_ = nullptr;
    size_t i_ = 0;
  };

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size_); }
  // Returns the i-th element from the front, which must exist.
  T& operator[](size_t i) { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  const T& operator[](size_t i) const {
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  T& back() { return (*this)[size_ - 1]; }

  // Makes room for `size` elements, so that Push does not allocate up to then.
  void Reserve(size_t size) {
    if (size <= slots_.size()) return;
    std::rotate(slots_.begin(), slots_.begin() + first_, slots_.end());
    first_ = 0;
    slots_.resize(std::bit_ceil(size));
  }
  // Adds an element at the back and returns it: new, or as it was when popped.
  T& Push() {
    Reserve(size_ + 1);
    return (*this)[size_++];
  }
  void Pop() {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }
  void PopBack() { --size_; }
  void Clear() { size_ = 0; }
  // Removes the elements for which `f` returns true; the others, which are
  // copied, keep their order.
  template <typename F>
  void RemoveIf(F f) {
    for (size_t left = size_; left > 0; --left) {
      const T element = front();
      Pop();
      if (!f(element)) Push() = element;
    }
  }

 private:
  LineVector<T> slots_;  // the size is a power of two, or 0
  size_t first_ = 0, size_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RING_H_
