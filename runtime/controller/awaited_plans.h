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

// Largest number of loads of one client that may await a plan.
inline constexpr size_t kMaxAwaitedLoads = 64;

// Loads whose plan this process lacks. Each plan is requested from a client
// that named it, one client after the other, until the plan is here or no such
// client is left. Invariants: (1) each load ends once: its plan has come, or it
// failed; (2) parts of a plan count only from the client that is being asked
// for it, so no client can spoil another client's load. One owner calls it; it
// sends nothing, and is told the time.
class AwaitedPlans {
 public:
  // `context` must outlive the object. A load fails if its client has sent
  // nothing new for `timeout_ns`.
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
  // The messages to send, and the loads that have ended.
  struct Outcome {
    std::vector<Question> questions;
    std::vector<Ended> ended;
  };

  void Add(TimeNs now, ClientRequest request, const PlanName& name,
           Outcome* outcome);
  // Takes a part of a plan that `client` sent.
  void Take(TimeNs now, uint32_t client, const proto::PlanPart& part,
            Outcome* outcome);
  // Ends the loads of a client that leaves.
  void Leave(TimeNs now, uint32_t client, Outcome* outcome);
  // Asks again, and ends loads whose client took too long.
  void Tick(TimeNs now, Outcome* outcome);
  bool empty() const { return plans_.empty(); }

 private:
  struct Load {
    ClientRequest request;
    PlanName name;
  };
  struct Plan {
    std::vector<Load> loads;  // the client of the first one is asked
    TimeNs since = 0;         // time of the question, or of the last new part
  };
  using Plans = std::map<PlanHash, Plan>;

  // Ends the loads of `client`, which is asked for the plan, and asks the next
  // client. Returns the plan after this one.
  Plans::iterator Fail(TimeNs now, Plans::iterator plan, uint32_t client,
                       const absl::Status& why, Outcome* outcome);
  void Ask(const Plan& plan, Outcome* outcome);

  const TimeNs timeout_ns_;
  PlanFetches fetches_;
  Plans plans_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_AWAITED_PLANS_H_
