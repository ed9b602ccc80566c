//===- plan_binding.h - Which devices a plan is on ------------ -*- C++ -*-===//
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

// Whether code for one runs on the other, and gives the same bits.
bool IsSameTarget(const proto::Target& a, const proto::Target& b);

// Where the shards of a slice are. Devices are numbered over the cluster.
struct SliceBinding {
  std::vector<int32_t> device_of;  // by shard
  std::vector<int32_t> index_of;   // by shard; among those on its device
  // (device, shard), sorted: the shards of a device are together.
  std::vector<std::pair<int32_t, int32_t>> by_device;
  // (host, number of shards), by host.
  std::vector<std::pair<int32_t, int32_t>> hosts;

  // Those on a device, ascending.
  std::vector<int32_t> ShardsOn(int64_t device) const;
};

// Which devices of a cluster a plan's slices are on. Cheap to make; the tables
// of the plan and the code do not follow from it. Immutable; any thread.
class PlanBinding {
 public:
  // As the plan, which must have passed VerifyPlan, says. InvalidArgument: an
  // island, a device or its kind is not there, or a slice is on hosts of two
  // CPU types.
  static absl::StatusOr<PlanBinding> Create(const proto::Plan& plan,
                                            const Topology& topology);

  const std::vector<SliceBinding>& slices() const { return slices_; }
  // Hosts with a shard of any slice, ascending; islands likewise.
  const std::vector<int32_t>& hosts() const { return hosts_; }
  const std::vector<int32_t>& islands() const { return islands_; }

 private:
  std::vector<SliceBinding> slices_;
  std::vector<int32_t> hosts_, islands_;
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_BINDING_H_
