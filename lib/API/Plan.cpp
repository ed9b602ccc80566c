//===- Plan.cpp - Compiled programs ---------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Plan.h"

#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/memory.h"

using namespace pathways;

/// Returns the plan that `read` reads; its bytes are then in memory.
template <typename Read>
static Result<Plan> makePlanOf(const std::string &name, Read read) {
  Result<Plan> plan = Error{};
  const bool hasMemory = HasMemoryFor([&] {
    absl::StatusOr<PlanData> data = read();
    if (data.ok())
      plan = makePlan(*std::move(data));
    else
      plan = makeError(data.status());
  });
  if (!hasMemory)
    return makeMemoryError(name, "its bytes");
  return plan;
}

Result<Plan> Plan::read(const std::string &path) {
  return makePlanOf("plan '" + path + "'", [&] { return ReadPlanFile(path); });
}

Result<Plan> Plan::parse(std::string_view bytes) {
  return makePlanOf(
      "a plan of " + std::to_string(bytes.size()) + " bytes",
      [&] { return ParsePlan(absl::string_view(bytes.data(), bytes.size())); });
}

const std::string &Plan::bytes() const {
  static const std::string *const none = new std::string;
  return state ? state->bytes : *none;
}

Status Plan::write(const std::string &path) const {
  if (!state)
    return makeEmptyError("plan");
  absl::Status status =
      WritePlanFile(path, state->data.tables, state->data.blobs);
  if (!status.ok())
    return makeError(ErrorCode::kUnwritable, status);
  return {};
}
