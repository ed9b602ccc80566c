//===- table_test_support.h - Parts of a host's tables ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PROGRAM_TABLE_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_PROGRAM_TABLE_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/program/entry_tables.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {

// The inputs of one host's tables, and the parts that most other parts read: a
// test builds those that it needs. Devices have the shards of program 4,
// incarnation 9.
class TestTables {
 public:
  // `cohorts`: of each device; empty: all devices are of one.
  TestTables(const std::string& spec, int host, proto::Plan tables,
             std::vector<uint32_t> cohorts = {})
      : topology(MakeTopology(spec)),
        plan(Prepare(std::move(tables), topology)),
        in{*plan, topology, actors, dispatch, reach, host} {
    const int num_devices = topology.num_host_devices(host);
    actors.cohorts = std::move(cohorts);
    actors.cohorts.resize(num_devices);
    for (int d = 0; d < num_devices; ++d) {
      arenas.emplace_back("device memory", uint64_t{1} << 20, /*backed=*/true);
      actors.devices.push_back(LocalId{100 + static_cast<uint32_t>(d)});
    }
    devices = MakeDevices(in, /*program=*/4, /*incarnation=*/9);
  }

  // Makes the entries of all devices.
  void LayOut() {
    bases = EdgeBases(plan->edges().size(), devices.size());
    self_bases = bases;
    for (const auto& device : devices) {
      if (device != nullptr) {
        LayOutEntries(in, device.get(), &bases, &self_bases);
      }
    }
  }
  void AllocateDevices() {
    std::vector<Arena*> pointers;
    for (Arena& arena : arenas) pointers.push_back(&arena);
    const absl::Status allocated = memory.AllocateDevices(pointers);
    EXPECT_TRUE(allocated.ok()) << allocated;
  }
  void AllocateHost() {
    absl::StatusOr<Arena::Segment> allocated = memory.AllocateHost(&host_arena);
    ASSERT_TRUE(allocated.ok()) << allocated.status();
    host_memory = *std::move(allocated);
  }
  // Returns the entry of the first shard of an action on a device.
  const Entry& EntryOf(int device, const std::string& action) const {
    const DeviceProgram& of = *devices[device];
    return of.entries[of.first_entry[ActionOf(*plan, action)]];
  }

  const Topology topology;
  const std::shared_ptr<const PreparedPlan> plan;
  HostActors actors;
  DispatchOptions dispatch;
  HostReach reach;
  const TableInputs in;
  std::deque<Arena> arenas;  // of the devices
  Arena host_arena{"host memory", uint64_t{1} << 20, /*backed=*/true};
  Arena::Segment host_memory;
  DevicePrograms devices;
  EdgeBases bases, self_bases;
  ProgramMemory memory{*plan, devices};
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PROGRAM_TABLE_TEST_SUPPORT_H_
