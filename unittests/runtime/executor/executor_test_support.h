//===- executor_test_support.h - One host, in a recording world -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor and the devices of one host. The test plays everybody else: it
// says what controller, scheduler and other hosts say, and looks at what they
// are told.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_EXECUTOR_EXECUTOR_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_EXECUTOR_EXECUTOR_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/executor/host_executor.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"
#include "unittests/runtime/binding/plan_test_support.h"

namespace pathways::testing {

class RecordedHost {
 public:
  // `has_values`: values are stored, fed and fetched; plans have no code. Else
  // launches are staged when they are granted.
  // `epoch`: the life of all hosts. `cohorts`: of each device; empty: all are
  // of one.
  explicit RecordedHost(const std::string& topology, int host = 0,
                        DispatchOptions dispatch = {}, bool has_values = false,
                        uint32_t epoch = 1, std::vector<uint32_t> cohorts = {})
      : topology_(MakeTopology(topology)), host_(host) {
    world.is_simulated = false;
    context.world = &world;
    context.topology = &topology_;
    context.directory = DirectoryOf(
        topology_, std::vector<HostLocation>(topology_.num_hosts(),
                                             HostLocation{0, epoch}));
    context.dispatch = dispatch;
    if (!has_values) context.backends = &NoBackends();
    executor = std::make_unique<HostExecutor>(&context, &actors_, host);
    actors_.executor = world.Register(executor.get(), {host, 0, 0}, "executor",
                                      context.directory.executor(host));
    cohorts.resize(topology_.num_host_devices(host));
    for (int d = 0; d < topology_.num_host_devices(host); ++d) {
      while (cohorts_.size() <= cohorts[d]) {
        cohorts_.emplace_back(world.kernels().kernel_gate(0));
      }
      devices.push_back(
          std::make_unique<Device>(&world, &actors_, &cohorts_[cohorts[d]],
                                   host, d, topology_.GlobalDevice({host, d}),
                                   *context.backends, &context.limits));
      actors_.cohorts.push_back(cohorts[d]);
      actors_.devices.push_back(
          world.Register(devices.back().get(), {host, 0, 0}, "device"));
    }
  }

  const Topology& topology() const { return topology_; }
  const Directory& directory() const { return context.directory; }

  // Delivers a message of `from`, and then the messages of the host's actors to
  // each other. Returns the messages to other hosts, in order.
  std::vector<Sent> Notify(ActorId from, const proto::Control& control) {
    executor->OnControl(from, control.SerializeAsString());
    return world.DeliverAll();
  }
  std::vector<Sent> NotifyFromController(const proto::Control& control) {
    return Notify(directory().controller(), control);
  }
  std::vector<Sent> NotifyWire(int from, WireMessage message,
                               const std::string& payload = "") {
    message.from_epoch = message.to_epoch = 1;
    executor->OnWire(directory().executor(from), message,
                     {payload.data(), payload.size()});
    return world.DeliverAll();
  }

  // Loads `plan` as incarnation 1 of a program.
  std::vector<Sent> Load(proto::Plan plan, uint32_t program = 0) {
    absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
        PreparedPlan::Create(MakePlanData(std::move(plan), {}), topology_,
                             /*resolver=*/nullptr, /*runs_code=*/false);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    plan_ = *prepared;
    name_ = KeepPlan(&context.plans, plan_);
    return LoadAgain(program);
  }
  // The last one, or a second copy of that.
  std::vector<Sent> LoadAgain(uint32_t program = 0) {
    proto::Control control;
    control.mutable_load_program()->set_program(program);
    control.mutable_load_program()->set_incarnation(1);
    *control.mutable_load_program()->mutable_plan() = name_;
    return NotifyFromController(control);
  }
  const PreparedPlan& plan() const { return *plan_; }

  // Firings [first, first + steps) of a launch of `of` from `launch_first` on.
  // `store`: the number of what staged it.
  std::vector<Sent> Grant(uint64_t launch, uint64_t place,
                          uint64_t previous_position, uint64_t first,
                          uint64_t steps, uint64_t launch_first, uint64_t of,
                          uint64_t store = 0, bool skip = false) {
    if (!context.backends->has_values() && first == launch_first && !skip) {
      Stage(launch, of);
    }
    proto::Control control;
    proto::Grant* grant = control.mutable_grant();
    grant->set_incarnation(1);
    grant->set_launch(launch);
    grant->set_position(place);
    grant->set_previous_position(previous_position);
    grant->set_first(first);
    grant->set_steps(steps);
    grant->set_launch_first(launch_first);
    grant->set_launch_steps(of);
    grant->set_store(store);
    grant->set_skip(skip);
    return Notify(directory().scheduler(topology_.island_of_host(host_)),
                  control);
  }

  // A launch, with arguments that a client sends: sizes alone, of one piece
  // each.
  void Stage(uint64_t launch, uint64_t steps) {
    if (plan_ == nullptr) return;
    proto::Control control;
    proto::PrepareLaunch* prepare = control.mutable_prepare_launch();
    prepare->set_sequence(++staged_);
    prepare->set_incarnation(1);
    prepare->set_launch(launch);
    prepare->set_steps(steps);
    const proto::Interface& interface = plan_->plan().interface();
    std::vector<std::pair<uint64_t, uint64_t>> blocks;  // object, bytes
    for (int i = 0; i < interface.arguments_size(); ++i) {
      uint64_t bytes = 0;
      for (const auto& host : plan_->argument_placement(i)->hosts) {
        if (host.host == host_) bytes = host.parts.step_bytes;
      }
      if (interface.arguments(i).stepped()) bytes *= steps;
      const uint64_t object = bytes == 0 ? 0 : launch * 100 + 50 + i;
      prepare->add_arguments(object);
      if (object == 0) continue;
      prepare->add_fresh(object);
      blocks.emplace_back(object, bytes);
    }
    for (int i = 0; i < interface.results_size(); ++i) {
      prepare->add_results(launch * 100 + i);
    }
    NotifyFromController(control);
    for (const auto& [object, bytes] : blocks) {
      executor->OnWire(directory().client(0),
                       TransferMessage(kBlockMessage, object, {0, 0}),
                       {nullptr, bytes});
      world.DeliverAll();
    }
  }

  RecordingWorld world;
  RuntimeContext context;
  std::unique_ptr<HostExecutor> executor;
  std::vector<std::unique_ptr<Device>> devices;

 private:
  const Topology topology_;
  const int host_;
  HostActors actors_;
  std::deque<Cohort> cohorts_;
  std::shared_ptr<const PreparedPlan> plan_;
  proto::PlanName name_;
  uint64_t staged_ = 0;
};

// Those of a kind, parsed.
inline std::vector<proto::Control> ControlsOf(const std::vector<Sent>& sent,
                                              proto::Control::KindCase kind) {
  std::vector<proto::Control> of_kind;
  for (const Sent& one : sent) {
    proto::Control control = one.As<proto::Control>();
    if (control.kind_case() == kind) of_kind.push_back(std::move(control));
  }
  return of_kind;
}
// The places of the grants that are said to be over.
inline std::vector<uint64_t> Done(const std::vector<Sent>& sent) {
  std::vector<uint64_t> places;
  for (const proto::Control& control :
       ControlsOf(sent, proto::Control::kGrantDone)) {
    places.push_back(control.grant_done().number());
  }
  return places;
}
// Program 0 is to stop.
inline proto::Control Stop(uint32_t incarnation) {
  proto::Control control;
  control.mutable_stop_program()->set_incarnation(incarnation);
  return control;
}
inline std::vector<WireMessage> WiresOf(const std::vector<Sent>& sent,
                                        WireKind kind) {
  std::vector<WireMessage> of_kind;
  for (const Sent& one : sent) {
    if (one.kind == Sent::kWire && one.wire.kind == kind) {
      of_kind.push_back(one.wire);
    }
  }
  return of_kind;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_EXECUTOR_EXECUTOR_TEST_SUPPORT_H_
