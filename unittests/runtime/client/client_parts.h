//===- client_parts.h - Parts of a client, without the client ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_CLIENT_PARTS_H_
#define UNITTESTS_RUNTIME_CLIENT_CLIENT_PARTS_H_

#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "runtime/client/array_store.h"
#include "runtime/client/program_loader.h"
#include "runtime/client/rebind_gate.h"
#include "runtime/client/rebind_plan.h"
#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/test_program.h"

namespace pathways::testing {

// The parts of a client of a cluster of two hosts with one device each, whose
// controller loads and unloads what it is asked to. Loaded programs get the
// numbers 5, 6 and so on.
struct ClientParts {
  ClientParts() {
    it.runtime.topology = &topology;
    it.runtime.kernels = &Kernels();
    it.on_message = [this](const proto::Control& message) { On(message); };
  }

  void On(const proto::Control& message) {
    proto::Answer answer;
    switch (message.kind_case()) {
      case proto::Control::kSettleRequest:
        return it.Answer(message.settle_request().request());
      case proto::Control::kUnloadRequest:
        unloads.push_back(message.unload_request().program());
        return it.Answer(message.unload_request().request());
      case proto::Control::kDevicesRequest:
        for (uint32_t device : away) answer.add_devices(device);
        return it.Answer(message.devices_request().request(), answer);
      case proto::Control::kLoadRequest:
        if (!load_errors.empty()) {
          const absl::StatusCode code = load_errors.front();
          load_errors.pop_front();
          if (code != absl::StatusCode::kOk) {
            return it.Answer(message.load_request().request(), code, "no room");
          }
        }
        answer.set_program(next_program++);
        loads.push_back(answer.program());
        return it.Answer(message.load_request().request(), answer);
      default:
        return;
    }
  }
  // Loads program "twice" on device 0.
  ProgramHandle Load() {
    std::vector<PlanData> plans;
    plans.push_back(PlanForTest(topology)->data());
    const auto loaded = loader.Load(std::move(plans), LoadOptions());
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? loaded->front() : ProgramHandle();
  }
  // Returns the controller's number of the program.
  uint64_t NumberOf(ProgramHandle handle) {
    const absl::StatusOr<SharedProgram> program = catalog.Find(handle);
    return program.ok() ? (*program)->handle() : 0;
  }
  // Returns the device that the program is on.
  int64_t DeviceOf(ProgramHandle handle) {
    const absl::StatusOr<SharedProgram> program = catalog.Find(handle);
    if (!program.ok()) return -1;
    return *DevicesByIsland((*program)->plan().binding(), topology)
                .begin()
                ->second.begin();
  }

  const Topology topology = *Topology::Create(MakeCluster("1x2x1"));
  AnsweredChannel it;
  const HandleOwner owner{"ann"};
  LoadedPrograms programs;
  RunTable runs;
  ArrayTable arrays{"ann", 100};
  ObjectHolds holds;
  ProgramCatalog catalog{&it.channel, &owner, &programs, &runs};
  SliceReservations slices{&it.channel, &owner, &topology, &catalog};
  DeviceDrains drains{&it.channel, &topology};
  ProgramLoader loader{&it.context, &it.actor, &it.channel,
                       &catalog,    &slices,   &drains};
  RebindGate gate{&it.channel, &owner, &it.world, &programs};
  ArrayReader reader{&it.channel, &it.actor, &it.runtime};
  ArrayStore store{&it.channel, &owner, &it.runtime, &reader, &arrays, &holds};

  std::set<uint32_t> away;                   // devices
  std::deque<absl::StatusCode> load_errors;  // of the next loads
  uint64_t next_program = 5;
  // Programs that the controller has loaded and unloaded.
  std::vector<uint64_t> loads, unloads;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_CLIENT_PARTS_H_
