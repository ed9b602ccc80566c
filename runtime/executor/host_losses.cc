//===- host_losses.cc - Devices that take no more work --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/executor/host_executor.h"

namespace pathways {

void HostExecutor::OnWorkerLost(const LocalMessage& message) {
  if (message.item >= arenas_.size()) return;
  KernelCall call;
  call.host = static_cast<uint32_t>(host_);
  call.device = message.item;
  call.incarnation = message.incarnation;
  call.gang = message.target;
  call.shard = message.shard;
  call.step = message.step;
  std::string why = absl::StrCat("a kernel on ", arenas_[message.item]->name(),
                                 " has not returned within the kernel timeout");
  if (auto plan = context_.loaded.Find(message.incarnation)) {
    const std::optional<WorkLocation> where =
        FindKernel(*plan, *context_.topology, call);
    if (where) {
      why = DescribeKernel(*plan, *context_.topology, *where,
                           context_.limits.limit_ns)
                .Text();
    }
  }
  Lose(CohortOf(actors_, message.item), /*unresponsive=*/true, why);
}

void HostExecutor::OnHostWorkLimit(const LocalMessage& message) {
  const std::optional<std::string> why = dispatcher_.OnHostWorkLimit(message);
  if (!why) return;
  std::vector<uint32_t> devices(arenas_.size());
  std::iota(devices.begin(), devices.end(), 0);
  Lose(devices, /*unresponsive=*/false, *why);
}

void HostExecutor::OnLongKernel(const LocalMessage& message) {
  const HostProgram* program =
      programs_.Find(message.program, message.incarnation);
  if (program == nullptr || !context_.limits.on_long) return;
  LongWork work = DescribeKernel(*program->plan, *context_.topology,
                                 {message.target, message.shard, message.step},
                                 static_cast<TimeNs>(message.extra));
  work.incarnation = program->incarnation;
  context_.limits.on_long(work);
}

void HostExecutor::Lose(const std::vector<uint32_t>& devices, bool unresponsive,
                        const std::string& why) {
  proto::WorkerLost lost;
  lost.set_host(host_);
  lost.set_message(why);
  lost.mutable_devices()->Assign(devices.begin(), devices.end());
  lost_.Add(std::move(lost), unresponsive);
  loads_.NotifyLosses();
  if (!unresponsive) return;
  // Nothing waits for unresponsive devices.
  loads_.DropDevices(devices);
  inspections_.DropDevices(devices);
}

}  // namespace pathways
