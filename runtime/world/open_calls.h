//===- open_calls.h - Calls of threads into a world -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_OPEN_CALLS_H_
#define RUNTIME_WORLD_OPEN_CALLS_H_

namespace pathways {

// The calls into one world that are open (SendBatching::BeginCall). A thread is
// in calls of at most one world at a time. Thread-safe.
class OpenCalls {
 public:
  OpenCalls() = default;
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  // Begins a call of this thread. Does nothing if the thread is in a call of
  // another world. Calls may be nested.
  void Begin();
  // Ends a call of this thread. Returns true if the thread was in a call of
  // this world and is in none now.
  bool End();
  // Returns true if this thread is in a call of this world.
  bool IsInCall() const;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_OPEN_CALLS_H_
