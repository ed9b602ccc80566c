//===- unfilled_launches.cc - Launches that wait for arguments ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/unfilled_launches.h"

namespace pathways {

void UnfilledLaunches::Add(const HostProgram* program,
                           const HostLaunch* launch) {
  const size_t missing = launch->values.CountUnfilled();
  if (missing > 0) unfilled_.push_back({program, launch, missing});
}

void UnfilledLaunches::Remove(const HostProgram* program) {
  std::erase_if(unfilled_,
                [&](const Unfilled& u) { return u.program == program; });
}

void UnfilledLaunches::Update(
    absl::FunctionRef<void(const HostProgram&)> tell) {
  for (Unfilled& unfilled : unfilled_) {
    const size_t missing = unfilled.launch->values.CountUnfilled();
    if (missing == unfilled.missing) continue;
    unfilled.missing = missing;
    tell(*unfilled.program);
  }
  std::erase_if(unfilled_, [](const Unfilled& u) { return u.missing == 0; });
}

}  // namespace pathways
