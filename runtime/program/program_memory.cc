//===- program_memory.cc - Memory of a program on one host ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/program_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"

namespace pathways {

absl::Status ProgramMemory::AllocateDevices(const std::vector<Arena*>& arenas) {
  device_base_.resize(devices_.size());
  host_base_.resize(devices_.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    DeviceProgram* device = devices_[d].get();
    if (device == nullptr) continue;
    uint64_t bytes = 0;
    for (size_t s = 0; s < plan_.slices().size(); ++s) {
      const PreparedSlice& slice = plan_.slices()[s];
      const size_t shards = device->shards[s].size();
      device_base_[d].push_back(bytes);
      bytes = AddBytes(bytes, AlignBuffer(slice.device_bytes), shards);
      host_base_[d].push_back(Reserve(AlignBuffer(slice.host_bytes), shards));
    }
    const uint64_t scratch_at = bytes;
    bytes = AddBytes(bytes, ScratchBytes(*device));
    absl::StatusOr<Arena::Segment> segment = arenas[d]->Allocate(
        bytes, absl::StrCat("program '", plan_.name(), "'"));
    if (!segment.ok()) return segment.status();
    device->memory = *std::move(segment);
    char* const data = device->memory.data();
    device->memories[SlotOffset::kDevice] = data;
    if (data != nullptr) device->scratch = data + scratch_at;
  }
  return absl::OkStatus();
}

uint64_t ProgramMemory::ScratchBytes(const DeviceProgram& device) const {
  uint64_t scratch = 0;
  for (const proto::Action& action : plan_.plan().actions()) {
    if (action.kind() != proto::GANG || device.shards[action.slice()].empty()) {
      continue;
    }
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_run()) continue;
      scratch = std::max(scratch, plan_.plan()
                                      .kernels(action.kernel())
                                      .segments(step.run().segment())
                                      .scratch_bytes());
    }
  }
  return scratch;
}

uint64_t ProgramMemory::Reserve(uint64_t bytes, uint64_t times) {
  const uint64_t at = host_bytes_;
  host_bytes_ = AddBytes(host_bytes_, bytes, times);
  return at;
}

absl::StatusOr<Arena::Segment> ProgramMemory::AllocateHost(Arena* arena) {
  absl::StatusOr<Arena::Segment> segment = arena->Allocate(
      host_bytes_, absl::StrCat("program '", plan_.name(), "'"));
  if (!segment.ok()) return segment;
  host_data_ = segment->data();
  if (host_data_ == nullptr || plan_.slices().empty()) return segment;
  for (const auto& device : devices_) {
    if (device == nullptr) continue;
    device->memories[SlotOffset::kHost] =
        host_data_ + host_base_[device->device][0];
  }
  return segment;
}

SlotOffset ProgramMemory::OffsetOf(uint32_t buffer, uint32_t device,
                                   int64_t k) const {
  const proto::Buffer& b = plan_.plan().buffers(buffer);
  const PreparedSlice& slice = plan_.slices()[b.slice()];
  SlotOffset ref;
  ref.credits = std::max<uint32_t>(1, b.credits());
  ref.memory =
      b.memory() == proto::HOST ? SlotOffset::kHost : SlotOffset::kDevice;
  if (devices_[device]->memories[ref.memory] == nullptr) return ref;
  ref.stride = b.slot_stride();
  const bool on_host = ref.memory == SlotOffset::kHost;
  const std::vector<uint64_t>& bases =
      on_host ? host_base_[device] : device_base_[device];
  ref.offset =
      bases[b.slice()] - bases[0] +
      AlignBuffer(on_host ? slice.host_bytes : slice.device_bytes) * k +
      b.offset();
  return ref;
}

SlotRef ProgramMemory::RefOf(uint32_t buffer, uint32_t device,
                             int64_t k) const {
  const SlotOffset offset = OffsetOf(buffer, device, k);
  SlotRef ref;
  ref.credits = offset.credits;
  ref.stride = offset.stride;
  char* const base = devices_[device]->memories[offset.memory];
  if (base != nullptr) ref.base = base + offset.offset;
  return ref;
}

}  // namespace pathways
