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
#include "runtime/base/host_array.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/handles.h"
#include "runtime/layout/contributions.h"

namespace pathways {

// An array that a client has itself: its own, borrowed from who put it, or in
// files. Of a partial array it may have the contributions, so that launches go
// on from these, and not from their sum. Immutable, and shared by who needs it;
// the last one gives borrowed memory back, and holds no lock then. Any thread.
class ArrayValue {
 public:
  // The data of `array` are the `contributions`, one dense array behind the
  // other by rank, each of the shape.
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
  // All contributions. Nothing when it is in files, or only sizes count.
  absl::string_view data() const { return data_; }
  // The size that the type says, which each contribution has.
  uint64_t bytes() const { return bytes_; }
  bool borrowed() const { return borrowed_; }
  // Null: it is in memory.
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
