//===- program_memory.h - Memory of a program on one host -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_PROGRAM_MEMORY_H_
#define RUNTIME_PROGRAM_PROGRAM_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/device_program.h"
#include "runtime/program/slot_ref.h"
#include "runtime/program/table_inputs.h"
#include "runtime/store/store.h"

namespace pathways {

// Lays out and allocates the memory of a program on one host. Each device has a
// segment with the buffers of its shards and the scratch memory of its kernels.
// The host has one segment with the host buffers of all shards, followed by the
// reserved ranges. Calls come in this order: AllocateDevices, any number of
// Reserve, AllocateHost, and then the functions that return addresses.
class ProgramMemory {
 public:
  // Reads the shards of `devices`. The Allocate functions set the devices'
  // `memory`, `memories` and `scratch`. Both arguments must outlive this
  // object.
  ProgramMemory(const PreparedPlan& plan, const DevicePrograms& devices)
      : plan_(plan), devices_(devices) {}

  // `arenas`: by device. Returns ResourceExhausted if an arena lacks room.
  absl::Status AllocateDevices(const std::vector<Arena*>& arenas);
  // Adds `times` ranges of `bytes` each to the host's segment. Returns the
  // offset of the first one.
  uint64_t Reserve(uint64_t bytes, uint64_t times = 1);
  // Returns the host's segment, which the caller must keep. Returns
  // ResourceExhausted if the arena lacks room.
  absl::StatusOr<Arena::Segment> AllocateHost(Arena* arena);
  // Bytes of the host's segment; saturates instead of wrapping around.
  uint64_t host_bytes() const { return host_bytes_; }

  // Returns false if values have no memory, so that all addresses are null.
  bool has_host_memory() const { return host_data_ != nullptr; }
  // Returns the address of a reserved range, or null if values have no memory.
  char* AddressOf(uint64_t reserved) const {
    return host_data_ == nullptr ? nullptr : host_data_ + reserved;
  }
  // Return where the buffer of the device's shard with index `k` is: relative
  // to the device's memories, and as an address.
  SlotOffset OffsetOf(uint32_t buffer, uint32_t device, int64_t k) const;
  SlotRef RefOf(uint32_t buffer, uint32_t device, int64_t k) const;

 private:
  uint64_t ScratchBytes(const DeviceProgram& device) const;

  const PreparedPlan& plan_;
  const DevicePrograms& devices_;
  // Offset of the first shard, by device and slice.
  std::vector<std::vector<uint64_t>> device_base_, host_base_;
  uint64_t host_bytes_ = 0;
  char* host_data_ = nullptr;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_PROGRAM_MEMORY_H_
