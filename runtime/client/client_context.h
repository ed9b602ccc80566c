//===- client_context.h - State shared by all clients -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLIENT_CONTEXT_H_
#define RUNTIME_CLIENT_CLIENT_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "runtime/client/run_watchers.h"
#include "runtime/client/send_tracker.h"
#include "runtime/executor/runtime_context.h"

namespace pathways {

// State shared by the clients of a process. Outlives the clients.
struct ClientContext {
  RuntimeContext* runtime = nullptr;
  uint64_t memory_bytes = 0;  // bound of what one client holds itself
  uint32_t trace_actor = 0;   // trace actor of the events of clients
  // Called for long work in other processes, as in ClusterOptions.
  std::function<void(const LongWork&)> on_long_work;
  std::atomic<bool> stopping{false};  // true: requests get no answer any more
  absl::Status ended;                 // reason; valid once `stopping` is true
  SendTracker sending;
  RunWatchers watchers;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_CONTEXT_H_
