//===- recorded_cluster.h - All actors, in a recording world ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The controller, schedulers, executors and devices of a cluster, whose
// messages a test delivers one by one, and among which it puts its own. Behind
// the client's address there is no Client: the test asks, and keeps what is
// told.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_RECORDED_CLUSTER_H_
#define UNITTESTS_RUNTIME_CLIENT_RECORDED_CLUSTER_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/binding/parts.h"
#include "runtime/client/client_actor.h"
#include "runtime/controller/controller.h"
#include "runtime/device/device.h"
#include "runtime/executor/host_executor.h"
#include "runtime/scheduler/island_scheduler.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/plan_test_support.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {

class RecordedCluster {
 public:
  // Each host's devices are one cohort.
  RecordedCluster(const std::string& topology, DispatchOptions dispatch)
      : topology_(*Topology::Create(MakeCluster(topology))) {
    context.world = &world;
    context.topology = &topology_;
    context.directory = DirectoryOf(topology_);
    context.dispatch = dispatch;
    context.limits.report_ns = 1;
    context.limits.on_long = [this](const LongWork&) { ++long_work; };
    const Directory& directory = context.directory;
    world.is_simulated = false;
    controller = std::make_unique<Controller>(&context, ControllerOptions());
    world.Register(controller.get(), {-1, 0, -1}, "controller",
                   directory.controller());
    client = std::make_unique<ClientActor>(&world, &directory,
                                           &context.controls, /*index=*/0);
    client->Attach("client0");
    client->Listen(
        [this](const proto::Control& control) { told.push_back(control); });
    world.Register(client.get(), {-1, 0, -1}, "client", directory.client(0));
    for (int i = 0; i < topology_.num_islands(); ++i) {
      schedulers.push_back(std::make_unique<IslandScheduler>(
          &world, &directory, &context.controls, i, /*ticket_order=*/true));
      world.Register(schedulers.back().get(), {}, "scheduler",
                     directory.scheduler(i));
    }
    for (int h = 0; h < topology_.num_hosts(); ++h) {
      HostActors& actors = actors_.emplace_back();
      executors.push_back(std::make_unique<HostExecutor>(&context, &actors, h));
      actors.executor = world.Register(executors.back().get(), {}, "executor",
                                       directory.executor(h));
      Cohort& cohort = cohorts_.emplace_back(world.kernels().kernel_gate(h));
      for (int d = 0; d < topology_.num_host_devices(h); ++d) {
        devices.push_back(std::make_unique<Device>(
            &world, &actors, &cohort, h, d, topology_.GlobalDevice({h, d}),
            CpuBackends(), &context.limits));
        actors.cohorts.push_back(0);
        actors.devices.push_back(
            world.Register(devices.back().get(), {}, "device"));
      }
    }
    proto::Control connect;
    connect.mutable_connect_request()->set_name("client0");
    Ask(connect);
  }

  // Sends the next message of the client.
  void Ask(proto::Control control) {
    control.set_sequence(++asked_);
    world.SendControl(context.directory.client(0),
                      context.directory.controller(),
                      control.SerializeAsString());
  }
  void AskLoad(proto::Plan plan) {
    absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
        PreparedPlan::Create(MakePlanData(std::move(plan), {}), topology_,
                             &Kernels(), /*runs_code=*/true);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    plan_ = *prepared;
    proto::Control control;
    control.mutable_load_request()->set_request(1);
    *control.mutable_load_request()->mutable_plan() =
        KeepPlan(&context.plans, plan_);
    plan_name_ = control.load_request().plan();
    Ask(control);
  }
  // Returns the name of the plan that was requested last.
  const proto::PlanName& plan_name() const { return plan_name_; }
  // One argument and one result, whose shards are one float each.
  void AskLaunch(uint64_t program, uint64_t launch, float value) {
    const proto::Interface& interface = plan_->plan().interface();
    const auto argument = MakeArrayPlacement(
        *plan_, topology_,
        plan_->plan().actions(interface.arguments(0).action()).results(0),
        /*stepped=*/false);
    result_ = MakeArrayPlacement(
        *plan_, topology_,
        plan_->plan().actions(interface.results(0).action()).operands(0),
        /*stepped=*/false);
    proto::Control control;
    proto::LaunchRequest* request = control.mutable_launch_request();
    request->set_launch(launch);
    request->set_program(program);
    request->set_steps(3);
    proto::ObjectRef* in = request->add_arguments();
    in->set_object(2 * launch);
    in->set_fresh(true);
    for (const ArrayPlacement::Host& host : argument->hosts) {
      in->add_hosts(host.host);
    }
    uint64_t elements = 1;
    for (int64_t extent : argument->layout.shape) elements *= extent;
    auto values = std::make_shared<std::vector<float>>(elements, value);
    client->transfers().AddUpload(
        2 * launch, launch,
        {reinterpret_cast<const char*>(values->data()), values}, argument, 1);
    proto::ObjectRef* out = request->add_results();
    out->set_object(2 * launch + 1);
    for (const ArrayPlacement::Host& host : result_->hosts) {
      out->add_hosts(host.host);
    }
    Ask(control);
  }
  // Returns the placement of the launch's result.
  const std::shared_ptr<const ArrayPlacement>& result() const {
    return result_;
  }
  void AskFetch(uint64_t launch) {
    proto::Control control;
    proto::FetchRequest* request = control.mutable_fetch_request();
    request->set_request(2);
    request->set_object(2 * launch + 1);
    auto fetch = std::make_shared<ArrayFetch>(
        FetchAssembly(*result_, ElementType::kF32, result_->layout.shape));
    fetch->on_end = [this, fetch = fetch.get()](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      fetched = fetch->assembly->Take();
    };
    client->transfers().AddFetch(2, fetch);
    for (const FetchAssembly::Source& source : fetch->assembly->sources()) {
      proto::FetchSource* out = request->add_sources();
      out->set_host(source.host);
      out->set_first_piece(source.first);
    }
    Ask(control);
  }

  // Delivers what was sent, oldest first, until nothing is left or `most`
  // messages were; timers are due at once. `between` is called before each.
  template <typename F>
  void Run(int most, F between) {
    for (int i = 0; i < most; ++i) {
      between();
      for (Sent& one : world.Take()) queue_.push_back(std::move(one));
      if (queue_.empty()) {
        if (world.timers() == 0) return;
        world.Advance(1'000'000'000);
        continue;
      }
      world.Deliver(queue_.front());
      queue_.pop_front();
    }
  }
  void Run() {
    Run(1 << 20, [] {});
  }

  RecordingWorld world;
  RuntimeContext context;
  std::unique_ptr<Controller> controller;
  std::vector<std::unique_ptr<IslandScheduler>> schedulers;
  std::vector<std::unique_ptr<HostExecutor>> executors;
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<ClientActor> client;
  std::vector<proto::Control> told;  // to the client
  HostArray fetched;
  int long_work = 0;  // that was reported

 private:
  const Topology topology_;
  std::deque<HostActors> actors_;
  std::deque<Cohort> cohorts_;
  std::shared_ptr<const PreparedPlan> plan_;
  proto::PlanName plan_name_;
  std::shared_ptr<const ArrayPlacement> result_;
  uint64_t asked_ = 0;
  std::deque<Sent> queue_;  // not delivered yet
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_RECORDED_CLUSTER_H_
