//===- prepared_plan.h - A plan, checked against the cluster ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all hosts need of a plan and none changes, in three parts: its tables,
// which devices it is on, and the code for devices that are here. Shared by all
// in the process (plan_index.h); a host's own tables (host_program.h) are
// derived from it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PREPARED_PLAN_H_
#define RUNTIME_BINDING_PREPARED_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/binding/indexed_plan.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/binding/plan_binding.h"
#include "runtime/binding/plan_code.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_manifest.h"
#include "runtime/topology/topology.h"

namespace pathways {

struct ArrayPlacement;  // parts.h

// Immutable once its code is loaded, and then shared; any thread.
class PreparedPlan {
 public:
  // `plan` must have passed VerifyPlan. Errors are those of the three parts.
  // Code is loaded for devices of the hosts that `is_here` says; without
  // `runs_code`, none.
  static absl::StatusOr<std::shared_ptr<const PreparedPlan>> Create(
      PlanData plan, const Topology& topology, KernelResolver* resolver,
      bool runs_code, HostFilter is_here = [](int32_t) { return true; });

  // Create in two steps, for who must find the code first: the errors are
  // those of the step.
  static absl::StatusOr<std::unique_ptr<PreparedPlan>> WithoutCode(
      PlanData plan, const Topology& topology, bool runs_code,
      HostFilter is_here);
  const std::vector<NeededCode>& needed_code() const { return code_.needed(); }
  // Takes kernels and blobs in place of those that it was made with.
  void SetCode(google::protobuf::RepeatedPtrField<proto::Kernel> kernels,
               absl::Span<const uint8_t> blobs,
               std::shared_ptr<const void> owner) {
    tables_->SetCode(std::move(kernels), blobs, std::move(owner));
  }
  absl::Status LoadCode(KernelResolver* resolver) {
    return code_.Load(data(), resolver);
  }

  // The tables.
  const PlanData& data() const { return tables_->data(); }
  const proto::Plan& plan() const { return tables_->plan(); }
  const std::string& name() const { return tables_->name(); }
  uint32_t window() const { return tables_->window(); }
  const std::vector<PreparedSlice>& slices() const { return tables_->slices(); }
  const std::vector<PreparedBuffer>& buffers() const {
    return tables_->buffers();
  }
  const std::vector<PreparedEdge>& edges() const { return tables_->edges(); }
  const std::vector<uint32_t>& in_edges(uint32_t action) const {
    return tables_->in_edges(action);
  }
  const std::vector<uint32_t>& out_edges(uint32_t action) const {
    return tables_->out_edges(action);
  }
  // Of a send.
  const layout::Movement& movement(uint32_t send) const {
    return tables_->movement(send);
  }
  // Buffer that a carried argument's feed reads, or null.
  const proto::Argument& argument(uint32_t feed) const {
    return plan().interface().arguments(plan().actions(feed).interface());
  }

  // What it is called with other slices, NameOf(WithSlices(data(), slices)).
  absl::StatusOr<PlanName> NameWith(const PlanSlices& slices) const
      ABSL_LOCKS_EXCLUDED(namer_mutex_);

  // The devices.
  const PlanBinding& binding() const { return binding_; }
  const SliceBinding& bound(uint32_t slice) const {
    return binding_.slices()[slice];
  }
  // Where the blocks of an argument, or a result, lie; null without kernels.
  const std::shared_ptr<const ArrayPlacement>& argument_placement(int i) const {
    return argument_placements_[i];
  }
  const std::shared_ptr<const ArrayPlacement>& result_placement(int i) const {
    return result_placements_[i];
  }

  // Functions of a kernel for a device of the cluster; null without code.
  const ResolvedKernel* kernel(uint32_t kernel, int64_t device) const {
    return code_.kernel(kernel, device);
  }
  // "result 'y' of program 'p'"
  const std::string& DescribeResult(int i) const { return result_texts_[i]; }

 private:
  PreparedPlan(std::shared_ptr<IndexedPlan> tables, PlanBinding binding)
      : tables_(std::move(tables)), binding_(std::move(binding)) {}
  void PlaceInterface(const Topology& topology);

  const std::shared_ptr<IndexedPlan> tables_;
  const PlanBinding binding_;
  PlanCode code_;
  std::vector<std::shared_ptr<const ArrayPlacement>> argument_placements_,
      result_placements_;
  std::vector<std::string> result_texts_;
  // Made when it is first needed; null: it was not.
  mutable Mutex namer_mutex_;
  mutable std::shared_ptr<const PlanNamer> namer_ ABSL_GUARDED_BY(namer_mutex_);
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

#endif  // RUNTIME_BINDING_PREPARED_PLAN_H_
