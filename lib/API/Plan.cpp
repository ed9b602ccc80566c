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
#include "Shardings.h"
#include "runtime/base/memory.h"
#include "runtime/plan/tables.h"

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

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

const std::string &Plan::name() const {
  static const std::string *const none = new std::string;
  return state ? state->data.tables.header().program() : *none;
}

/// Describes an argument or a result, which is in this buffer of the plan.
static PortInfo makePort(const proto::Plan &plan, const std::string &name,
                         uint32_t number, bool stepped) {
  const proto::Buffer &buffer = plan.buffers(static_cast<int>(number));
  const layout::Layout layout =
      LayoutOf(plan.layouts(static_cast<int>(buffer.layout())));
  const auto element = static_cast<ElementType>(
      plan.layouts(static_cast<int>(buffer.layout())).element());
  return {.name = name,
          .element = element,
          .shape = layout.shape,
          .stepped = stepped,
          .carried_from = {},
          .sharding = toSharding(
              layout, MeshOf(plan.slices(static_cast<int>(buffer.slice()))))};
}

/// Returns true if the plan has a buffer for the argument or result of that
/// action. Only loading checks a plan, which may be damaged.
static bool hasPort(const proto::Plan &plan, const proto::Action *action,
                    bool isArgument) {
  if (!action)
    return false;
  const auto &buffers = isArgument ? action->results() : action->operands();
  if (buffers.empty() || buffers[0] >= uint32_t(plan.buffers_size()))
    return false;
  const proto::Buffer &buffer = plan.buffers(static_cast<int>(buffers[0]));
  return buffer.layout() < uint32_t(plan.layouts_size()) &&
         buffer.slice() < uint32_t(plan.slices_size());
}

/// Returns the action of that number, or null.
static const proto::Action *findAction(const proto::Plan &plan,
                                       uint32_t number) {
  return number < uint32_t(plan.actions_size())
             ? &plan.actions(static_cast<int>(number))
             : nullptr;
}

static Error makeDamagedError(const std::string &name) {
  return Error{ErrorCode::kInvalidArgument,
               "the plan has no buffer for '" + name + "'"};
}

Result<std::vector<PortInfo>> Plan::arguments() const {
  if (!state)
    return makeEmptyError("plan");
  const proto::Plan &plan = state->data.tables;
  std::vector<PortInfo> ports;
  for (const proto::Argument &argument : plan.interface().arguments()) {
    if (argument.has_constant())
      continue; // callers do not pass it
    const proto::Action *action = findAction(plan, argument.action());
    if (!hasPort(plan, action, /*isArgument=*/true))
      return makeDamagedError(argument.name());
    ports.push_back(makePort(plan, argument.name(), action->results(0),
                             argument.stepped()));
    if (argument.carried() &&
        argument.from() < uint32_t(plan.interface().results_size()))
      ports.back().carried_from =
          plan.interface().results(static_cast<int>(argument.from())).name();
  }
  return ports;
}

Result<std::vector<PortInfo>> Plan::results() const {
  if (!state)
    return makeEmptyError("plan");
  const proto::Plan &plan = state->data.tables;
  std::vector<PortInfo> ports;
  for (const proto::Result &result : plan.interface().results()) {
    const proto::Action *action = findAction(plan, result.action());
    if (!hasPort(plan, action, /*isArgument=*/false))
      return makeDamagedError(result.name());
    ports.push_back(
        makePort(plan, result.name(), action->operands(0), result.stepped()));
  }
  return ports;
}
