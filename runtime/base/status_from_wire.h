//===- status_from_wire.h - Statuses in messages ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_STATUS_FROM_WIRE_H_
#define RUNTIME_BASE_STATUS_FROM_WIRE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pathways {

// Returns the status for the code and text of a message. Only code 0 is OK. Any
// number that is no code becomes Unknown, which absl::Status by itself does not
// always ensure.
inline absl::Status StatusFromWire(int64_t code, absl::string_view message) {
  const bool known =
      code >= 0 &&
      code <= static_cast<int64_t>(absl::StatusCode::kUnauthenticated);
  return absl::Status(
      known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
      message);
}

}  // namespace pathways

#endif  // RUNTIME_BASE_STATUS_FROM_WIRE_H_
