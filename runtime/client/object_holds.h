//===- object_holds.h - Objects that a client holds -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_OBJECT_HOLDS_H_
#define RUNTIME_CLIENT_OBJECT_HOLDS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/binding/parts.h"

namespace pathways {

// Values that hosts hold in blocks. `object` is 0 if no host holds any, since
// the array is empty or kernels do not run.
struct PlacedObject {
  uint64_t object = 0;
  std::shared_ptr<const ArrayPlacement> placement;
};

// Inline capacity: as many as a call usually gives up.
using ObjectList = absl::InlinedVector<uint64_t, 8>;

// Counts for each object how many runs and arrays of the client have its
// values. The controller has one reference for all of them. The order of the
// map is never visible, since Clear sorts. One owner calls it.
class ObjectHolds {
 public:
  // Adds one hold; 0 is no object.
  void Hold(uint64_t object) {
    if (object != 0) ++holds_[object];
  }
  bool Holds(uint64_t object) const { return holds_.count(object) != 0; }
  // Gives up one hold of each object that is held. Returns those without
  // another hold, in the order given, for the controller to release.
  ObjectList Unhold(absl::Span<const uint64_t> objects);
  // Gives up all holds and returns the objects, ascending.
  std::vector<uint64_t> Clear();
  size_t size() const { return holds_.size(); }

 private:
  absl::flat_hash_map<uint64_t, uint32_t> holds_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_OBJECT_HOLDS_H_
