//===- program_loader.h - Loading of programs -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PROGRAM_LOADER_H_
#define RUNTIME_CLIENT_PROGRAM_LOADER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/binding/plan_index.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/device_drains.h"
#include "runtime/client/handles.h"
#include "runtime/client/program_catalog.h"
#include "runtime/client/slice_reservations.h"
#include "runtime/plan/plan_file.h"

namespace pathways {

// Loads programs for one client: prepares plans, chooses devices for them, and
// asks the controller to load them. Any thread may call it. All functions wait;
// Client describes them and their errors.
class ProgramLoader {
 public:
  // All arguments outlive the loader. `actor`: that of the client, for traces.
  ProgramLoader(ClientContext* context, const ClientActor* actor,
                ControlChannel* channel, ProgramCatalog* catalog,
                SliceReservations* slices, DeviceDrains* drains)
      : context_(*context),
        actor_(*actor),
        channel_(*channel),
        catalog_(*catalog),
        slices_(*slices),
        drains_(*drains) {}

  // Loads all plans or none, and adds the programs to the catalog.
  absl::StatusOr<std::vector<ProgramHandle>> Load(std::vector<PlanData> plans,
                                                  const LoadOptions& options);
  // Loads a plan on the devices of a slice, and adds the program to the
  // catalog.
  absl::StatusOr<ProgramHandle> Load(PlanData plan, SliceHandle slice,
                                     const LoadOptions& options);
  // Loads `origin` bound to these slices. The caller has a handle for it.
  absl::StatusOr<SharedProgram> LoadBound(
      std::shared_ptr<const PreparedPlan> origin, const PlanSlices& slices,
      const LoadOptions& options);

 private:
  struct Candidate {
    PlanName name;
    std::shared_ptr<const PreparedPlan> plan, origin;
    uint64_t slice = 0;  // slice to load it on; 0: none
  };
  // These return a prepared plan. The first checks a plan that is not here yet;
  // the second binds `origin` to other devices.
  absl::StatusOr<Candidate> Prepare(PlanData plan);
  absl::StatusOr<Candidate> Prepare(std::shared_ptr<const PreparedPlan> origin,
                                    const PlanSlices& slices);
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> MakePlan(
      const PlanName& name, PlanData plan);
  // Chooses devices for all candidates, and gives each a slice of them.
  absl::Status FindPlaces(std::vector<Candidate>* candidates,
                          const LoadOptions& options);
  // Replaces devices that are offline (LoadPlace::kPresent).
  absl::Status LeaveAway(std::vector<Candidate>* candidates,
                         bool oversubscribe);
  absl::StatusOr<std::vector<SharedProgram>> Submit(
      std::vector<Candidate> candidates, const LoadOptions& options);

  ClientContext& context_;
  const ClientActor& actor_;
  ControlChannel& channel_;
  ProgramCatalog& catalog_;
  SliceReservations& slices_;
  DeviceDrains& drains_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PROGRAM_LOADER_H_
