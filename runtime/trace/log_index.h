//===- log_index.h - Names and shards of what was traced --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to runtime/trace: what an event's numbers mean in its plan.
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

// Looks things up in a log, which outlives it. Events may be of programs and
// actors that the log does not know; then there is nothing to be found.
class LogIndex {
 public:
  explicit LogIndex(const TraceLog* log);

  const TraceLog& log() const { return log_; }

  // Null: not known.
  const proto::Plan* plan(uint32_t program) const;
  const proto::Action* action(uint32_t program, uint32_t action) const;
  const proto::Action* action(const TraceEvent& event) const {
    return action(event.program, event.target);
  }
  const proto::Edge* edge(uint32_t program, uint32_t edge) const;
  const TraceActor* actor(uint32_t id) const {
    return id < log_.actors.size() ? &log_.actors[id] : nullptr;
  }
  // The number of the step that a device's event of an action is in: what
  // pw.step_index is there. None: the log does not have the beginning of the
  // launch.
  std::optional<uint64_t> StepIndexOf(const TraceEvent& event) const;
  // The program's name, with a number when several have it.
  const std::string& ProgramName(uint32_t program) const;
  // The island's device is one of `actors`; kNoTraceActor: none is.
  uint32_t DeviceActor(int island, int64_t device) const;
  // Shards of a slice on a device, ascending. Slices of a log that are asked
  // for together have as many as one slice may have; more than that are not
  // looked at, since plans of others may have any number of large slices.
  const std::vector<int64_t>& ShardsOn(uint32_t program, uint32_t slice,
                                       uint32_t device);
  // The device of a shard; kNoTraceActor: not known.
  uint32_t DeviceOfShard(uint32_t program, uint32_t slice, int64_t shard);
  // Of a send: its movement, or null.
  const layout::Movement* movement(uint32_t program, uint32_t send);

 private:
  const TraceLog& log_;
  std::map<uint32_t, std::string> names_;
  // kSubmitted of each (device, program), by the first firing.
  std::map<std::pair<uint32_t, uint32_t>, std::map<uint64_t, const TraceEvent*>>
      submitted_;
  std::map<std::pair<int, int64_t>, uint32_t> device_actors_;
  // By (program, slice): shards by device.
  std::map<std::pair<uint32_t, uint32_t>,
           std::map<uint32_t, std::vector<int64_t>>>
      shards_;
  int64_t shards_left_ = layout::kMaxShards;
  std::map<std::pair<uint32_t, uint32_t>, std::optional<layout::Movement>>
      movements_;
};

}  // namespace pathways

#endif  // RUNTIME_TRACE_LOG_INDEX_H_
