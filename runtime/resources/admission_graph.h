//===- admission_graph.h - Who waits for whom, for memory -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_ADMISSION_GRAPH_H_
#define RUNTIME_RESOURCES_ADMISSION_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace pathways {

// Bytes by place: a device of the cluster or, behind these, a host's own
// memory.
using DeviceBytes = absl::btree_map<int64_t, uint64_t>;

struct DeviceDemand;  // device_choice.h

// A client waits for this, and wants all of it at once.
struct MemoryWish {
  uint32_t client = 0;
  DeviceBytes bytes;
  // And of devices that are to be chosen; they outlive it.
  absl::Span<const DeviceDemand> demands = {};
};

// Whether all of these fit if no more than `taken` is held.
using WishesFit = absl::FunctionRef<bool(
    const DeviceBytes& taken, absl::Span<const MemoryWish* const> wishes)>;

// Which of `wishes` can never be granted, in whatever order, by their index,
// ascending. A client gives up what it holds (`held`, by client) some time
// after it was granted all that it wishes for, and until then it holds it; one
// that wishes for nothing gives it up some time anyway.
//
// It is the reduction of a resource graph (Holt, "Some Deadlock Properties of
// Computer Systems", 1972): what may be given up is given up, and clients whose
// wishes then fit are granted them, until nothing changes. What is left waits
// in a circle, or for itself.
std::vector<size_t> FindStuck(WishesFit fit,
                              const std::map<uint32_t, DeviceBytes>& held,
                              absl::Span<const MemoryWish> wishes);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_ADMISSION_GRAPH_H_
