//===- plan_fetches.h - Plans that this process asks for --------*- C++ -*-===//
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

// Plans on their way to this process's index. When the tables of one are here
// it is verified and bound, since who sent it is not trusted, and the code that
// the devices here need is chosen. One owner calls it; it sends nothing.
class PlanFetches {
 public:
  // `serves`: this process is asked for the plans, so it takes all their code.
  // `context` outlives it.
  PlanFetches(RuntimeContext* context, bool serves)
      : context_(*context), serves_(serves) {}

  // What to ask for next. A plan that is not on its way is from now on.
  proto::PlanRequest Ask(const PlanName& name);

  // What a part did.
  struct Outcome {
    bool ask = false;  // `request` is next
    proto::PlanRequest request;
    // The plan is in the index, as `plan`; or why it will not be.
    bool over = false;
    absl::Status status;
    std::shared_ptr<const PreparedPlan> plan;
  };
  Outcome Take(const proto::PlanPart& part);
  // Nobody wants it any more.
  void Drop(const PlanHash& hash) { fetches_.erase(hash); }
  size_t size() const { return fetches_.size(); }

 private:
  struct Fetch {
    explicit Fetch(const PlanName& name) : pieces(name) {}
    PlanFetch pieces;
    // What `plan` is made of but for the objects, which `chosen` says: of each
    // kernel those that are needed, by their number in the manifest.
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
