//===- grant_sender.h - Grants on their way to islands ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_GRANT_SENDER_H_
#define RUNTIME_CONTROLLER_GRANT_SENDER_H_

#include "runtime/controller/launch_table.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/store_log.h"
#include "runtime/protocol/directory.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Sends grants to the schedulers of their islands. One owner calls it; it
// changes nothing.
class GrantSender {
 public:
  // All of these must outlive the sender.
  struct Uses {
    const Topology& topology;
    const Directory& directory;
    const HostEpochs& epochs;
    const ProgramTable& programs;
    const LaunchTable& launches;
    const GrantOrder& grants;
    const StoreLog& store_log;
    Outbox& outbox;
  };

  explicit GrantSender(const Uses& uses) : uses_(uses) {}

  // Sends an open grant, of a launch that the grant order has, to each of its
  // islands. With the first grant of a launch, each host learns which of its
  // numbered messages it must have done. `skip`: true if the grant must not
  // run.
  void Send(const Grant& grant, bool skip);

 private:
  // Names the hosts of the program on an island, with what they must have done
  // and how often they were replaced.
  void AddHosts(const Grant& grant, bool is_first, int32_t island,
                proto::Start* start) const;

  const Uses uses_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_GRANT_SENDER_H_
