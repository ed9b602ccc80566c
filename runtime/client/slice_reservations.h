//===- slice_reservations.h - Slices that a client holds --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_SLICE_RESERVATIONS_H_
#define RUNTIME_CLIENT_SLICE_RESERVATIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/program_catalog.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Reserves devices for one client: slices that it asks for, and those that a
// load takes for a moment. Any thread may call it.
class SliceReservations {
 public:
  struct HeldSlice {
    std::string name;
    size_t run = 0;  // devices on each island
    std::vector<int64_t> devices;
  };
  // Slices by handle, with their devices.
  using GrantedSlices = std::vector<std::pair<uint64_t, std::vector<int64_t>>>;

  // All arguments outlive the reservations.
  SliceReservations(ControlChannel* channel, const HandleOwner* owner,
                    const Topology* topology, ProgramCatalog* catalog)
      : channel_(*channel),
        owner_(*owner),
        topology_(*topology),
        catalog_(*catalog) {}

  // Reserves a slice that the client then holds. Waits. Client::ReserveSlice
  // describes it.
  absl::StatusOr<SliceHandle> Reserve(
      const SliceOptions& options, const std::vector<SliceHandle>& apart_from);
  // Returns InvalidArgument if the handle belongs to another client;
  // FailedPrecondition if the slice was released.
  absl::StatusOr<HeldSlice> Find(SliceHandle slice);
  // Returns the names of the devices, or errors of Find.
  absl::StatusOr<std::vector<std::string>> DevicesOf(SliceHandle slice);
  // Does not wait. Returns errors of Find.
  absl::Status Release(SliceHandle slice);

  // Asks for the slices that `fill` describes, after everything released before
  // is free. Waits for other clients for at most `wait_ns` nanoseconds if that
  // is not negative; `on_waiting`, if set, is called with the reason. The
  // caller passes each slice to ReleaseGranted.
  absl::StatusOr<GrantedSlices> Ask(
      absl::FunctionRef<void(proto::SlicesRequest*)> fill, int64_t wait_ns,
      const std::function<void(const std::string&)>& on_waiting);
  // Does not wait. 0 is no slice.
  void ReleaseGranted(uint64_t slice);

 private:
  ControlChannel& channel_;
  const HandleOwner& owner_;
  const Topology& topology_;
  ProgramCatalog& catalog_;
  std::map<uint64_t, HeldSlice> slices_ ABSL_GUARDED_BY(channel_.mutex());
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_SLICE_RESERVATIONS_H_
