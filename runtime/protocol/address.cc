//===- address.cc - Names of roles ----------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/address.h"

namespace pathways {

const char* RoleName(Role role) {
  switch (role) {
    case Role::kController:
      return "controller";
    case Role::kScheduler:
      return "scheduler";
    case Role::kExecutor:
      return "executor";
    case Role::kClient:
      return "client";
    case Role::kReporter:
      return "reporter";
  }
  return "unknown";
}

}  // namespace pathways
