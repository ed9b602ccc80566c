//===- runs.cc - Launches: arguments in, results out ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/runtime_impl.h"
#include "runtime/executor/collective.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

constexpr int64_t kMaxSteps = int64_t{1} << 40;
constexpr uint64_t kMaxBytes = uint64_t{1} << 50;

// Bytes of an array; kMaxBytes + 1 when it is larger than that.
uint64_t BytesOf(ElementType element, const std::vector<int64_t>& shape) {
  unsigned __int128 bytes = pathways::ElementBytes(element);
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

}  // namespace

absl::Status Runtime::Impl::MakeValues(const PreparedPlan& plan,
                                       std::vector<LaunchArgument>& arguments,
                                       int64_t steps, Run* run) {
  const proto::Interface& interface = plan.plan().interface();
  if (static_cast<int>(arguments.size()) != interface.arguments_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "program '", plan.name(), "' takes ", interface.arguments_size(),
        " arguments, got ", arguments.size()));
  }
  auto values = std::make_shared<LaunchValues>();
  values->steps = static_cast<uint64_t>(steps);
  for (int i = 0; i < interface.arguments_size(); ++i) {
    const proto::Argument& argument = interface.arguments(i);
    std::shared_ptr<const HostArray> array;
    if (auto* handle = std::get_if<ArrayHandle>(&arguments[i])) {
      absl::StatusOr<std::shared_ptr<const HostArray>> found =
          objects_.Get(handle->id);
      if (!found.ok()) {
        return absl::Status(found.status().code(),
                            absl::StrCat("argument '", argument.name(),
                                         "': ", found.status().message()));
      }
      absl::Status retained = objects_.Retain(handle->id);
      if (!retained.ok()) return retained;
      run->retained.push_back(handle->id);
      array = *std::move(found);
    } else {
      array = std::make_shared<const HostArray>(
          std::get<HostArray>(std::move(arguments[i])));
    }
    const PreparedBuffer& buffer =
        plan.buffers()[plan.plan().actions(argument.action()).results(0)];
    const ElementType element = static_cast<ElementType>(buffer.element);
    const std::vector<int64_t> shape =
        WithSteps(buffer.layout, argument.stepped(), steps);
    if (array->element != element || array->shape != shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument '", argument.name(), "' of program '", plan.name(), "' is ",
          ShapeString(array->element, array->shape), ", expected ",
          ShapeString(element, shape),
          argument.stepped() ? " (one index per step)" : ""));
    }
    const uint64_t bytes = BytesOf(element, shape);
    if (array->data.size() != bytes &&
        (options_.run_kernels || !array->data.empty())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument '", argument.name(), "' of program '", plan.name(),
          "' has ", array->data.size(), " bytes, expected ", bytes));
    }
    values->arguments.push_back(std::move(array));
  }
  for (const proto::Result& out : interface.results()) {
    const PreparedBuffer& buffer =
        plan.buffers()[plan.plan().actions(out.action()).operands(0)];
    const layout::Mesh& mesh = plan.slices()[buffer.slice].mesh;
    auto result = std::make_unique<LaunchValues::Result>();
    result->stepped = out.stepped();
    result->array.element = static_cast<ElementType>(buffer.element);
    result->array.shape = WithSteps(buffer.layout, out.stepped(), steps);
    for (const std::string& name : buffer.layout.partial) {
      for (const layout::Axis& axis : mesh) {
        if (axis.name == name) result->contributions *= axis.size;
      }
    }
    result->step_bytes = BytesOf(result->array.element, buffer.layout.shape);
    std::vector<int64_t> all = result->array.shape;
    all.insert(all.begin(), result->contributions);
    const uint64_t bytes = BytesOf(result->array.element, all);
    if (options_.run_kernels) {
      const std::string what = absl::StrCat("result '", out.name(),
                                            "' of program '", plan.name(), "'");
      if (bytes > kMaxBytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat(what, " needs more than ", kMaxBytes, " bytes"));
      }
      absl::Status charged = objects_.Charge(bytes, what);
      if (!charged.ok()) return charged;
      run->charged += bytes;
      result->data.resize(bytes);
    }
    values->results.push_back(std::move(result));
  }
  run->values = std::move(values);
  return absl::OkStatus();
}

absl::StatusOr<RunHandle> Runtime::Impl::Launch(
    uint64_t program, std::vector<LaunchArgument> arguments, int64_t steps) {
  Call call(this);
  auto run = std::make_shared<Run>();
  {
    MutexLock lock(&mutex_);
    auto found = programs_.find(program);
    if (found == programs_.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("program ", program, " is not loaded"));
    }
    run->plan = found->second.plan;
    run->client = found->second.client;
  }
  if (steps < 1 || steps > kMaxSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", run->plan->name(), "' was launched for ",
                     steps, " steps, expected 1 to ", kMaxSteps));
  }
  absl::Status made = MakeValues(*run->plan, arguments, steps, run.get());
  if (!made.ok()) {
    Drop(run.get());
    return made;
  }
  run->id = context_.launches.Add(run->values);
  proto::Control control;
  control.mutable_launch_request()->set_launch(run->id);
  control.mutable_launch_request()->set_program(program);
  control.mutable_launch_request()->set_steps(static_cast<uint64_t>(steps));
  {
    MutexLock lock(&mutex_);
    runs_[run->id] = run;
  }
  world_->SendControl(kNoActor, context_.directory.controller,
                      control.SerializeAsString());
  return RunHandle{run->id};
}

std::shared_ptr<Runtime::Impl::Run> Runtime::Impl::FindRun(uint64_t run) {
  MutexLock lock(&mutex_);
  auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : found->second;
}

absl::Status Runtime::Impl::Await(uint64_t id) {
  Call call(this);
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no run ", id, ", or it was released"));
  }
  absl::Status waited = WaitFor(
      run->done, absl::StrCat("a run of program '", run->plan->name(), "'"));
  return waited.ok() ? run->status : waited;
}

absl::StatusOr<int64_t> Runtime::Impl::ResultIndex(uint64_t id,
                                                   const std::string& name) {
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no run ", id, ", or it was released"));
  }
  const proto::Interface& interface = run->plan->plan().interface();
  std::string names;
  for (int i = 0; i < interface.results_size(); ++i) {
    if (interface.results(i).name() == name) return i;
    absl::StrAppend(&names, i ? ", '" : "'", interface.results(i).name(), "'");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("program '", run->plan->name(), "' has no result '", name,
                   "'; it has ", names.empty() ? "none" : names));
}

absl::StatusOr<HostArray> Runtime::Impl::Fetch(uint64_t id, int64_t index) {
  Call call(this);
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no run ", id, ", or it was released"));
  }
  absl::Status waited = WaitFor(
      run->done, absl::StrCat("a run of program '", run->plan->name(), "'"));
  if (!waited.ok()) return waited;
  if (!run->completed) return run->status;
  const int64_t count = static_cast<int64_t>(run->values->results.size());
  if (index < 0 || index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", run->plan->name(), "' has ", count,
                     " results, there is no result ", index));
  }
  const LaunchValues::Result& result = *run->values->results[index];
  if (result.poisoned.load()) {
    return run->status.ok() ? absl::InternalError("a result has no cause")
                            : run->status;
  }
  HostArray array = result.array;
  const uint64_t bytes = result.data.size() / result.contributions;
  array.data.assign(result.data.begin(), result.data.begin() + bytes);
  // Unreduced contributions are combined in the order of their ranks.
  const PreparedBuffer& buffer =
      run->plan->buffers()
          [run->plan->plan()
               .actions(run->plan->plan().interface().results(index).action())
               .operands(0)];
  for (int64_t c = 1; c < result.contributions && bytes > 0; ++c) {
    Accumulate(ReductionKindOf(buffer.layout.reduction), buffer.element,
               static_cast<int64_t>(bytes) / buffer.element_bytes,
               result.data.data() + c * bytes, array.data.data());
  }
  return array;
}

void Runtime::Impl::Drop(Run* run) {
  objects_.Uncharge(run->charged);
  for (uint64_t array : run->retained) objects_.Unretain(array);
}

absl::Status Runtime::Impl::ReleaseRun(uint64_t id) {
  std::shared_ptr<Run> run;
  {
    MutexLock lock(&mutex_);
    auto found = runs_.find(id);
    if (found == runs_.end()) {
      return absl::NotFoundError(
          absl::StrCat("no run ", id, ", or it was released"));
    }
    if (!found->second->done.load()) {
      return absl::FailedPreconditionError(
          absl::StrCat("a run of program '", found->second->plan->name(),
                       "' has not ended"));
    }
    run = std::move(found->second);
    runs_.erase(found);
  }
  Drop(run.get());
  return absl::OkStatus();
}

}  // namespace pathways
