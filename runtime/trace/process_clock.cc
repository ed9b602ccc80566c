//===- process_clock.cc - How far the clocks of processes are apart -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/process_clock.h"

namespace pathways {

void ProcessClocks::Add(uint32_t process, TimeNs asked, TimeNs there,
                        TimeNs answered) {
  if (answered < asked) return;
  // It looked at its clock at some time between; half of it, rounded up, is as
  // far as the middle can be from that.
  const TimeNs trip = answered - asked;
  const TimeNs middle = asked + trip / 2, error = trip - trip / 2;
  // A clock may say anything: what it says wraps.
  const ProcessClock clock{process,
                           static_cast<TimeNs>(static_cast<uint64_t>(there) -
                                               static_cast<uint64_t>(middle)),
                           error};
  const auto [known, is_first] = clocks_.try_emplace(process, clock);
  if (!is_first && error < known->second.error_ns) known->second = clock;
}

ProcessClock ProcessClocks::Of(uint32_t process) const {
  auto found = clocks_.find(process);
  return found == clocks_.end() ? ProcessClock{process} : found->second;
}

}  // namespace pathways
