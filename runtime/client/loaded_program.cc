//===- loaded_program.cc - A program, as its client sees it ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/loaded_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/program/launch.h"

namespace pathways {
namespace {

constexpr uint64_t kMaxLoadedBytes = uint64_t{1} << 50;

// Returns the bytes of an array, or kMaxLoadedBytes + 1 if it is larger than
// kMaxLoadedBytes.
uint64_t BytesOf(ElementType element, const std::vector<int64_t>& shape) {
  unsigned __int128 bytes = elementBytes(element);
  for (int64_t size : shape) {
    if (size == 0) return 0;
  }
  for (int64_t size : shape) {
    bytes *= static_cast<uint64_t>(size);
    if (bytes > kMaxLoadedBytes) return kMaxLoadedBytes + 1;
  }
  return static_cast<uint64_t>(bytes);
}

// Returns the type of a stepped array with that many steps.
ArrayType WithSteps(const ArrayType& one, int64_t steps) {
  ArrayType type = one;
  type.shape[0] = steps;
  return type;
}

// Returns true if `type` is that of a stepped array with that many steps.
bool HasSteps(const ArrayType& type, const ArrayType& one, int64_t steps) {
  return type.element == one.element && type.shape.size() == one.shape.size() &&
         type.shape[0] == steps &&
         std::equal(type.shape.begin() + 1, type.shape.end(),
                    one.shape.begin() + 1);
}

std::shared_ptr<const ProgramNames> NamesOf(const PreparedPlan& plan) {
  auto names = std::make_shared<ProgramNames>();
  names->program = plan.name();
  for (const proto::Result& result : plan.plan().interface().results()) {
    names->results.push_back(result.name());
  }
  return names;
}

}  // namespace

absl::StatusOr<uint64_t> BytesOfArray(ElementType element,
                                      const std::vector<int64_t>& shape) {
  bool good = elementBytes(element) > 0;
  for (int64_t size : shape) good &= size >= 0;
  const uint64_t bytes = good ? BytesOf(element, shape) : 0;
  if (good && bytes <= kMaxLoadedBytes) return bytes;
  return absl::InvalidArgumentError(absl::StrCat(
      "an array cannot have the type ", shapeString(element, shape)));
}

LoadedProgram::LoadedProgram(uint64_t handle,
                             std::shared_ptr<const PreparedPlan> plan,
                             std::shared_ptr<const PreparedPlan> origin,
                             bool has_values)
    : handle_(handle),
      plan_(std::move(plan)),
      origin_(std::move(origin)),
      has_values_(has_values),
      names_(NamesOf(*plan_)) {
  const proto::Plan& tables = plan_->plan();
  for (const proto::Argument& in : tables.interface().arguments()) {
    const int index = static_cast<int>(arguments_.size());
    arguments_.push_back(MakePort(plan_->argument_placement(index),
                                  tables.actions(in.action()).results(0),
                                  in.stepped()));
  }
  for (const proto::Result& out : tables.interface().results()) {
    const int index = static_cast<int>(results_.size());
    Port port =
        MakePort(plan_->result_placement(index),
                 tables.actions(out.action()).operands(0), out.stepped());
    // Results that lie as an argument does share its placement, so that Fits
    // compares only pointers.
    for (const Port& argument : arguments_) {
      if (port.placement == nullptr ||
          !port.placement->Fits(*argument.placement)) {
        continue;
      }
      port.placement = argument.placement;
      break;
    }
    results_.push_back(std::move(port));
  }
}

LoadedProgram::Port LoadedProgram::MakePort(
    std::shared_ptr<const ArrayPlacement> placement, uint32_t buffer,
    bool stepped) const {
  const PreparedBuffer& from = plan_->buffers()[buffer];
  ArrayType type{static_cast<ElementType>(from.element), from.layout.shape};
  if (stepped) type.shape.insert(type.shape.begin(), 1);
  const uint64_t bytes = BytesOf(type.element, type.shape);
  return {std::move(placement),
          std::make_shared<const ArrayType>(std::move(type)), bytes, stepped};
}

const proto::Argument& LoadedProgram::argument(int index) const {
  return plan_->plan().interface().arguments(index);
}

layout::Contributions LoadedProgram::ContributionsOf(int argument) const {
  const ArrayPlacement* const blocks = placement(argument).get();
  if (blocks == nullptr) return {};
  return layout::ContributionsOf(blocks->layout, blocks->mesh);
}

std::string LoadedProgram::Describe(int index) const {
  return absl::StrCat("argument '", argument(index).name(), "' of program '",
                      name(), "'");
}

absl::Status LoadedProgram::CheckLaunch(int64_t first_step, int64_t steps,
                                        size_t arguments) const {
  if (steps < 1 || static_cast<uint64_t>(steps) > kMaxSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", name(), "' was launched for ", steps,
                     " steps, expected 1 to ", kMaxSteps));
  }
  if (absl::Status status =
          CheckStepNumbers(name(), static_cast<uint64_t>(first_step),
                           static_cast<uint64_t>(steps));
      !status.ok()) {
    return status;
  }
  if (arguments != static_cast<size_t>(num_arguments())) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", name(), "' takes ", num_arguments(),
                     " arguments, got ", arguments));
  }
  return absl::OkStatus();
}

absl::Status LoadedProgram::CheckArgument(int index, const ArrayType& got,
                                          uint64_t got_bytes,
                                          int64_t steps) const {
  const Port& port = arguments_[index];
  const ArrayType& one = *port.type;
  const bool fits = port.stepped
                        ? HasSteps(got, one, steps)
                        : got.element == one.element && got.shape == one.shape;
  if (!fits) {
    const ArrayType type = port.stepped ? WithSteps(one, steps) : one;
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(index), " is ", shapeString(got.element, got.shape),
        ", expected ", shapeString(type.element, type.shape),
        port.stepped ? " (one index per step)" : "", Tag(ErrorId::kWrongType)));
  }
  const uint64_t bytes =
      port.stepped ? BytesOf(got.element, got.shape) : port.bytes;
  if (got_bytes != bytes && (has_values_ || got_bytes != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(index), " has ", got_bytes, " bytes, expected ", bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<RunState>> LoadedProgram::MakeRun(
    int64_t steps, FreeList* memory) const {
  auto run =
      std::allocate_shared<RunState>(FreeListAllocator<RunState>(memory));
  run->names = names_;
  run->program_handle = handle_;
  run->steps = static_cast<uint64_t>(steps);
  run->results.resize(results_.size());
  for (size_t r = 0; r < results_.size(); ++r) {
    const Port& port = results_[r];
    RunState::Result& result = run->results[r];
    result.type = port.type;
    result.bytes = port.bytes;
    if (port.stepped && steps != 1) {
      result.type =
          std::make_shared<const ArrayType>(WithSteps(*port.type, steps));
      result.bytes = BytesOf(result.type->element, result.type->shape);
    }
    if (has_values_ && result.bytes > kMaxLoadedBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("result '", names_->results[r], "' of program '", name(),
                       "' needs more than ", kMaxLoadedBytes, " bytes"));
    }
    result.placed.placement = port.placement;
  }
  return run;
}

}  // namespace pathways
