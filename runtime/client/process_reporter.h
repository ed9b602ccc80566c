//===- process_reporter.h - What happened in a process ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PROCESS_REPORTER_H_
#define RUNTIME_CLIENT_PROCESS_REPORTER_H_

#include <cstdint>
#include <string>

#include "runtime/client/local_actors.h"
#include "runtime/client/make_world.h"
#include "runtime/world/world.h"

namespace pathways {

// Answers what its process has counted and traced (proto::Collect): it alone
// reads the counters of other actors, which are of the same process. Its
// handler takes as long as a copy of the trace. Keeps nothing.
class ProcessReporter final : public ControlActor {
 public:
  // All outlive it. `process`: its number. `seed`: of the world.
  ProcessReporter(RuntimeContext* context, const ProcessWorld* world,
                  const LocalActors* actors, uint32_t process, uint64_t seed)
      : ControlActor(context->world, &context->directory, &context->controls,
                     context->directory.reporter(process)),
        context_(*context),
        world_(*world),
        actors_(*actors),
        process_(process),
        seed_(seed) {}

  // Firings of action shards of this process so far; any thread.
  uint64_t firings() const;

 private:
  void OnMessage(ActorId from, ControlRef control) override;
  proto::ProcessStats Count() const;
  void Send(uint32_t client, proto::Collected collected);

  RuntimeContext& context_;
  const ProcessWorld& world_;
  const LocalActors& actors_;
  const uint32_t process_;
  const uint64_t seed_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PROCESS_REPORTER_H_
