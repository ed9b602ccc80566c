//===- process_reporter.h - Reports of one process --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_PROCESS_REPORTER_H_
#define RUNTIME_CLUSTER_PROCESS_REPORTER_H_

#include <cstdint>
#include <string>

#include "runtime/cluster/local_actors.h"
#include "runtime/cluster/make_world.h"
#include "runtime/executor/host_plans.h"
#include "runtime/world/world.h"

namespace pathways {

// Represents its process: returns its counts and its trace (proto::Collect),
// and fetches the plans that its hosts lack. It is the only actor that reads
// counters of other actors, which are of the same process. Its handler takes as
// long as a copy of the trace, or as the verification of a plan and the linking
// of its code.
class ProcessReporter final : public ControlActor {
 public:
  // All arguments outlive it. `seed`: seed of the world.
  ProcessReporter(RuntimeContext* context, const ProcessWorld* world,
                  const LocalActors* actors, uint64_t seed)
      : ControlActor(context->world, &context->directory, &context->controls,
                     context->directory.reporter(context->process)),
        context_(*context),
        world_(*world),
        actors_(*actors),
        seed_(seed),
        plans_(context) {}

  // Returns how often action shards of this process have fired; any thread.
  uint64_t firings() const;

 private:
  void OnMessage(ActorId from, ControlRef control) override;
  void OnCollect(const proto::Control& control);
  void SendTrace(uint32_t client, proto::Collected collected);
  void OnPlanWanted(ActorId from, const proto::Control& control);
  // Returns how often a host of this process was replaced before.
  uint32_t ReplacedOf(int32_t host) const;
  void Send(HostPlans::Outcome outcome);
  proto::ProcessStats Count() const;
  void Send(uint32_t client, proto::Collected collected);

  RuntimeContext& context_;
  const ProcessWorld& world_;
  const LocalActors& actors_;
  const uint64_t seed_;
  HostPlans plans_;
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_PROCESS_REPORTER_H_
