//===- admission_graph.h - Deadlocks among waits for memory -----*- C++ -*-===//
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

// Bytes by pool: a device of the cluster, or after these, a pool of a host's
// own memory.
using DeviceBytes = absl::btree_map<int64_t, uint64_t>;

struct DeviceDemand;  // device_choice.h

// A client waits for all of this at once.
struct MemoryWish {
  uint32_t client = 0;
  DeviceBytes bytes;
  // Bytes of devices that are still to be chosen. They must outlive the wish.
  absl::Span<const DeviceDemand> demands = {};
};

// Returns true if all wishes fit while no more than `taken` is held.
using WishesFit = absl::FunctionRef<bool(
    const DeviceBytes& taken, absl::Span<const MemoryWish* const> wishes)>;

// Returns the indices, ascending, of the wishes that can never be granted, in
// whatever order. Assumes that a client eventually releases what it holds
// (`held`, by client): a client with wishes only after all of them were
// granted, a client without wishes in any case.
//
// This is the reduction of a resource graph (Holt, "Some Deadlock Properties of
// Computer Systems", 1972): it releases what may be released and grants the
// clients whose wishes then fit, until nothing changes. The remaining clients
// wait in a circle, or for themselves.
std::vector<size_t> FindStuck(WishesFit fit,
                              const std::map<uint32_t, DeviceBytes>& held,
                              absl::Span<const MemoryWish> wishes);

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_ADMISSION_GRAPH_H_
