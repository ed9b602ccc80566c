//===- prepared_plan.h - Plan checked against the cluster -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The immutable part of a plan that all hosts share: its tables, the devices
// that it is bound to, and the code for devices of this process. All hosts of a
// process share one PreparedPlan (plan_index.h) and derive their own tables
// (host_program.h) from it.
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

// Immutable once its code is loaded and it is shared; any thread may then read
// it.
class PreparedPlan {
 public:
  // `plan` must have passed VerifyPlan. Returns the errors of
  // IndexedPlan::Create, PlanBinding::Create and PlanCode::Load. Loads code for
  // devices of the hosts for which `is_here` returns true, or none if
  // `runs_code` is false.
  static absl::StatusOr<std::shared_ptr<const PreparedPlan>> Create(
      PlanData plan, const Topology& topology, KernelResolver* resolver,
      bool runs_code, HostFilter is_here = [](int32_t) { return true; });

  // WithoutCode, SetCode and LoadCode are Create in separate steps, for a
  // caller that must fetch the code first. Each returns only the errors of its
  // step.
  static absl::StatusOr<std::unique_ptr<PreparedPlan>> WithoutCode(
      PlanData plan, const Topology& topology, bool runs_code,
      HostFilter is_here);
  const std::vector<NeededCode>& needed_code() const { return code_.needed(); }
  // Replaces the kernels and blobs of the plan.
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
  // Returns the movement of action `send`, which must be a send.
  const layout::Movement& movement(uint32_t send) const {
    return tables_->movement(send);
  }
  // Returns the argument that `feed` reads.
  const proto::Argument& argument(uint32_t feed) const {
    return plan().interface().arguments(plan().actions(feed).interface());
  }

  // Returns the plan's name if it were bound to `slices`:
  // NameOf(WithSlices(data(), slices)).
  absl::StatusOr<PlanName> NameWith(const PlanSlices& slices) const
      ABSL_LOCKS_EXCLUDED(namer_mutex_);

  // The devices.
  const PlanBinding& binding() const { return binding_; }
  const SliceBinding& bound(uint32_t slice) const {
    return binding_.slices()[slice];
  }
  // Placements of the blocks of an argument or result.
  const std::shared_ptr<const ArrayPlacement>& argument_placement(int i) const {
    return argument_placements_[i];
  }
  const std::shared_ptr<const ArrayPlacement>& result_placement(int i) const {
    return result_placements_[i];
  }

  // Returns the kernel's functions for a device of the cluster, or null if
  // there is no code.
  const ResolvedKernel* kernel(uint32_t kernel, int64_t device) const {
    return code_.kernel(kernel, device);
  }
  // Returns a description such as "result 'y' of program 'p'".
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
  // Created on first use; null before.
  mutable Mutex namer_mutex_;
  mutable std::shared_ptr<const PlanNamer> namer_ ABSL_GUARDED_BY(namer_mutex_);
};

// Objects of the process, by number. Thread-safe.
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
    std::shared_ptr<T> dropped;  // destroyed after the lock is released
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
