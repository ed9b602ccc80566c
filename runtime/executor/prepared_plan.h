//===- prepared_plan.h - A plan, checked against the cluster ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all hosts need of a plan and none changes: its tables in a form that is
// quick to read, the movements, which shard is on which device, and the code
// for devices that are here. Shared by all in the process (plan_index.h); a
// host's own tables (host_program.h) are derived from it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_PREPARED_PLAN_H_
#define RUNTIME_EXECUTOR_PREPARED_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/executor/kernel_resolver.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/plan_file.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Most action shards times firings in flight of one plan, and edge ends.
inline constexpr uint64_t kMaxActionShards = uint64_t{1} << 27;

struct PreparedSlice {
  int island = 0;
  layout::Mesh mesh;
  int64_t num_shards = 1;
  std::vector<int32_t> device_of;  // island device, per shard
  // (device, shard), sorted: the shards of a device are together.
  std::vector<std::pair<int32_t, int32_t>> by_device;
  // (host, number of shards), by host.
  std::vector<std::pair<int32_t, int32_t>> hosts;
  uint64_t device_bytes = 0;  // of one shard's segments, without padding
  uint64_t host_bytes = 0;
};

struct PreparedBuffer {
  int slice = 0;
  layout::Layout layout;
  std::vector<int64_t> shape;  // of a shard
  int64_t element_bytes = 0;
  proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
  bool is_alone = false;  // no other buffer has bytes of it
};

struct PreparedEdge {
  uint32_t from = 0, to = 0, tokens = 0;
  proto::EdgeKind kind = proto::DATA;
  proto::Relation relation = proto::SAME;
  bool poisons = false;
  // Follows from the order of the device queues: never counted. If it poisons,
  // poison is all that it carries.
  bool elided = false;
  // Relation pieces: the send whose movement it follows.
  uint32_t send = UINT32_MAX;
};

struct ArrayPlacement;  // parts.h

// A kernel that runs on devices of this process.
struct NeededCode {
  uint32_t kernel = 0;
  proto::Target target;
  std::string device;  // the first such, for messages
};

// Immutable once its code is loaded, and then shared; any thread.
class PreparedPlan {
 public:
  using HostFilter = absl::FunctionRef<bool(int32_t host)>;

  // `plan` must have passed VerifyPlan. Checks it against the machines:
  // InvalidArgument (island, device, kind, or a slice on hosts of two CPU
  // types), FailedPrecondition (no code for a device's CPU), ResourceExhausted
  // (tables too large). Code is loaded for devices of the hosts that `is_here`
  // says; without `runs_code`, none.
  static absl::StatusOr<std::shared_ptr<const PreparedPlan>> Create(
      PlanData plan, const Topology& topology, KernelResolver* resolver,
      bool runs_code, HostFilter is_here = [](int32_t) { return true; });

  // Create in two steps, for who must find the code first: the errors are
  // those of the step.
  static absl::StatusOr<std::unique_ptr<PreparedPlan>> WithoutCode(
      PlanData plan, const Topology& topology, bool runs_code,
      HostFilter is_here);
  const std::vector<NeededCode>& needed_code() const { return needed_; }
  // Takes kernels and blobs in place of those that it was made with.
  void SetCode(google::protobuf::RepeatedPtrField<proto::Kernel> kernels,
               absl::Span<const uint8_t> blobs,
               std::shared_ptr<const void> owner);
  absl::Status LoadCode(KernelResolver* resolver);

  const PlanData& data() const { return data_; }
  const proto::Plan& plan() const { return data_.tables; }
  const std::string& name() const { return plan().header().program(); }
  uint32_t window() const { return window_; }
  const std::vector<PreparedSlice>& slices() const { return slices_; }
  const std::vector<PreparedBuffer>& buffers() const { return buffers_; }
  const std::vector<PreparedEdge>& edges() const { return edges_; }
  const std::vector<uint32_t>& in_edges(uint32_t action) const {
    return in_edges_[action];
  }
  const std::vector<uint32_t>& out_edges(uint32_t action) const {
    return out_edges_[action];
  }
  // Of a send.
  const layout::Movement& movement(uint32_t send) const {
    return movements_.at(send);
  }
  // Functions of a kernel for a device; null without code.
  const ResolvedKernel* kernel(uint32_t kernel, int island,
                               int64_t device) const;
  // Buffer that a carried argument's feed reads, or null.
  const proto::Argument& argument(uint32_t feed) const {
    return plan().interface().arguments(plan().actions(feed).interface());
  }
  // Shards of `slice` on a device, ascending.
  std::vector<int32_t> ShardsOn(int slice, int64_t device) const;
  // Where the blocks of an argument, or a result, lie; null without kernels.
  const std::shared_ptr<const ArrayPlacement>& argument_placement(int i) const {
    return argument_placements_[i];
  }
  const std::shared_ptr<const ArrayPlacement>& result_placement(int i) const {
    return result_placements_[i];
  }
  // "result 'y' of program 'p'"
  const std::string& DescribeResult(int i) const { return result_texts_[i]; }
  // Hosts with a shard of any slice, ascending; islands likewise.
  const std::vector<int32_t>& hosts() const { return hosts_; }
  const std::vector<int32_t>& islands() const { return islands_; }

 private:
  PreparedPlan() = default;
  absl::Status Bind(const Topology& topology);
  void FindShared();
  void PlaceInterface(const Topology& topology);
  void FindNeeded(const Topology& topology, HostFilter is_here);

  PlanData data_;
  uint32_t window_ = 1;
  std::vector<PreparedSlice> slices_;
  std::vector<PreparedBuffer> buffers_;
  std::vector<PreparedEdge> edges_;
  std::vector<std::vector<uint32_t>> in_edges_, out_edges_;
  std::map<uint32_t, layout::Movement> movements_;
  std::vector<std::shared_ptr<const ArrayPlacement>> argument_placements_,
      result_placements_;
  std::vector<std::string> result_texts_;
  std::vector<int32_t> hosts_, islands_;
  std::vector<NeededCode> needed_;  // by kernel, then target
  // Targets of the devices here, as text; code per (kernel, target).
  std::map<std::pair<uint32_t, std::string>, ResolvedKernel> code_;
  std::map<std::pair<int, int64_t>, std::string> target_of_;
  std::string common_target_;  // of the devices that are not in target_of_
};

// Objects of the process by a number. Thread-safe.
template <typename T>
class Registry {
 public:
  void Set(uint64_t id, std::shared_ptr<T> object) {
    MutexLock lock(&mutex_);
    objects_[id] = std::move(object);
  }
  std::shared_ptr<T> Find(uint64_t id) const {
    MutexLock lock(&mutex_);
    auto it = objects_.find(id);
    return it == objects_.end() ? nullptr : it->second;
  }
  void Remove(uint64_t id) {
    std::shared_ptr<T> dropped;  // destroyed outside the lock
    MutexLock lock(&mutex_);
    auto it = objects_.find(id);
    if (it == objects_.end()) return;
    dropped = std::move(it->second);
    objects_.erase(it);
  }

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<T>> objects_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_PREPARED_PLAN_H_
