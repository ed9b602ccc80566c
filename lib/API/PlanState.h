//===- PlanState.h - State of a Plan ----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_PLANSTATE_H
#define LIB_API_PLANSTATE_H

#include "pathways/Plan.h"
#include "runtime/plan/plan_file.h"

namespace pathways {

struct Plan::State {
  PlanData data;
  std::string bytes;
};

/// Copies `text` from abseil's string view, which is not the standard one.
inline std::string toString(absl::string_view text) {
  return std::string(text.data(), text.size());
}

/// Makes the error of a call on a moved-from or default-constructed object.
inline Error makeEmptyError(const char *what) {
  return Error{ErrorCode::kInvalidArgument,
               std::string("the ") + what + " is empty"};
}

inline Plan makePlan(PlanData data) {
  auto state = std::make_shared<Plan::State>();
  state->bytes = SerializePlan(data.tables, data.blobs);
  state->data = std::move(data);
  return Plan(std::move(state));
}

} // namespace pathways

#endif // LIB_API_PLANSTATE_H
