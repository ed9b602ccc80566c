//===- load_requests.h - Load requests of clients ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LOAD_REQUESTS_H_
#define RUNTIME_CONTROLLER_LOAD_REQUESTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/binding/plan_index.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/awaited_plans.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/load_service.h"
#include "runtime/controller/outbox.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/client_requests.h"
#include "runtime/resources/load_queue.h"

namespace pathways {

// Reads load requests, and gets their plans from clients. Invariant: a load is
// passed on when all its plans are here, or answered when one of them will not
// come. One owner calls it.
class LoadRequests {
 public:
  // Largest number of programs of one load.
  static constexpr int kMaxTogether = 64;

  // All of these must outlive the object.
  struct Uses {
    PlanIndex& plans;
    AwaitedPlans& awaited;
    const Admission& admission;
    LoadService& loads;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
  };

  explicit LoadRequests(const Uses& uses) : uses_(uses) {}

  void Take(uint32_t client, const proto::LoadRequest& load);
  // Takes a part of a plan that `client` sent.
  void Take(uint32_t client, const proto::PlanPart& part);
  // Drops the requests of a client that leaves. Other clients are asked for the
  // plans that it was to send.
  void Leave(uint32_t client);
  // Asks for plans again, and ends loads whose client took too long.
  void Tick();

 private:
  // A load whose plans have not all come.
  struct Terms {
    uint64_t wait_ns = UINT64_MAX;  // longest wait
    bool awaits_devices = false;
    // The plan is null until it comes.
    std::vector<LoadQueue::Program> programs;
  };

  // Passes on a load all of whose plans are here.
  void Pass(ClientRequest request, Terms terms);
  // Asks for the plans, and ends the waits, of an outcome.
  void Apply(AwaitedPlans::Outcome outcome);

  const Uses uses_;
  std::map<ClientRequest, Terms> terms_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LOAD_REQUESTS_H_
