//===- slice_requests.h - Requests for slices -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_SLICE_REQUESTS_H_
#define RUNTIME_CONTROLLER_SLICE_REQUESTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/program_table.h"
#include "runtime/resources/load_queue.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Reads requests for slices, and hands the slices out. Between the two a
// request waits like a load. Invariant: no two slices, and no slice and
// program, have the same number. One owner calls it.
class SliceRequests {
 public:
  // Largest number of slices of one request.
  static constexpr int kMaxSlices = 64;

  // All arguments must outlive the object.
  SliceRequests(const Topology& topology, const ClientTable& clients,
                const GrantOrder& grants, ProgramTable* programs,
                Outbox* outbox)
      : topology_(topology),
        clients_(clients),
        grants_(grants),
        programs_(*programs),
        outbox_(*outbox) {}

  // Returns the request as a load that needs devices. Returns InvalidArgument
  // if the cluster can never have such devices, and FailedPrecondition if the
  // client has no slice that it names.
  absl::StatusOr<LoadQueue::Load> Read(
      TimeNs now, uint32_t client, const proto::SlicesRequest& request) const;
  // Takes the devices of all slices and answers the client. Returns
  // ResourceExhausted, and takes nothing, if some are not free now.
  absl::Status Grant(const LoadQueue::Load& load);

 private:
  absl::StatusOr<DeviceDemand> ReadDemand(uint32_t client,
                                          const proto::SliceNeed& need) const;

  const Topology& topology_;
  const ClientTable& clients_;
  const GrantOrder& grants_;
  ProgramTable& programs_;
  Outbox& outbox_;
  uint64_t last_slice_ = uint64_t{1} << 32;  // no program has a handle as large
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_SLICE_REQUESTS_H_
