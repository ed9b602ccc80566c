//===- device_drains.cc - Drains and offline devices ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/device_drains.h"

#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/topology/named_devices.h"

namespace pathways {

absl::StatusOr<std::vector<bool>> DeviceDrains::AwayDevices() {
  const std::shared_ptr<Request> request =
      channel_.Ask([](uint64_t id, proto::Control* control) {
        control->mutable_devices_request()->set_request(id);
      });
  absl::Status waited = channel_.WaitFor(
      request->done, [] { return "the question for devices"; });
  if (waited.ok()) waited = request->TakeStatus();
  if (!waited.ok()) return waited;
  std::vector<bool> away(topology_.num_devices());
  for (uint32_t device : request->devices) {
    if (device < away.size()) away[device] = true;
  }
  return away;
}

absl::Status DeviceDrains::Drain(const std::vector<std::string>& names,
                                 int64_t wait_ns, bool undo) {
  const absl::StatusOr<std::vector<bool>> devices =
      NamedDevices(topology_, names);
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

}  // namespace pathways
