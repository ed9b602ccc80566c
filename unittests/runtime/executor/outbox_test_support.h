//===- outbox_test_support.h - The outbox of a host, for tests --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_EXECUTOR_OUTBOX_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_EXECUTOR_OUTBOX_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {

// The context of a process, in a world that records messages.
struct RecordedContext {
  RecordedContext(const std::string& name, uint32_t epoch)
      : topology(MakeTopology(name)) {
    context.world = &world;
    context.topology = &topology;
    context.directory = DirectoryOf(
        topology, std::vector<HostLocation>(topology.num_hosts(), {0, epoch}));
  }

  const Topology topology;
  RecordingWorld world;
  RuntimeContext context;
};

// Host 0 of a topology, which is of two hosts by default, in epoch 3. It has
// two devices, each a cohort of its own.
class OutboxTest : public ::testing::Test, protected RecordedContext {
 protected:
  explicit OutboxTest(const std::string& topology = "2x1x2")
      : RecordedContext(topology, 3) {}

  const HostActors actors_{LocalId{10}, {LocalId{11}, LocalId{12}}, {0, 1}};
  HostCounters counters_;
  HostOutbox outbox_{&context, &actors_, 0, &counters_};
  HostPrograms programs_;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_EXECUTOR_OUTBOX_TEST_SUPPORT_H_
