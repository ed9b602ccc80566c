//===- host_plans.h - Loads that wait for their plans -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_PLANS_H_
#define RUNTIME_EXECUTOR_HOST_PLANS_H_

#include <map>
#include <optional>
#include <vector>

#include "runtime/executor/plan_fetches.h"

namespace pathways {

// Loads of hosts of this process that wait for their plans. Each plan is
// fetched once, from the controller. Invariants: (1) each load is answered once
// for each time that its host asks; (2) nothing is sent spontaneously: a lost
// request is repeated when a host asks again. Not thread-safe; sends nothing
// itself.
class HostPlans {
 public:
  explicit HostPlans(RuntimeContext* context)
      : context_(*context), fetches_(context, /*serves=*/false) {}

  struct Answer {
    uint32_t host = 0;
    proto::PlanArrived arrived;
  };
  // Messages that the caller must send.
  struct Outcome {
    std::optional<proto::PlanRequest> request;  // to the controller
    std::vector<Answer> answers;                // to hosts
  };
  // Handles a host that lacks the plan of a load.
  Outcome Want(uint32_t host, const proto::LoadProgram& load);
  Outcome Take(const proto::PlanPart& part);
  // Number of plans that are awaited.
  size_t size() const { return waiting_.size(); }

 private:
  struct Load {
    uint32_t host = 0;
    proto::LoadProgram load;
  };

  RuntimeContext& context_;
  PlanFetches fetches_;
  std::map<PlanHash, std::vector<Load>> waiting_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_PLANS_H_
