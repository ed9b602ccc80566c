//===- log_index.h - Names and shards of what was traced --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to runtime/trace: looks up the numbers of events in their plans.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_LOG_INDEX_H_
#define RUNTIME_TRACE_LOG_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/layout/layout.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Looks up names, plans and shards of a log, which outlives it. Events may
// refer to programs and actors that the log does not have; lookups then return
// nothing.
class LogIndex {
 public:
  explicit LogIndex(const TraceLog* log);

  const TraceLog& log() const { return log_; }

  // Return null if the log does not have it.
  const proto::Plan* plan(uint32_t program) const;
  const proto::Action* action(uint32_t program, uint32_t action) const;
  const proto::Action* action(const TraceEvent& event) const {
    return action(event.program, event.target);
  }
  const proto::Edge* edge(uint32_t program, uint32_t edge) const;
  const TraceActor* actor(uint32_t id) const {
    return id < log_.actors.size() ? &log_.actors[id] : nullptr;
  }
  // Returns the number of the step that a device's event of an action belongs
  // to, which is the value of pw.step_index there. Returns nullopt if the log
  // does not have the beginning of the launch.
  std::optional<uint64_t> StepIndexOf(const TraceEvent& event) const;
  // Returns the program's name, with a number if several programs share it.
  const std::string& ProgramName(uint32_t program) const;
  // Returns the actor of the island's device, or kNoTraceActor if there is
  // none.
  uint32_t DeviceActor(int island, int64_t device) const;
  // Returns the shards of a slice on a device, ascending. All slices looked up
  // in a log together have at most as many shards as one slice may have;
  // further shards are ignored, because plans from other processes may have any
  // number of large slices.
  const std::vector<int64_t>& ShardsOn(uint32_t program, uint32_t slice,
                                       uint32_t device);
  // Returns the device of a shard, or kNoTraceActor if unknown.
  uint32_t DeviceOfShard(uint32_t program, uint32_t slice, int64_t shard);
  // Returns the movement of a send, or null if unknown.
  const layout::Movement* movement(uint32_t program, uint32_t send);

 private:
  const TraceLog& log_;
  std::map<uint32_t, std::string> names_;
  // kSubmitted events of each (device, program), by first firing.
  std::map<std::pair<uint32_t, uint32_t>, std::map<uint64_t, const TraceEvent*>>
      submitted_;
  std::map<std::pair<int, int64_t>, uint32_t> device_actors_;
  // Shards by device, for each (program, slice).
  std::map<std::pair<uint32_t, uint32_t>,
           std::map<uint32_t, std::vector<int64_t>>>
      shards_;
  int64_t shards_left_ = layout::kMaxShards;
  std::map<std::pair<uint32_t, uint32_t>, std::optional<layout::Movement>>
      movements_;
};

}  // namespace pathways

#endif  // RUNTIME_TRACE_LOG_INDEX_H_
