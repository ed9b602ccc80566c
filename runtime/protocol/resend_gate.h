//===- resend_gate.h - How often something is sent again --------*- C++ -*-===//
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

// Backs off exponentially from sending something again. Whoever waits for an
// answer asks again at a constant rate, since the question or the answer may be
// lost. On a link that takes longer for the answer than the time between two
// questions, an answer to each would queue behind the others, and everything
// sent later behind those: the longer somebody waits, the longer all others do.
// One owner calls it.
class ResendGate {
 public:
  // Returns true for the first, second, fourth, eighth, ... call since the
  // transfer last made progress.
  bool Pass() { return std::has_single_bit(++asked_); }
  // The transfer has made progress.
  void Reset() { asked_ = 0; }

 private:
  uint64_t asked_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_RESEND_GATE_H_
