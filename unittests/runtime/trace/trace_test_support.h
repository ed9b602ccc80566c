//===- trace_test_support.h - Logs made by hand -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TRACE_TRACE_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_TRACE_TRACE_TEST_SUPPORT_H_

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/trace/trace.h"

namespace pathways::testing {

// Actors of two islands of one host of two devices each.
enum : uint32_t {
  kTheController,
  kScheduler0,
  kScheduler1,
  kExecutor0,
  kDevice0,
  kDevice1,
  kExecutor1,
  kDevice2,
  kDevice3,
};
inline constexpr uint32_t kProgram = 7;  // its incarnation

inline TraceLog EmptyLog() {
  TraceLog log;
  using Role = TraceActor;
  log.actors = {{Role::kController, -1, -1, -1, "controller"},
                {Role::kScheduler, 0, 0, -1, "island0"},
                {Role::kScheduler, 1, 1, -1, "island1"},
                {Role::kExecutor, 0, 0, -1, "host0"},
                {Role::kDevice, 0, 0, 0, "island0/host0/device0"},
                {Role::kDevice, 0, 0, 1, "island0/host0/device1"},
                {Role::kExecutor, 1, 1, -1, "host1"},
                {Role::kDevice, 1, 1, 0, "island1/host1/device0"},
                {Role::kDevice, 1, 1, 1, "island1/host1/device1"}};
  return log;
}

// Gang 'a' on island 0, whose result moves to island 1, where gang 'b' reads
// it; the gangs have a collective each as step 1. Two shards. Actions: 0 a,
// 1 m.send, 2 m.recv, 3 b.
inline std::shared_ptr<const proto::Plan> TwoGangs() {
  ChainBuilder b({});
  b.Gang("a").Move("m", {.island = 1}).Gang("b");
  for (int gang : {0, 3}) {
    proto::Action* action = b.plan().mutable_actions(gang);
    action->set_location(gang == 0 ? "p.mlir:1:1" : "p.mlir:2:2");
    for (int i = 0; i < 2; ++i) {
      action->add_steps()->mutable_collective()->set_kind(
          i == 0 ? proto::PERMUTE : proto::ALL_REDUCE);
    }
  }
  return std::make_shared<const proto::Plan>(b.Finish());
}

// The number of the data edge between two actions.
inline uint32_t DataEdge(const proto::Plan& plan, uint32_t from, uint32_t to) {
  for (int e = 0; e < plan.edges_size(); ++e) {
    if (plan.edges(e).from() == from && plan.edges(e).to() == to &&
        plan.edges(e).kind() == proto::DATA) {
      return static_cast<uint32_t>(e);
    }
  }
  return kNoTraceEdge;
}

// An event with a duration, of an action of kProgram.
inline TraceEvent Lasting(TraceKind kind, uint32_t actor, uint32_t action,
                          TimeNs begin, TimeNs end, uint32_t item = 0,
                          uint32_t other = kNoTraceEdge, uint64_t firing = 0) {
  TraceEvent event = NewTraceEvent(kind, actor, begin);
  event.program = kProgram;
  event.target = action;
  event.value = static_cast<uint64_t>(end);
  event.item = item;
  event.other = other;
  event.firing = firing;
  return event;
}

inline TraceEvent LaunchCall(TimeNs begin, TimeNs end) {
  TraceEvent event = NewTraceEvent(TraceKind::kCall, kTheController, begin);
  event.target = static_cast<uint32_t>(TraceCall::kLaunch);
  event.value = static_cast<uint64_t>(end);
  event.other = 1;
  return event;
}

inline TraceEvent OfLaunch(TraceKind kind, uint32_t scheduler, TimeNs time) {
  TraceEvent event = NewTraceEvent(kind, scheduler, time);
  event.program = kProgram;
  event.value = 1;
  event.other = 1;
  return event;
}

// One step of TwoGangs, from 5 to 100: on island 0 device 1 comes late to the
// all-reduce of 'a', by which device 0 waits from 20 to 42; 'b' waits for what
// comes from there.
inline TraceLog OneStep() {
  TraceLog log = EmptyLog();
  std::shared_ptr<const proto::Plan> plan = TwoGangs();
  const uint32_t read = DataEdge(*plan, 2, 3);
  log.programs[kProgram] = plan;
  using Kind = TraceKind;
  log.events = {
      LaunchCall(5, 6),
      OfLaunch(Kind::kJoined, kScheduler0, 7),
      OfLaunch(Kind::kGranted, kScheduler0, 8),
      OfLaunch(Kind::kJoined, kScheduler1, 7),
      OfLaunch(Kind::kGranted, kScheduler1, 9),
      Lasting(Kind::kMeet, kDevice0, 0, 20, 42, 1),
      Lasting(Kind::kCollective, kDevice0, 0, 20, 44, 1),
      Lasting(Kind::kGang, kDevice0, 0, 10, 50),
      Lasting(Kind::kCollective, kDevice1, 0, 40, 43, 1),
      Lasting(Kind::kGang, kDevice1, 0, 12, 45),
      Lasting(Kind::kMove, kDevice0, 1, 50, 52, 0, DataEdge(*plan, 0, 1)),
      Lasting(Kind::kMove, kDevice1, 1, 45, 46, 1, DataEdge(*plan, 0, 1)),
      Lasting(Kind::kMove, kDevice2, 2, 60, 60, 0, DataEdge(*plan, 1, 2)),
      Lasting(Kind::kMove, kDevice3, 2, 55, 55, 1, DataEdge(*plan, 1, 2)),
      Lasting(Kind::kWait, kDevice2, 3, 11, 61, 0, read),
      Lasting(Kind::kGang, kDevice2, 3, 61, 100, 0, read),
      Lasting(Kind::kWait, kDevice3, 3, 11, 56, 0, read),
      Lasting(Kind::kGang, kDevice3, 3, 56, 90, 0, read),
  };
  std::stable_sort(
      log.events.begin(), log.events.end(),
      [](const auto& a, const auto& b) { return a.time < b.time; });
  log.end = 110;
  return log;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_TRACE_TRACE_TEST_SUPPORT_H_
