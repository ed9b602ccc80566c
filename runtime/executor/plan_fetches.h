//===- plan_fetches.h - Plans that a process fetches ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_PLAN_FETCHES_H_
#define RUNTIME_EXECUTOR_PLAN_FETCHES_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/plan/plan_fetch.h"
#include "runtime/proto/control.pb.h"

namespace pathways {

// Plans in flight to this process's index. When the tables of a plan have
// arrived, they are verified and bound, since the sender is not trusted, and
// the code that the devices of this process need is chosen. Not thread-safe;
// sends nothing itself.
class PlanFetches {
 public:
  // `serves`: other processes request the plans from this one, so it fetches
  // all of their code. `context` must outlive this object.
  PlanFetches(RuntimeContext* context, bool serves)
      : context_(*context), serves_(serves) {}

  // Returns the next request for a plan. Starts fetching the plan if it is not
  // in flight.
  proto::PlanRequest Ask(const PlanName& name);

  // Effect of a part.
  struct Outcome {
    bool ask = false;  // `request` is to be sent next
    proto::PlanRequest request;
    // The fetch is over: the plan is in the index, as `plan`, or `status` says
    // why it will not be.
    bool over = false;
    absl::Status status;
    std::shared_ptr<const PreparedPlan> plan;
  };
  Outcome Take(const proto::PlanPart& part);
  // Drops a plan that is no longer needed.
  void Drop(const PlanHash& hash) { fetches_.erase(hash); }
  size_t size() const { return fetches_.size(); }

 private:
  struct Fetch {
    explicit Fetch(const PlanName& name) : pieces(name) {}
    PlanFetch pieces;
    // The kernels of `plan`, with the objects of all of them. `chosen`: the
    // objects that are needed of each kernel, by number in the manifest.
    google::protobuf::RepeatedPtrField<proto::Kernel> kernels;
    std::vector<std::vector<uint32_t>> chosen;
    std::unique_ptr<PreparedPlan> plan;
  };

  absl::StatusOr<PlanFetch::Step> Prepare(Fetch* fetch);
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> Finish(Fetch* fetch);

  RuntimeContext& context_;
  const bool serves_;
  std::map<PlanHash, Fetch> fetches_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_PLAN_FETCHES_H_
