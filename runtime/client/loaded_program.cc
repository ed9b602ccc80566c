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
#include "runtime/executor/launch.h"

namespace pathways {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 50;

// Bytes of an array; kMaxBytes + 1 when it is larger than that.
uint64_t BytesOf(ElementType element, const std::vector<int64_t>& shape) {
  unsigned __int128 bytes = ElementBytes(element);
  for (int64_t size : shape) {
    if (size == 0) return 0;
  }
  for (int64_t size : shape) {
    bytes *= static_cast<uint64_t>(size);
    if (bytes > kMaxBytes) return kMaxBytes + 1;
  }
  return static_cast<uint64_t>(bytes);
}

std::vector<int64_t> WithSteps(const layout::Layout& layout, bool stepped,
                               int64_t steps) {
  std::vector<int64_t> shape = layout.shape;
  if (stepped) shape.insert(shape.begin(), steps);
  return shape;
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
  bool good = ElementBytes(element) > 0;
  for (int64_t size : shape) good &= size >= 0;
  const uint64_t bytes = good ? BytesOf(element, shape) : 0;
  if (good && bytes <= kMaxBytes) return bytes;
  return absl::InvalidArgumentError(
      absl::StrCat("no array is ", ShapeString(element, shape)));
}

LoadedProgram::LoadedProgram(uint64_t handle,
                             std::shared_ptr<const PreparedPlan> plan,
                             bool run_kernels)
    : handle_(handle),
      plan_(std::move(plan)),
      run_kernels_(run_kernels),
      names_(NamesOf(*plan_)) {}

int LoadedProgram::num_arguments() const {
  return plan_->plan().interface().arguments_size();
}

const proto::Argument& LoadedProgram::argument(int index) const {
  return plan_->plan().interface().arguments(index);
}

std::string LoadedProgram::Describe(int index) const {
  return absl::StrCat("argument '", argument(index).name(), "' of program '",
                      name(), "'");
}

absl::Status LoadedProgram::CheckLaunch(int64_t steps, size_t arguments) const {
  if (steps < 1 || static_cast<uint64_t>(steps) > kMaxSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", name(), "' was launched for ", steps,
                     " steps, expected 1 to ", kMaxSteps));
  }
  if (arguments != static_cast<size_t>(num_arguments())) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", name(), "' takes ", num_arguments(),
                     " arguments, got ", arguments));
  }
  return absl::OkStatus();
}

absl::Status LoadedProgram::CheckArgument(int index, ElementType got_element,
                                          const std::vector<int64_t>& got,
                                          uint64_t got_bytes,
                                          int64_t steps) const {
  const bool stepped = argument(index).stepped();
  const PreparedBuffer& buffer =
      plan_->buffers()
          [plan_->plan().actions(argument(index).action()).results(0)];
  const ElementType element = static_cast<ElementType>(buffer.element);
  const std::vector<int64_t>& one = buffer.layout.shape;
  const bool fits = stepped ? !got.empty() && got[0] == steps &&
                                  std::equal(got.begin() + 1, got.end(),
                                             one.begin(), one.end())
                            : got == one;
  if (got_element != element || !fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(index), " is ", ShapeString(got_element, got), ", expected ",
        ShapeString(element, WithSteps(buffer.layout, stepped, steps)),
        stepped ? " (one index per step)" : ""));
  }
  const uint64_t bytes = BytesOf(element, got);
  if (got_bytes != bytes && (run_kernels_ || got_bytes != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(index), " has ", got_bytes, " bytes, expected ", bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<RunState>> LoadedProgram::MakeRun(
    int64_t steps) const {
  auto run = std::make_shared<RunState>();
  run->names = names_;
  run->program_handle = handle_;
  run->steps = static_cast<uint64_t>(steps);
  const proto::Plan& tables = plan_->plan();
  for (int r = 0; r < tables.interface().results_size(); ++r) {
    const proto::Result& out = tables.interface().results(r);
    const PreparedBuffer& buffer =
        plan_->buffers()[tables.actions(out.action()).operands(0)];
    RunState::Result result;
    result.element = static_cast<ElementType>(buffer.element);
    result.shape = WithSteps(buffer.layout, out.stepped(), steps);
    result.bytes = BytesOf(result.element, result.shape);
    if (run_kernels_ && result.bytes > kMaxBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("result '", out.name(), "' of program '", name(),
                       "' needs more than ", kMaxBytes, " bytes"));
    }
    result.placed.placement = plan_->result_placement(r);
    run->results.push_back(std::move(result));
  }
  return run;
}

}  // namespace pathways
