//===- object_holds.h - Who of a client has values on hosts -----*- C++ -*-===//
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

// Values that hosts hold in blocks. Without an object no host holds any: the
// array is empty, or kernels do not run.
struct PlacedObject {
  uint64_t object = 0;
  std::shared_ptr<const ArrayPlacement> placement;
};

// As many as a call usually gives up.
using ObjectList = absl::InlinedVector<uint64_t, 8>;

// Per object: how many runs and arrays of the client have its values. The
// controller has one reference for all of them. Nothing depends on the order of
// the map but that of All, which is sorted. One owner calls it.
class ObjectHolds {
 public:
  // One hold more; 0 is no object.
  void Hold(uint64_t object) {
    if (object != 0) ++holds_[object];
  }
  bool Holds(uint64_t object) const { return holds_.count(object) != 0; }
  // Gives up one hold of each that is held; returns those that have none left,
  // in the order given: the controller is to release them.
  ObjectList Unhold(absl::Span<const uint64_t> objects);
  // Gives up all, ascending.
  std::vector<uint64_t> Clear();
  size_t size() const { return holds_.size(); }

 private:
  absl::flat_hash_map<uint64_t, uint32_t> holds_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_OBJECT_HOLDS_H_
