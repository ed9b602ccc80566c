//===- client_drains.cc - Offline devices and drains ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/client/client.h"
#include "runtime/topology/named_devices.h"

namespace pathways {

absl::StatusOr<std::vector<bool>> Client::AwayDevices() {
  const std::shared_ptr<Request> request =
      channel_.Ask([](uint64_t id, proto::Control* control) {
        control->mutable_devices_request()->set_request(id);
      });
  absl::Status waited = channel_.WaitFor(
      request->done, [] { return "the question for devices"; });
  if (waited.ok()) waited = request->TakeStatus();
  if (!waited.ok()) return waited;
  std::vector<bool> away(context_.runtime->topology->num_devices());
  for (uint32_t device : request->devices) {
    if (device < away.size()) away[device] = true;
  }
  return away;
}

absl::Status Client::Drain(const std::vector<std::string>& names,
                           int64_t wait_ns) {
  return SendDrain(names, wait_ns, /*undo=*/false);
}

absl::Status Client::Undrain(const std::vector<std::string>& names) {
  return SendDrain(names, /*wait_ns=*/-1, /*undo=*/true);
}

absl::Status Client::SendDrain(const std::vector<std::string>& names,
                               int64_t wait_ns, bool undo) {
  const absl::StatusOr<std::vector<bool>> devices =
      NamedDevices(*context_.runtime->topology, names);
  if (!devices.ok()) return devices.status();
  const std::shared_ptr<Request> request =
      channel_.Ask([&](uint64_t id, proto::Control* control) {
        proto::DrainRequest* drain = control->mutable_drain_request();
        drain->set_request(id);
        drain->set_undo(undo);
        if (wait_ns >= 0) drain->set_wait_ns(static_cast<uint64_t>(wait_ns));
        for (size_t device = 0; device < devices->size(); ++device) {
          if ((*devices)[device]) {
            drain->add_devices(static_cast<uint32_t>(device));
          }
        }
      });
  absl::Status waited = channel_.WaitFor(request->done, [&] {
    return absl::StrCat("the drain of ", absl::StrJoin(names, ", "));
  });
  return waited.ok() ? request->TakeStatus() : waited;
}

void Client::OnDrainSeen(const proto::DrainSeen& seen) {
  if (seen.arrays()) has_drained_arrays_.store(true);
  MutexLock lock(&channel_.mutex());
  for (const auto& [handle, program] : programs_.programs()) {
    if (std::find(seen.programs().begin(), seen.programs().end(),
                  program->handle()) != seen.programs().end()) {
      program->is_to_leave().store(true);
    }
  }
}

void Client::MoveOffDrained(ProgramHandle handle) {
  const absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  const bool moves = program.ok() && (*program)->is_to_leave().exchange(false);
  const bool brings = has_drained_arrays_.exchange(false);
  if (!moves && !brings) return;
  const absl::StatusOr<std::vector<bool>> away = AwayDevices();
  if (!away.ok()) return;
  // The program stays if there are no other devices, or no memory on them.
  if (moves) (void)Rebind(handle, *away, RebindOptions());
  if (!brings) return;
  (void)FetchToClient(WholeHosts(*context_.runtime->topology, *away),
                      /*folder=*/"");
}

}  // namespace pathways
