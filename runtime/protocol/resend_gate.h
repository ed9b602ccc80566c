//===- resend_gate.h - Exponential backoff of resends -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_RESEND_GATE_H_
#define RUNTIME_PROTOCOL_RESEND_GATE_H_

#include <bit>
#include <cstdint>

namespace pathways {

// Exponential backoff for resends. A receiver that waits for an answer asks
// again at a constant rate, because the question or the answer may be lost. If
// the link takes longer for an answer than the time between two questions, an
// answer to each question would queue up, and all later messages would queue
// behind those answers. One owner calls it.
class ResendGate {
 public:
  // Returns true for the first, second, fourth, eighth, ... call since the
  // transfer last made progress.
  bool Pass() { return std::has_single_bit(++asked_); }
  // Records that the transfer has made progress.
  void Reset() { asked_ = 0; }

 private:
  uint64_t asked_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_RESEND_GATE_H_
