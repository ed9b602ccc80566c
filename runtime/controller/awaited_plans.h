//===- awaited_plans.h - Loads whose plans clients send ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_AWAITED_PLANS_H_
#define RUNTIME_CONTROLLER_AWAITED_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/plan_fetches.h"
#include "runtime/resources/client_requests.h"
#include "runtime/world/world.h"

namespace pathways {

// Loads that a client may have open whose plans are awaited.
inline constexpr size_t kMaxAwaitedLoads = 64;

// Loads whose plans this process lacks, each of which is asked of a client that
// named it: of one after the other, until it is here or nobody is left.
// Invariants: (1) each load is over once: its plan is here, or it failed; (2)
// what a client sends counts for a plan only while that client is asked for it,
// so none spoils another's load. One owner calls it; it sends nothing, and is
// told the time.
class AwaitedPlans {
 public:
  // `context` outlives it. A load fails when its client has sent nothing new
  // for `timeout_ns`.
  AwaitedPlans(RuntimeContext* context, TimeNs timeout_ns)
      : timeout_ns_(timeout_ns), fetches_(context, /*serves=*/true) {}

  struct Question {
    uint32_t client = 0;
    proto::PlanRequest request;
  };
  struct Ended {
    ClientRequest request;
    PlanName name;
    absl::Status status;
    std::shared_ptr<const PreparedPlan> plan;  // if OK
  };
  // What is to be sent, and which loads are over.
  struct Outcome {
    std::vector<Question> questions;
    std::vector<Ended> ended;
  };

  void Add(TimeNs now, ClientRequest request, const PlanName& name,
           Outcome* outcome);
  // What `client` sent.
  void Take(TimeNs now, uint32_t client, const proto::PlanPart& part,
            Outcome* outcome);
  // A client goes: nobody waits for its loads.
  void Leave(TimeNs now, uint32_t client, Outcome* outcome);
  // Asks again; ends what took too long.
  void Tick(TimeNs now, Outcome* outcome);
  bool empty() const { return plans_.empty(); }

 private:
  struct Load {
    ClientRequest request;
    PlanName name;
  };
  struct Plan {
    std::vector<Load> loads;  // the first one's client is asked
    TimeNs since = 0;         // it was, or sent something new
  };
  using Plans = std::map<PlanHash, Plan>;

  // Ends the loads of `client`, which is asked for a plan, and asks the next
  // one. Returns what comes after it.
  Plans::iterator Fail(TimeNs now, Plans::iterator plan, uint32_t client,
                       const absl::Status& why, Outcome* outcome);
  void Ask(const Plan& plan, Outcome* outcome);

  const TimeNs timeout_ns_;
  PlanFetches fetches_;
  Plans plans_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_AWAITED_PLANS_H_
