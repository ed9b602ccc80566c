//===- host_dispatcher_test.cc - Dispatch of actions to devices -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_dispatcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "unittests/runtime/executor/outbox_test_support.h"

namespace pathways::testing {
namespace {

constexpr TimeNs kItemWork = 1000;

class HostDispatcherTest : public OutboxTest {
 protected:
  HostDispatcherTest() {
    auto program = std::make_unique<HostProgram>();
    program->incarnation = 1;
    program->dispatch = std::make_unique<DispatchTable>();
    program->dispatch->window = 2;
    program_ = programs_.Add(std::move(program));
  }
  // Adds action `action`, with a shard on each of `devices`.
  DispatchTable::Item& Add(uint32_t action, std::vector<uint32_t> devices) {
    DispatchTable& table = *program_->dispatch;
    table.item_of.resize(action + 1, -1);
    table.item_of[action] = static_cast<int32_t>(table.items.size());
    DispatchTable::Item& item = table.items.emplace_back();
    item.action = action;
    item.shards = static_cast<uint32_t>(devices.size());
    item.devices = std::move(devices);
    item.left.assign(table.window, item.shards);
    return item;
  }
  void Grant(uint64_t firings) {
    std::unique_ptr<HostGrant>& grant = program_->grants.Push();
    grant = std::make_unique<HostGrant>();
    grant->position = 4;
    grant->end = program_->granted = firings;
    dispatcher_.PrepareGranted(program_);
  }
  // A shard of an action has fired on a device.
  void Fire(uint32_t action, uint64_t firing) {
    LocalMessage message;
    message.target = action;
    message.step = firing;
    dispatcher_.OnActionFired(program_, message);
  }
  // Takes the entries that were enqueued: device, action, firing.
  using Entry = std::tuple<LocalId, uint32_t, uint64_t>;
  std::vector<Entry> Enqueued() {
    std::vector<Entry> entries;
    for (const Sent& one : world.Take()) {
      if (one.kind != Sent::kLocal || one.local.kind != kEnqueue) continue;
      entries.emplace_back(one.local_to, one.local.target, one.local.step);
    }
    return entries;
  }
  LocalId device(int d) const { return actors_.devices[d]; }

  HostProgram* program_;
  HostDispatcher dispatcher_{&context, 0, &programs_, &outbox_};
};

TEST_F(HostDispatcherTest, EnqueuesOneWindowAheadOfTheDevices) {
  Add(0, {0, 1});
  Grant(3);
  EXPECT_EQ(Enqueued(), (std::vector<Entry>{{device(0), 0, 0},
                                            {device(1), 0, 0},
                                            {device(0), 0, 1},
                                            {device(1), 0, 1}}));
  Fire(0, 0);
  EXPECT_EQ(Enqueued(), std::vector<Entry>());
  Fire(0, 0);
  EXPECT_EQ(Enqueued(),
            (std::vector<Entry>{{device(0), 0, 2}, {device(1), 0, 2}}));
}

TEST_F(HostDispatcherTest, WaitsForAnActionOfAnotherHost) {
  DispatchTable::Item& item = Add(0, {1});
  item.sources.push_back({/*remote=*/true, 0, 0});
  program_->dispatch->remotes.push_back({/*host=*/1, /*edge=*/5, 0, 0});
  Grant(1);
  EXPECT_EQ(Enqueued(), std::vector<Entry>());
  proto::StuckShard stuck;
  HostDispatcher::Report(*program_, &stuck);
  EXPECT_TRUE(stuck.unheard());
  EXPECT_EQ(stuck.unheard_host(), 1);
  EXPECT_EQ(stuck.unheard_edge(), 5u);
  WireMessage message;
  message.target = 5;
  dispatcher_.OnEnqueued(/*host=*/0, program_, message);  // not the sender
  EXPECT_EQ(Enqueued(), std::vector<Entry>());
  dispatcher_.OnEnqueued(/*host=*/1, program_, message);
  EXPECT_EQ(Enqueued(), (std::vector<Entry>{{device(1), 0, 0}}));
}

TEST_F(HostDispatcherTest, SpendsItsTimeOnOneActionAtATime) {
  context.dispatch.host_work_ns = kItemWork;
  Add(0, {0});
  Add(1, {1});
  Grant(1);
  std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].kind, Sent::kTimer);
  EXPECT_EQ(sent[0].local.kind, kHostWorkDone);
  EXPECT_EQ(sent[0].due, kItemWork);
  dispatcher_.OnHostWorkDone(sent[0].local);
  EXPECT_EQ(Enqueued(), (std::vector<Entry>{{device(0), 0, 0}}));
}

TEST_F(HostDispatcherTest, GivesUpEndlessWorkOfAProgramThatStops) {
  context.dispatch.host_work_ns = kItemWork;
  context.limits.limit_ns = kItemWork / 2;
  Add(0, {0});
  Grant(1);
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].local.kind, kHostWorkLimit);
  program_->stopping = true;
  dispatcher_.Drop(*program_);
  EXPECT_EQ(dispatcher_.OnHostWorkLimit(sent[0].local), std::nullopt);
  EXPECT_TRUE(world.Take().empty());
}

}  // namespace
}  // namespace pathways::testing
