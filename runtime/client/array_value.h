//===- array_value.h - Values in the memory of this process -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_ARRAY_VALUE_H_
#define RUNTIME_CLIENT_ARRAY_VALUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/handles.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// Values of an array that a client holds: its own copy, memory borrowed from
// the caller that put it, or files. A partial array may keep its contributions,
// so that later launches continue from these instead of from their sum.
// Immutable and shared; any thread may use it. The owner that drops it last
// returns borrowed memory by calling `done`, and must hold no lock.
class ArrayValue {
 public:
  // The data of `array` are the `contributions`: one dense array of that shape
  // per rank, in order.
  explicit ArrayValue(HostArray array, layout::Contributions contributions = {})
      : type_{array.element, std::move(array.shape)},
        contributions_(std::move(contributions)),
        own_(std::move(array.data)),
        data_(own_.data(), own_.size()),
        bytes_(own_.size() / static_cast<uint64_t>(contributions_.count())) {}
  explicit ArrayValue(BorrowedArray array,
                      layout::Contributions contributions = {})
      : type_{array.element, std::move(array.shape)},
        contributions_(std::move(contributions)),
        data_(array.data, array.bytes),
        bytes_(array.bytes / static_cast<uint64_t>(contributions_.count())),
        done_(std::move(array.done)),
        borrowed_(true) {}
  explicit ArrayValue(std::shared_ptr<const SavedArray> array)
      : type_{array->element(), array->shape()},
        contributions_(array->contributions()),
        bytes_(array->bytes()),
        saved_(std::move(array)) {}
  ~ArrayValue() {
    if (done_) done_();
  }
  ArrayValue(const ArrayValue&) = delete;
  ArrayValue& operator=(const ArrayValue&) = delete;

  const ArrayType& type() const { return type_; }
  const layout::Contributions& contributions() const { return contributions_; }
  // All contributions. Empty if the values are in files, or if only sizes
  // count.
  absl::string_view data() const { return data_; }
  // Bytes of each contribution, as the type says.
  uint64_t bytes() const { return bytes_; }
  bool borrowed() const { return borrowed_; }
  // Files that hold the values; null if the values are in memory.
  const std::shared_ptr<const SavedArray>& saved() const { return saved_; }
  // Returns a copy, with all contributions, of a value that is in memory.
  HostArray Copy() const {
    return {type_.element, type_.shape, {data_.begin(), data_.end()}};
  }

 private:
  const ArrayType type_;
  const layout::Contributions contributions_;
  const ArrayBytes own_;
  const absl::string_view data_;
  const uint64_t bytes_;
  const std::function<void()> done_;
  const std::shared_ptr<const SavedArray> saved_;
  const bool borrowed_ = false;
};

using SharedValue = std::shared_ptr<const ArrayValue>;
using SharedValues = absl::InlinedVector<SharedValue, 4>;

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_VALUE_H_
