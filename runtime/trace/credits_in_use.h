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

// Counts the slots of buffers that are filled and whose credit has not
// returned, for one device after another. It serves one log, whose index must
// outlive it.
class CreditsInUse {
 public:
  explicit CreditsInUse(LogIndex* index) : index_(*index) {}

  // Returns the counter `name` of the device with the events `events`.
  Counter Of(const std::string& name,
             const std::vector<const TraceEvent*>& events);

 private:
  // Effect of a firing of an action on an edge with credits.
  struct Use {
    uint32_t edge;
    bool takes;  // writes the buffer; else returns its credit
    // The credit is returned by the feed of a carried argument.
    bool is_carried;
  };
  using UsesOfActions = std::vector<std::vector<Use>>;

  static UsesOfActions UsesOf(const proto::Plan& plan);
  // Returns the number of shards on which `event` fires `action`.
  int64_t ShardsOf(const TraceEvent& event, const proto::Action& action);

  LogIndex& index_;
  std::map<uint32_t, UsesOfActions> uses_;  // filled on demand; key: program
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_CREDITS_IN_USE_H_
