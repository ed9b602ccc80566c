//===- client_context.h - What all clients of a process share ---*- C++ -*-===//
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
#include "runtime/client/send_tracker.h"
#include "runtime/executor/runtime_context.h"

namespace pathways {

// Outlives the clients.
struct ClientContext {
  RuntimeContext* runtime = nullptr;
  uint64_t memory_bytes = 0;  // most that a client holds itself
  uint32_t trace_actor = 0;   // whose the events of clients are
  // Told of what takes long in other processes; as in ClusterOptions.
  std::function<void(const LongWork&)> on_long_work;
  std::atomic<bool> stopping{false};  // nobody answers any more
  absl::Status ended;                 // why; from then on
  SendTracker sending;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_CONTEXT_H_
