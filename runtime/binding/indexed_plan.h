//===- indexed_plan.h - Tables of a plan, for quick reading -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_INDEXED_PLAN_H_
#define RUNTIME_BINDING_INDEXED_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/plan_file.h"

namespace pathways {

// Upper bound on action shards plus edge ends of one plan, times the firings in
// flight.
inline constexpr uint64_t kMaxActionShards = uint64_t{1} << 27;

struct PreparedSlice {
  layout::Mesh mesh;
  int64_t num_shards = 1;
  uint64_t device_bytes = 0;  // per shard, without padding
  uint64_t host_bytes = 0;
};

struct PreparedBuffer {
  int slice = 0;
  layout::Layout layout;
  std::vector<int64_t> shape;  // shape of one shard
  int64_t element_bytes = 0;
  proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
  // True if the buffer shares no bytes with another buffer.
  bool is_alone = false;
};

struct PreparedEdge {
  uint32_t from = 0, to = 0, tokens = 0;
  proto::EdgeKind kind = proto::DATA;
  proto::Relation relation = proto::SAME;
  bool poisons = false;
  // True if the order of the device queues implies the edge, so that its tokens
  // are never counted. An elided edge that poisons carries only poison.
  bool elided = false;
  // Relation pieces: the send whose movement the edge follows.
  uint32_t send = UINT32_MAX;
};

// Indexes of a plan's tables, and the movements of its sends. Both follow from
// the plan alone, independent of its binding. Immutable once shared; any thread
// may read it.
class IndexedPlan {
 public:
  // `plan` must have passed VerifyPlan. Returns ResourceExhausted if the tables
  // would be too large, and InvalidArgument if a send cannot be carried out.
  static absl::StatusOr<std::shared_ptr<IndexedPlan>> Create(PlanData plan);
  // Replaces the kernels and blobs of the plan.
  void SetCode(google::protobuf::RepeatedPtrField<proto::Kernel> kernels,
               absl::Span<const uint8_t> blobs,
               std::shared_ptr<const void> owner);

  // Returns the plan as it was given.
  const PlanData& data() const { return data_; }
  // Returns the plan that hosts run: without loops.
  const proto::Plan& plan() const {
    return data_.tables.loops().empty() ? data_.tables : run_plan_;
  }
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
  // Returns the movement of action `send`, which must be a send.
  const layout::Movement& movement(uint32_t send) const {
    return movements_.at(send);
  }

 private:
  IndexedPlan() = default;
  absl::Status CheckSize() const;
  void FindShared();
  absl::Status MakeMovements();
  void MakeEdges();

  PlanData data_;
  proto::Plan run_plan_;  // only if data_ has loops
  uint32_t window_ = 1;
  std::vector<PreparedSlice> slices_;
  std::vector<PreparedBuffer> buffers_;
  std::vector<PreparedEdge> edges_;
  std::vector<std::vector<uint32_t>> in_edges_, out_edges_;
  std::map<uint32_t, layout::Movement> movements_;
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_INDEXED_PLAN_H_
