//===- client_drains.cc - Offline devices and drains ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "runtime/client/client.h"
#include "runtime/topology/named_devices.h"

namespace pathways {

absl::StatusOr<std::vector<bool>> Client::AwayDevices() {
  return drains_.AwayDevices();
}

absl::Status Client::Drain(const std::vector<std::string>& names,
                           int64_t wait_ns) {
  return drains_.Drain(names, wait_ns, /*undo=*/false);
}

absl::Status Client::Undrain(const std::vector<std::string>& names) {
  return drains_.Drain(names, /*wait_ns=*/-1, /*undo=*/true);
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
  (void)store_.FetchToClient(WholeHosts(*context_.runtime->topology, *away),
                             /*folder=*/"");
}

}  // namespace pathways
