//===- credits_in_use.h - Filled slots of buffers over time -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_CREDITS_IN_USE_H_
#define RUNTIME_TRACE_CREDITS_IN_USE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/proto/plan.pb.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"
#include "runtime/trace/tracks.h"

namespace pathways::trace {

// Counts slots of buffers that are filled and whose credit is not back yet, of
// one device after another. Made for one log, whose index must outlive it.
class CreditsInUse {
 public:
  explicit CreditsInUse(LogIndex* index) : index_(*index) {}

  // The counter `name` of the device whose events are `events`.
  Counter Of(const std::string& name,
             const std::vector<const TraceEvent*>& events);

 private:
  // What a firing of an action does to an edge with credits.
  struct Use {
    uint32_t edge;
    bool takes;       // writes the buffer; else gives its credit back
    bool is_carried;  // gives back as the feed of a carried argument
  };
  using UsesOfActions = std::vector<std::vector<Use>>;

  static UsesOfActions UsesOf(const proto::Plan& plan);
  // The shards on which `event` fires `action`.
  int64_t ShardsOf(const TraceEvent& event, const proto::Action& action);

  LogIndex& index_;
  std::map<uint32_t, UsesOfActions> uses_;  // by program, once asked for
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_CREDITS_IN_USE_H_
