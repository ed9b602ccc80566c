//===- sent_messages.h - Messages by sender ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to runtime/trace.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_SENT_MESSAGES_H_
#define RUNTIME_TRACE_SENT_MESSAGES_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "runtime/trace/log_index.h"
#include "runtime/trace/trace.h"

namespace pathways::trace {

// Messages between hosts, by sender. The log outlives it.
class SentMessages {
 public:
  explicit SentMessages(const LogIndex& index) {
    for (const TraceEvent& e : index.log().events) {
      if (e.Kind() != TraceKind::kSent) continue;
      const TraceActor* from = index.actor(e.actor);
      if (from == nullptr) continue;
      sent_.emplace(Key{from->host, static_cast<int>(e.other), e.value}, &e);
    }
  }
  // Returns the message from host `from` to host `to`, or null if it is not in
  // the log.
  const TraceEvent* Find(int from, int to, uint64_t sequence) const {
    auto found = sent_.find({from, to, sequence});
    return found == sent_.end() ? nullptr : found->second;
  }

 private:
  using Key = std::tuple<int, int, uint64_t>;
  std::map<Key, const TraceEvent*> sent_;
};

}  // namespace pathways::trace

#endif  // RUNTIME_TRACE_SENT_MESSAGES_H_
