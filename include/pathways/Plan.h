//===- Plan.h - Compiled programs -------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_PLAN_H
#define PATHWAYS_PLAN_H

#include "pathways/PlanCosts.h"
#include "pathways/PortInfo.h"
#include "pathways/Result.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pathways {

/// A compiled program: what runs, where, and in which order. Immutable and
/// cheap to copy. A moved-from or default-constructed plan is empty: it has no
/// bytes, and every use of it returns InvalidArgument. A plan contains
/// executable code: load only plans you trust.
class Plan {
public:
  Plan() = default;

  /// Reads a plan file (docs/plan-format.md). Errors: NotFound;
  /// InvalidArgument; Refused if memory is short.
  static Result<Plan> read(const std::string &path);
  /// Parses the bytes of a plan file, and copies them. Errors: InvalidArgument;
  /// Refused if memory is short.
  static Result<Plan> parse(std::string_view bytes);

  /// The bytes of the plan file. Deterministic.
  const std::string &bytes() const;
  /// Writes the file completely or not at all. Errors: Unwritable.
  Status write(const std::string &path) const;

  /// Name of the program. Empty for an empty plan.
  const std::string &name() const;
  /// Arguments and results, in the order of the program. Errors:
  /// InvalidArgument.
  Result<std::vector<PortInfo>> arguments() const;
  Result<std::vector<PortInfo>> results() const;
  /// Returns what the plan costs on the machines. Runs nothing but a
  /// simulation, in this process. Errors:
  /// InvalidArgument for the topology or a number of steps; Refused if the plan
  /// does not fit the machines.
  Result<PlanCosts> costs(const CostOptions &options = {}) const;

  struct State;
  explicit Plan(std::shared_ptr<const State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<const State> state;
};

} // namespace pathways

#endif // PATHWAYS_PLAN_H
