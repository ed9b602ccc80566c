//===- host_program_queue.cc - Gangs --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "runtime/program/host_program_builder.h"

namespace pathways {

void HostProgramBuilder::MakeGangs(DeviceProgram* device, GangTables* queue) {
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    Entry& entry = device->entries[i];
    const proto::Action& action = plan().actions(entry.action);
    const int64_t k = i - device->first_entry[entry.action];
    switch (action.kind()) {
      case proto::GANG:
        if (k == 0) MakeGang(device, queue, entry.action);
        break;
      case proto::SEND:
        MakeSend(device, &entry, action, k);
        break;
      case proto::RECV:
        MakeRecv(device, &entry, action, k);
        break;
      case proto::FEED:
        MakeFeed(device, &entry, action, k);
        break;
      case proto::FETCH:
        MakeFetch(device, &entry, action, k);
        break;
      default:
        break;
    }
  }
}

void HostProgramBuilder::MakeGang(DeviceProgram* device, GangTables* queue,
                                  uint32_t a) {
  const proto::Action& action = plan().actions(a);
  const std::vector<int32_t>& shards = device->shards[action.slice()];
  const layout::Mesh& mesh = p_.slices()[action.slice()].mesh;
  const ResolvedKernel* kernel =
      p_.kernel(action.kernel(), in_.first_device() + device->device);
  Gang gang;
  gang.action = a;
  gang.first_entry = device->first_entry[a];
  gang.shards = static_cast<uint32_t>(shards.size());
  for (uint32_t k = 0; k < gang.shards; ++k) {
    gang.need += device->entries[gang.first_entry + k].need;
  }
  gang.num_coordinates = static_cast<uint32_t>(mesh.size());
  gang.cost_ns = static_cast<TimeNs>(
      std::min<uint64_t>(action.cost_ns(), uint64_t{1} << 50));
  auto [coordinates, fresh] = coordinates_of_.try_emplace(
      {device->device, action.slice()},
      static_cast<uint32_t>(device->coordinates.size()));
  gang.first_coordinate = coordinates->second;
  if (fresh) {
    for (int32_t shard : shards) {
      for (int64_t c : layout::Coordinates(mesh, shard)) {
        device->coordinates.push_back(static_cast<int32_t>(c));
      }
    }
  }
  gang.step_begin = static_cast<uint32_t>(queue->steps.size());
  for (int i = 0; i < action.steps_size(); ++i) {
    GangStepTable step;
    if (action.steps(i).has_run()) {
      const proto::GangStep::Run& run = action.steps(i).run();
      if (kernel != nullptr) step.function = kernel->segments[run.segment()];
      step.operands = static_cast<uint32_t>(run.buffers_size());
      step.first_slot = static_cast<uint32_t>(queue->slots.size());
      device->max_operands = std::max(device->max_operands, step.operands);
      for (size_t k = 0; k < shards.size(); ++k) {
        for (uint32_t buffer : run.buffers()) {
          queue->slots.push_back(memory_.OffsetOf(buffer, device->device, k));
        }
      }
    } else if (action.steps(i).has_collective()) {
      step.collective = static_cast<int32_t>(queue->collectives.size());
      MakeCollective(device, queue, a, static_cast<uint32_t>(i));
    } else {
      continue;
    }
    queue->steps.push_back(step);
  }
  gang.step_end = static_cast<uint32_t>(queue->steps.size());
  queue->num_shards += gang.shards;
  queue->gangs.push_back(gang);
}

void HostProgramBuilder::MarkPlain(const DeviceProgram& device,
                                   GangTables* queue) const {
  auto have_masks = [&](const GangStepTable& step) {
    const auto slots = queue->slots.begin() + step.first_slot;
    return std::all_of(slots, slots + step.operands,
                       [](const SlotOffset& slot) { return slot.has_mask(); });
  };
  uint32_t end = 0;
  for (size_t g = queue->gangs.size(); g-- > 0;) {
    Gang& gang = queue->gangs[g];
    gang.quiet = gang.need == 0;
    for (uint32_t k = 0; k < gang.shards; ++k) {
      const Entry& of = device.entries[gang.first_entry + k];
      gang.quiet &= of.out_begin == of.out_end;
    }
    if (gang.shards != 1 || !gang.quiet ||
        gang.step_end != gang.step_begin + 1 ||
        queue->steps[gang.step_begin].collective >= 0 ||
        !have_masks(queue->steps[gang.step_begin])) {
      end = 0;
      continue;
    }
    if (end == 0) end = static_cast<uint32_t>(g) + 1;
    gang.plain_end = end;
  }
}

std::shared_ptr<const GangTables> HostProgramBuilder::Share(GangTables queue) {
  // If all devices differ, comparing with every table gains nothing.
  constexpr size_t kMaxCompared = 8;
  const size_t first = queues_.size() - std::min(queues_.size(), kMaxCompared);
  for (size_t i = first; i < queues_.size(); ++i) {
    if (*queues_[i] == queue) return queues_[i];
  }
  queues_.push_back(std::make_shared<const GangTables>(std::move(queue)));
  return queues_.back();
}

}  // namespace pathways
