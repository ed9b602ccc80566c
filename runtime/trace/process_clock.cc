//===- process_clock.cc - Clock offsets between processes -----------------===//
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
  // The process read its clock at some time of the round trip, so the middle is
  // off by at most half of the trip, rounded up.
  const TimeNs trip = answered - asked;
  const TimeNs middle = asked + trip / 2, error = trip - trip / 2;
  // The reported time is arbitrary, so the difference may wrap.
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
