//===- runs.cc - Launches: arguments in, results out ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/runtime_impl.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 50;
// Bytes of values that go with the request for their launch.
constexpr uint64_t kSmallBytes = 16384;

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

absl::Status NoRun(uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("no run ", id, ", or it was released"));
}

absl::Status CheckIndex(const PreparedPlan& plan, size_t results,
                        int64_t index) {
  const int64_t count = static_cast<int64_t>(results);
  if (index >= 0 && index < count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("program '", plan.name(), "' has ", count,
                   " results, there is no result ", index));
}

std::vector<int64_t> WithSteps(const layout::Layout& layout, bool stepped,
                               int64_t steps) {
  std::vector<int64_t> shape = layout.shape;
  if (stepped) shape.insert(shape.begin(), steps);
  return shape;
}

}  // namespace

absl::Status Runtime::Impl::CheckArgument(const PreparedPlan& plan, int index,
                                          ElementType got_element,
                                          const std::vector<int64_t>& got,
                                          uint64_t got_bytes,
                                          int64_t steps) const {
  const proto::Argument& argument = plan.plan().interface().arguments(index);
  const PreparedBuffer& buffer =
      plan.buffers()[plan.plan().actions(argument.action()).results(0)];
  const ElementType element = static_cast<ElementType>(buffer.element);
  const std::vector<int64_t> shape =
      WithSteps(buffer.layout, argument.stepped(), steps);
  if (got_element != element || got != shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("argument '", argument.name(), "' of program '",
                     plan.name(), "' is ", ShapeString(got_element, got),
                     ", expected ", ShapeString(element, shape),
                     argument.stepped() ? " (one index per step)" : ""));
  }
  const uint64_t bytes = BytesOf(element, shape);
  if (got_bytes != bytes && (options_.run_kernels || got_bytes != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "argument '", argument.name(), "' of program '", plan.name(), "' has ",
        got_bytes, " bytes, expected ", bytes));
  }
  return absl::OkStatus();
}

absl::Status Runtime::Impl::MakeResults(const Program& program, int64_t steps,
                                        Run* run) {
  const PreparedPlan& plan = *program.plan;
  const proto::Interface& interface = plan.plan().interface();
  for (int r = 0; r < interface.results_size(); ++r) {
    const proto::Result& out = interface.results(r);
    const PreparedBuffer& buffer =
        plan.buffers()[plan.plan().actions(out.action()).operands(0)];
    Run::Result result;
    result.element = static_cast<ElementType>(buffer.element);
    result.shape = WithSteps(buffer.layout, out.stepped(), steps);
    if (options_.run_kernels) {
      result.placed.placement = program.results[r];
      const uint64_t bytes = BytesOf(result.element, result.shape);
      if (bytes > kMaxBytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat("result '", out.name(), "' of program '", plan.name(),
                         "' needs more than ", kMaxBytes, " bytes"));
      }
      if (bytes > 0) result.placed.object = ++next_object_;
    }
    run->results.push_back(std::move(result));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunHandle> Runtime::Impl::Launch(
    uint64_t program_id, std::vector<LaunchArgument> arguments, int64_t steps) {
  Call call(this);
  TracedCall traced(this, TraceCall::kLaunch);
  auto run = std::make_shared<Run>();
  Program program;
  {
    MutexLock lock(&mutex_);
    auto found = programs_.find(program_id);
    if (found == programs_.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("program ", program_id, " is not loaded"));
    }
    program = found->second;
  }
  run->plan = program.plan;
  run->client = program.client;
  const PreparedPlan& plan = *program.plan;
  const proto::Interface& interface = plan.plan().interface();
  if (steps < 1 || static_cast<uint64_t>(steps) > kMaxSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", plan.name(), "' was launched for ", steps,
                     " steps, expected 1 to ", kMaxSteps));
  }
  if (static_cast<int>(arguments.size()) != interface.arguments_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "program '", plan.name(), "' takes ", interface.arguments_size(),
        " arguments, got ", arguments.size()));
  }
  run->steps = static_cast<uint64_t>(steps);
  absl::Status made = MakeResults(program, steps, run.get());
  if (!made.ok()) return made;
  auto home = BringHome(program, arguments);
  if (!home.ok()) return home.status();

  made = AwaitTurn();
  if (!made.ok()) return made;

  MutexLock launching(&launch_mutex_);
  proto::Control control;
  proto::LaunchRequest* request = control.mutable_launch_request();
  request->set_program(program_id);
  request->set_steps(run->steps);
  auto refer = [](const Placed& placed, proto::ObjectRef* ref) {
    ref->set_object(placed.object);
    if (placed.object == 0) return;
    for (const ArrayPlacement::Host& host : placed.placement->hosts) {
      ref->add_hosts(static_cast<uint32_t>(host.host));
    }
  };
  // What goes out with this launch.
  struct Fresh {
    int argument;
    Placed placed;
    std::shared_ptr<const HostArray> array;
  };
  std::vector<Fresh> fresh;
  {
    MutexLock lock(&mutex_);
    run->id = last_run_ + 1;
    std::vector<std::pair<Array*, Placed>> placing;
    for (int i = 0; i < interface.arguments_size(); ++i) {
      std::shared_ptr<const HostArray> value = std::move((*home)[i]);
      Array* array = nullptr;
      if (auto* handle = std::get_if<ArrayHandle>(&arguments[i])) {
        auto found = arrays_.find(handle->id);
        if (found == arrays_.end()) {
          return absl::NotFoundError(
              absl::StrCat("argument '", interface.arguments(i).name(),
                           "': no array ", handle->id, ", or it was released"));
        }
        array = &found->second;
        if (array->producer != nullptr && array->producer->done.load()) {
          made = CheckResult(*array->producer, array->result);
          if (!made.ok()) return made;
          array->producer.reset();
        }
      } else {
        value = std::make_shared<const HostArray>(
            std::get<HostArray>(std::move(arguments[i])));
      }
      made = array != nullptr
                 ? CheckArgument(plan, i, array->element, array->shape,
                                 array->bytes, steps)
                 : CheckArgument(plan, i, value->element, value->shape,
                                 value->data.size(), steps);
      if (!made.ok()) return made;
      proto::ObjectRef* ref = request->add_arguments();
      if (!options_.run_kernels) continue;
      Placed placed;
      placed.placement = program.arguments[i];
      if (placed.placement->hosts.empty()) continue;  // no bytes
      // The same array twice in one launch. It stays where the first one is.
      bool is_placed = array != nullptr && array->placed.object != 0;
      for (const auto& [other, where] : placing) {
        if (other != array) continue;
        is_placed = true;
        if (where.placement->Fits(*placed.placement)) {
          placed.object = where.object;
        }
      }
      if (placed.object == 0 && array != nullptr && array->placed.object != 0 &&
          array->placed.placement->Fits(*placed.placement)) {
        placed.object = array->placed.object;
      }
      if (placed.object != 0) {
        refer(placed, ref);
        continue;
      }
      placed.object = ++next_object_;
      refer(placed, ref);
      ref->set_fresh(true);
      if (array != nullptr && !is_placed) {
        ref->set_keep(true);
        placing.emplace_back(array, placed);
      }
      fresh.push_back({i, std::move(placed), std::move(value)});
    }
    for (auto& [array, placed] : placing) {
      array->placed = placed;
      array->placing = run->id;
      holds_[placed.object] = 1;
    }
    for (const Run::Result& result : run->results) {
      refer(result.placed, request->add_results());
      if (result.placed.object != 0) holds_[result.placed.object] = 1;
    }
    request->set_launch(run->id);
    Number(&control);
    last_run_ = run->id;
    traced.set_launch(run->id);
    runs_[run->id] = run;
    unended_.insert(run->id);
  }
  auto cut = [&](absl::FunctionRef<void(proto::StorePart)> pass_on) {
    for (const Fresh& one : fresh) {
      CutParts(
          run->id,
          absl::StrCat("argument '", interface.arguments(one.argument).name(),
                       "' of program '", plan.name(), "'"),
          one.placed, *one.array,
          interface.arguments(one.argument).stepped() ? run->steps : 1,
          pass_on);
    }
  };
  uint64_t bytes = 0;
  for (const Fresh& one : fresh) {
    bytes += one.array->data.size() * one.placed.placement->hosts.size();
  }
  const bool small = bytes <= kSmallBytes;
  if (small) {
    cut([&](proto::StorePart part) {
      *request->add_parts() = std::move(part);
    });
  }
  Send(control);
  if (!small) {
    cut([&](proto::StorePart part) {
      proto::Control message;
      *message.mutable_store_part() = std::move(part);
      {
        MutexLock lock(&mutex_);
        Number(&message);
      }
      Send(message);
    });
  }
  return RunHandle{run->id};
}

absl::Status Runtime::Impl::AwaitTurn() {
  while (true) {
    std::shared_ptr<Run> run;
    {
      MutexLock lock(&mutex_);
      if (unended_.size() < kMaxLaunches) return absl::OkStatus();
      // Not the oldest one: then this would be waited for with each launch.
      run = runs_[*std::next(unended_.begin(), kMaxLaunches / 2)];
    }
    absl::Status waited = WaitFor(
        run->done, absl::StrCat("a run of program '", run->plan->name(), "'"));
    if (!waited.ok()) return waited;
  }
}

void Runtime::Impl::LaunchEnded(const proto::LaunchEnded& ended) {
  const uint64_t launch = ended.launch();
  std::shared_ptr<Run> run;
  {
    MutexLock lock(&mutex_);
    if (unended_.count(launch) == 0) return;
    run = runs_[launch];
  }
  run->status = absl::Status(static_cast<absl::StatusCode>(ended.code()),
                             ended.message());
  run->completed = ended.completed();
  for (uint32_t result : ended.poisoned()) {
    if (result < run->results.size()) run->results[result].poisoned = true;
  }
  {
    MutexLock lock(&mutex_);
    std::vector<uint64_t> objects;
    for (auto& [id, array] : arrays_) {
      if (array.placing != launch) continue;
      array.placing = 0;
      if (run->completed) {
        array.dense.reset();
        array.charge = Arena::Segment();
      } else {
        objects.push_back(array.placed.object);
        array.placed = Placed();
      }
    }
    if (!run->completed || run->released) TakeResults(run.get(), &objects);
    Unhold(objects, context_.directory.client(kClient));
    if (run->released) runs_.erase(launch);
    unended_.erase(launch);
  }
  if (trace_ != nullptr) {
    // The client's actor is on the controller's worker.
    TraceEvent event = NewTraceEvent(
        TraceKind::kRunEnded, IndexOf(controller_->local_id()), trace_->Now());
    event.other = static_cast<uint32_t>(launch);
    trace_->ring(0)->Record(event);
  }
  if (run->done.Set()) world_->Notify();
}

std::shared_ptr<Runtime::Impl::Run> Runtime::Impl::FindRun(uint64_t run) {
  MutexLock lock(&mutex_);
  auto found = runs_.find(run);
  return found == runs_.end() || found->second->released ? nullptr
                                                         : found->second;
}

absl::Status Runtime::Impl::Await(uint64_t id) {
  Call call(this);
  TracedCall traced(this, TraceCall::kAwait, id);
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) return NoRun(id);
  absl::Status waited = WaitFor(
      run->done, absl::StrCat("a run of program '", run->plan->name(), "'"));
  return waited.ok() ? run->status : waited;
}

absl::StatusOr<int64_t> Runtime::Impl::ResultIndex(uint64_t id,
                                                   const std::string& name) {
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) return NoRun(id);
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

absl::Status Runtime::Impl::CheckResult(const Run& run, int64_t index) {
  if (!run.completed) return run.status;
  if (!run.results[index].poisoned) return absl::OkStatus();
  return run.status.ok() ? absl::InternalError("a result has no cause")
                         : run.status;
}

absl::StatusOr<std::shared_ptr<Runtime::Impl::Run>> Runtime::Impl::FindResult(
    uint64_t id, int64_t index) {
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) return NoRun(id);
  absl::Status waited = WaitFor(
      run->done, absl::StrCat("a run of program '", run->plan->name(), "'"));
  if (!waited.ok()) return waited;
  if (!run->completed) return run->status;
  absl::Status good = CheckIndex(*run->plan, run->results.size(), index);
  if (good.ok()) good = CheckResult(*run, index);
  if (!good.ok()) return good;
  return run;
}

absl::StatusOr<HostArray> Runtime::Impl::Fetch(uint64_t id, int64_t index) {
  Call call(this);
  TracedCall traced(this, TraceCall::kFetch, id);
  absl::StatusOr<std::shared_ptr<Run>> run = FindResult(id, index);
  if (!run.ok()) return run.status();
  const Run::Result& result = (*run)->results[index];
  return Gather(result.placed, result.element, result.shape,
                absl::StrCat("run ", id));
}

absl::StatusOr<ArrayHandle> Runtime::Impl::Keep(uint64_t id, int64_t index,
                                                const std::string& client) {
  Call call(this);
  std::shared_ptr<Run> run = FindRun(id);
  if (run == nullptr) return NoRun(id);
  absl::Status good = CheckIndex(*run->plan, run->results.size(), index);
  if (!good.ok()) return good;
  const Run::Result& result = run->results[index];
  if (result.placed.object == 0) {  // no bytes
    absl::StatusOr<HostArray> array = Fetch(id, index);
    if (!array.ok()) return array.status();
    return Put(*std::move(array), client);
  }
  auto keep = [&](bool ended) -> absl::StatusOr<ArrayHandle> {
    MutexLock lock(&mutex_);
    // With the run here, its own hold is there.
    if (runs_.count(id) == 0 || !run->holds) return NoRun(id);
    ++holds_[result.placed.object];
    Array array;
    array.client = client;
    array.element = result.element;
    array.shape = result.shape;
    array.bytes = BytesOf(result.element, result.shape);
    array.placed = result.placed;
    if (!ended) {
      array.producer = run;
      array.result = index;
    }
    const uint64_t handle = ++next_array_;
    arrays_[handle] = std::move(array);
    return ArrayHandle{handle};
  };
  if (!run->done.load()) {
    absl::StatusOr<ArrayHandle> kept = keep(/*ended=*/false);
    if (kept.ok()) return kept;
  }
  absl::StatusOr<std::shared_ptr<Run>> ended = FindResult(id, index);
  if (!ended.ok()) return ended.status();
  return keep(/*ended=*/true);
}

absl::Status Runtime::Impl::ReleaseRun(uint64_t id) {
  Call call(this);
  MutexLock lock(&mutex_);
  auto found = runs_.find(id);
  if (found == runs_.end() || found->second->released) return NoRun(id);
  found->second->released = true;
  if (unended_.count(id)) return absl::OkStatus();  // goes when it ends
  std::vector<uint64_t> objects;
  TakeResults(found->second.get(), &objects);
  Unhold(objects);
  runs_.erase(found);
  return absl::OkStatus();
}

void Runtime::Impl::TakeResults(Run* run, std::vector<uint64_t>* objects) {
  if (!std::exchange(run->holds, false)) return;
  for (const Run::Result& result : run->results) {
    objects->push_back(result.placed.object);
  }
}

}  // namespace pathways
