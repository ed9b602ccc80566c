//===- value_builder.h - Builder of feeds and fetches -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_VALUE_BUILDER_H_
#define RUNTIME_PROGRAM_VALUE_BUILDER_H_

#include <cstdint>
#include <vector>

#include "runtime/binding/parts.h"
#include "runtime/program/device_program.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"

namespace pathways {

// Cuts the arguments and results of a program into the blocks that one host
// holds, and makes the operations that move them.
class ValueBuilder {
 public:
  // Reads the shards of `devices`. `plan` must outlive this object.
  ValueBuilder(const PreparedPlan& plan, const DevicePrograms& devices);

  // Return the bytes that the host holds of each argument and result, in one
  // step.
  std::vector<uint64_t> ArgumentBytes() const;
  std::vector<uint64_t> ResultBytes() const;

  // Makes the `feeds`, `fetches` and `feed_entries` of a device that has its
  // entries, and sets the `op` of those. `memory` must be allocated.
  void MakeOps(const ProgramMemory& memory, DeviceProgram* device) const;

 private:
  // The blocks of one array on this host.
  struct HostBlocks {
    std::vector<int32_t> shards;  // ascending
    Parts parts;
    Part Of(uint32_t shard) const;
  };
  HostBlocks Cut(const DevicePrograms& devices, uint32_t slice,
                 uint32_t buffer) const;
  FeedOp MakeFeed(const ProgramMemory& memory, uint32_t device,
                  const Entry& entry, int64_t k) const;
  FetchOp MakeFetch(const ProgramMemory& memory, uint32_t device,
                    const Entry& entry, int64_t k) const;

  const PreparedPlan& plan_;
  std::vector<HostBlocks> arguments_, results_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_VALUE_BUILDER_H_
