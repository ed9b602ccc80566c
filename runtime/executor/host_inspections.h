//===- host_inspections.h - Reports of what a host waits for ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_INSPECTIONS_H_
#define RUNTIME_EXECUTOR_HOST_INSPECTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/device/device_report.h"
#include "runtime/executor/host_exchanges.h"
#include "runtime/executor/host_outbox.h"
#include "runtime/executor/host_programs.h"
#include "runtime/executor/lost_devices.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/world/world.h"

namespace pathways {

// Answers the controller's queries about programs: asks the host's devices, and
// reports what those wait for that are behind all others. Invariants: (1) a
// program has at most one inspection at a time, and queries that arrive
// meanwhile share its answer; (2) unresponsive devices are not waited for.
class HostInspections {
 public:
  // All arguments must outlive this object. `devices`: number of the host's.
  HostInspections(int host, uint32_t devices, const HostPrograms* programs,
                  const LostDevices* lost, const HostExchanges* exchanges,
                  HostOutbox* outbox)
      : host_(host),
        devices_(devices),
        programs_(*programs),
        lost_(*lost),
        exchanges_(*exchanges),
        outbox_(*outbox) {}

  void OnQuery(const proto::Query& query);
  // A device has completed its report.
  void OnInspected(const LocalMessage& message);
  // Stops waiting for devices that will not answer.
  void DropDevices(const std::vector<uint32_t>& devices);

 private:
  // A query that waits for the devices' answers.
  struct Inspection {
    uint64_t round = 0;
    uint32_t incarnation = 0;
    WaitSet waiting;
    std::vector<std::unique_ptr<DeviceReport>> reports;  // by device
  };

  // Reports to the controller and ends the inspection.
  void Finish(uint32_t program);

  const int host_;
  const uint32_t devices_;
  const HostPrograms& programs_;
  const LostDevices& lost_;
  const HostExchanges& exchanges_;
  HostOutbox& outbox_;
  std::map<uint32_t, Inspection> inspections_;  // by program
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_INSPECTIONS_H_
