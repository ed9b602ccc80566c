//===- status_report.h - Status of the controller's tables ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_STATUS_REPORT_H_
#define RUNTIME_CONTROLLER_STATUS_REPORT_H_

#include "runtime/controller/client_table.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/program_table.h"
#include "runtime/proto/status.pb.h"
#include "runtime/resources/load_queue.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Describes what clients have and wait for. One owner calls it; it changes
// nothing.
class StatusReport {
 public:
  // All arguments must outlive the object.
  StatusReport(const Topology& topology, const ClientTable& clients,
               const ProgramTable& programs, const LaunchTable& launches,
               const GrantOrder& grants, const ObjectTable& objects,
               const LoadQueue& loads)
      : topology_(topology),
        clients_(clients),
        programs_(programs),
        launches_(launches),
        grants_(grants),
        objects_(objects),
        loads_(loads) {}

  // Returns the status without hosts and counters. `now`: for the age of
  // waiting loads.
  proto::ControllerStatus Describe(TimeNs now) const;

 private:
  void AddPrograms(proto::ControllerStatus* status) const;
  void AddClients(proto::ControllerStatus* status) const;
  void AddSlices(proto::ControllerStatus* status) const;
  // Adds one entry for each host whose devices are all away for one reason,
  // otherwise one for each device.
  void AddAway(proto::ControllerStatus* status) const;
  void AddLoads(TimeNs now, proto::ControllerStatus* status) const;

  const Topology& topology_;
  const ClientTable& clients_;
  const ProgramTable& programs_;
  const LaunchTable& launches_;
  const GrantOrder& grants_;
  const ObjectTable& objects_;
  const LoadQueue& loads_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STATUS_REPORT_H_
