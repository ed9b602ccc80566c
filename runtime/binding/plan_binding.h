//===- plan_binding.h - Devices of a plan's slices --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PLAN_BINDING_H_
#define RUNTIME_BINDING_PLAN_BINDING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Returns true if code for one target runs on the other and computes the same
// bits.
bool IsSameTarget(const proto::Target& a, const proto::Target& b);

// Devices of a slice's shards. Devices are numbered over the cluster.
struct SliceBinding {
  std::vector<int32_t> device_of;  // by shard
  std::vector<int32_t> index_of;   // index among the shards on its device
  // (device, shard), sorted, so that the shards of a device are adjacent.
  std::vector<std::pair<int32_t, int32_t>> by_device;
  // (host, number of shards), by host.
  std::vector<std::pair<int32_t, int32_t>> hosts;

  // Returns the shards on `device`, ascending.
  std::vector<int32_t> ShardsOn(int64_t device) const;
};

// Assignment of a plan's slices to devices of a cluster. Cheap to create; the
// tables of the plan and the code do not depend on it. Immutable; any thread
// may read it.
class PlanBinding {
 public:
  // Binds slices as `plan`, which must have passed VerifyPlan, says. Returns
  // InvalidArgument if an island or device does not exist, a device is of
  // another kind, or a slice lies on hosts of two CPU types.
  static absl::StatusOr<PlanBinding> Create(const proto::Plan& plan,
                                            const Topology& topology);

  const std::vector<SliceBinding>& slices() const { return slices_; }
  // Hosts, and islands, with a shard of any slice; both ascending.
  const std::vector<int32_t>& hosts() const { return hosts_; }
  const std::vector<int32_t>& islands() const { return islands_; }

 private:
  std::vector<SliceBinding> slices_;
  std::vector<int32_t> hosts_, islands_;
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_BINDING_H_
