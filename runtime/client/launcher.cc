//===- launcher.cc - Launches of a client ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/launcher.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/client/check_options.h"
#include "runtime/client/combine.h"
#include "runtime/client/traced_call.h"
#include "runtime/protocol/client_id.h"
#include "runtime/trace/trace.h"

namespace pathways {
namespace {

void Refer(const PlacedObject& placed, proto::ObjectRef* ref) {
  ref->set_object(placed.object);
  if (placed.object == 0) return;
  const std::vector<ArrayPlacement::Host>& hosts = placed.placement->hosts;
  ref->mutable_hosts()->Reserve(static_cast<int>(hosts.size()));
  for (const ArrayPlacement::Host& host : hosts) {
    ref->mutable_hosts()->AddAlreadyReserved(static_cast<uint32_t>(host.host));
  }
}

}  // namespace

// State of a launch from the call until it is sent. Inline capacities fit
// common launches.
struct Launcher::Draft {
  struct Argument {
    uint64_t array = 0;  // 0: the argument is a value
    SharedValue value;   // null: hosts have it
    // True if the value combines contributions that the program cannot take as
    // they are. The array itself keeps them.
    bool combined = false;
  };
  // An argument whose layout on hosts is not the one that the program wants.
  struct Elsewhere {
    int argument;
    PlacedObject placed;
    SharedType type;
  };
  // Values to send with this launch.
  struct Fresh {
    int argument;
    PlacedObject placed;
    SharedValue value;
  };

  Draft(RebindGate* gate, SharedProgram program)
      : gate(*gate), program(std::move(program)) {}
  Draft(const Draft&) = delete;
  ~Draft() { gate.EndCall(*program); }

  RebindGate& gate;
  const SharedProgram program;
  std::shared_ptr<RunState> run;
  absl::InlinedVector<Argument, 4> arguments;
  std::optional<Elsewhere> elsewhere;  // the next one to fetch
  std::optional<uint64_t> turn;        // turn to wait for, if there is no room
  ControlRef control;
  absl::InlinedVector<Fresh, 4> fresh;
  // Arrays that this launch brings to hosts, with their new placement.
  absl::InlinedVector<std::pair<ArrayState*, PlacedObject>, 4> placing;
  // Objects that earlier launches bring, perhaps still.
  absl::InlinedVector<uint64_t, 4> coming;
};

Launcher::Launcher(const Parts& parts, size_t run_ahead)
    : context_(*parts.context),
      actor_(*parts.actor),
      channel_(*parts.channel),
      owner_(*parts.owner),
      gate_(*parts.gate),
      store_(*parts.store),
      reader_(*parts.reader),
      programs_(*parts.programs),
      runs_(*parts.runs),
      arrays_(*parts.arrays),
      holds_(*parts.holds),
      run_memory_(*parts.run_memory),
      room_(run_ahead) {}

absl::StatusOr<RunHandle> Launcher::Launch(ProgramHandle program,
                                           LaunchArguments arguments,
                                           int64_t steps,
                                           const LaunchOptions& options) {
  WorldCall call(context_.runtime->world);
  TracedCall traced(context_, actor_, TraceCall::kLaunch);
  absl::StatusOr<SharedProgram> found = gate_.BeginCall(program);
  if (!found.ok()) return found.status();
  Draft draft(&gate_, *std::move(found));
  absl::Status status = CheckLaunchOptions(options);
  if (!status.ok()) return status;
  draft.control = channel_.NewControl(proto::Control::kLaunchRequest);
  proto::LaunchRequest* request = draft.control->mutable_launch_request();
  if (options.priority.has_value()) request->set_priority(*options.priority);
  request->set_deadline_ns(static_cast<uint64_t>(options.deadline_ns));
  request->set_first_step(static_cast<uint64_t>(options.first_step));
  status =
      draft.program->CheckLaunch(options.first_step, steps, arguments.size());
  if (!status.ok()) return status;
  absl::StatusOr<std::shared_ptr<RunState>> run =
      draft.program->MakeRun(steps, &run_memory_);
  if (!run.ok()) return run.status();
  draft.run = *std::move(run);
  status = Resolve(std::move(arguments), &draft);
  if (status.ok()) status = TakeTurn(&draft);
  while (status.ok() && draft.turn.has_value()) {
    status = AwaitTurn(*draft.turn);
    if (status.ok()) status = TakeTurn(&draft);
  }
  if (!status.ok()) return status;
  traced.set_run(draft.run->id);
  return owner_.Make<RunHandle>(draft.run->id);
}

absl::Status Launcher::TakeTurn(Draft* draft) {
  draft->turn.reset();
  const bool simulated = context_.runtime->world->simulated();
  SendTracker::Sender sender(simulated ? &context_.sending : nullptr);
  {
    MutexLock lock(&channel_.mutex());
    if (!room_.IsThere(runs_.unended())) {
      draft->turn = room_.Await();
      return absl::OkStatus();
    }
    absl::Status placed = Place(draft);
    if (!placed.ok()) return placed;
  }
  SendLaunch(draft);
  return absl::OkStatus();
}

absl::Status Launcher::AwaitTurn(uint64_t turn) {
  auto what = [&]() -> std::string {
    MutexLock lock(&channel_.mutex());
    const std::shared_ptr<RunState> run = runs_.Oldest();
    return run == nullptr ? "a launch" : run->Describe();
  };
  return channel_.WaitUntil([&] { return room_.CanRetry(turn); }, what);
}

void Launcher::OnTick() {
  InFlightLimiter::Next next;
  {
    MutexLock lock(&channel_.mutex());
    next = room_.OnTick(runs_.unended());
  }
  if (next == InFlightLimiter::Next::kWake) context_.runtime->world->Notify();
}

absl::Status Launcher::Resolve(LaunchArguments arguments, Draft* draft) {
  draft->arguments.resize(arguments.size());
  size_t next = 0;
  while (true) {
    draft->elsewhere.reset();
    {
      MutexLock lock(&channel_.mutex());
      for (; next < arguments.size() && !draft->elsewhere; ++next) {
        absl::Status status = ResolveArgument(
            static_cast<int>(next), std::move(arguments[next]), draft);
        if (!status.ok()) return status;
      }
    }
    if (!draft->elsewhere) return CombineArguments(draft);
    const Draft::Elsewhere& from = *draft->elsewhere;
    Draft::Argument& argument = draft->arguments[from.argument];
    absl::Status good = store_.Await(argument.array);
    if (!good.ok() && !store_.HasFailed(argument.array)) return good;
    if (!good.ok()) continue;  // it has no values to fetch
    absl::StatusOr<SharedValue> value =
        reader_.GetValue({from.type, nullptr, from.placed},
                         absl::StrCat("array ", argument.array));
    if (!value.ok()) return value.status();
    argument.value = *std::move(value);
  }
}

absl::Status Launcher::CombineArguments(Draft* draft) {
  for (size_t i = 0; i < draft->arguments.size(); ++i) {
    Draft::Argument& argument = draft->arguments[i];
    if (argument.value == nullptr ||
        argument.value->contributions().count() == 1) {
      continue;
    }
    const ArrayPlacement* wanted =
        draft->program->placement(static_cast<int>(i)).get();
    if (wanted == nullptr ||
        argument.value->contributions() ==
            layout::ContributionsOf(wanted->layout, wanted->mesh)) {
      continue;
    }
    absl::StatusOr<HostArray> value =
        CombinedCopy(*argument.value, absl::StrCat("array ", argument.array));
    if (!value.ok()) return value.status();
    argument.value = std::make_shared<const ArrayValue>(*std::move(value));
    argument.combined = true;
  }
  return absl::OkStatus();
}

absl::Status Launcher::ResolveArgument(int index, LaunchArgument argument,
                                       Draft* draft) {
  Draft::Argument& to = draft->arguments[index];
  const auto* handle = std::get_if<ArrayHandle>(&argument);
  if (handle == nullptr) {
    to.value = std::make_shared<const ArrayValue>(
        std::get<HostArray>(std::move(argument)));
    return absl::OkStatus();
  }
  absl::Status owned = owner_.Check(*handle, "array");
  if (!owned.ok()) return owned;
  to.array = handle->id;
  const ArrayPlacement* wanted = draft->program->placement(index).get();
  if (wanted == nullptr) return absl::OkStatus();
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle->id);
  if (!array.ok()) return absl::OkStatus();  // Place returns the error
  to.value = (*array)->dense;
  const PlacedObject& placed = (*array)->placed;
  if (to.value == nullptr && placed.object != 0 &&
      !placed.placement->Fits(*wanted)) {
    draft->elsewhere = {index, placed, (*array)->type};
  }
  return absl::OkStatus();
}

absl::Status Launcher::Place(Draft* draft) {
  proto::LaunchRequest* request = draft->control->mutable_launch_request();
  for (size_t i = 0; i < draft->arguments.size(); ++i) {
    absl::Status placed = PlaceArgument(static_cast<int>(i), draft);
    if (!placed.ok()) return placed;
  }
  // Nothing fails from here on.
  RunState& run = *draft->run;
  run.id = ++channel_.numbers().run;
  for (const auto& [array, placed] : draft->placing) {
    arrays_.Place(array, placed, &run);
    holds_.Hold(placed.object);
  }
  for (RunState::Result& result : run.results) {
    if (result.bytes > 0) {
      result.placed.object = ++channel_.numbers().object;
    }
    holds_.Hold(result.placed.object);
    Refer(result.placed, request->add_results());
  }
  request->set_launch(run.id);
  request->set_program(draft->program->handle());
  request->set_steps(run.steps);
  runs_.Add(draft->run);
  channel_.Number(draft->control);
  return absl::OkStatus();
}

absl::Status Launcher::PlaceArgument(int index, Draft* draft) {
  const LoadedProgram& program = *draft->program;
  Draft::Argument& argument = draft->arguments[index];
  const int64_t steps = static_cast<int64_t>(draft->run->steps);
  ArrayState* array = nullptr;
  const RunState* failed = nullptr;
  if (argument.array == 0) {
    const ArrayValue& value = *argument.value;
    absl::Status fits =
        program.CheckArgument(index, value.type(), value.bytes(), steps);
    if (!fits.ok()) return fits;
  } else {
    absl::StatusOr<ArrayState*> found = arrays_.Find(argument.array);
    if (!found.ok()) {
      return absl::NotFoundError(
          absl::StrCat("argument '", program.argument(index).name(),
                       "': ", absl::string_view(found.status().message())));
    }
    array = *found;
    if (array->HasFailed()) {
      failed = array->producer.get();
    } else if (array->producer != nullptr && array->producer->ended) {
      array->producer.reset();
    }
    absl::Status fits =
        program.CheckArgument(index, *array->type, array->bytes, steps);
    if (!fits.ok()) return fits;
  }
  proto::ObjectRef* ref =
      draft->control->mutable_launch_request()->add_arguments();
  PlacedObject placed;
  placed.placement = program.placement(index);
  if (placed.placement == nullptr || placed.placement->hosts.empty()) {
    return absl::OkStatus();  // no bytes
  }
  if (failed != nullptr) {
    // The launch is sent as if the failure were not known yet: results that do
    // not depend on this argument are produced, whichever hosts it would have
    // gone to.
    placed.object = ++channel_.numbers().object;
    Refer(placed, ref);
    ref->set_fresh(true);
    proto::NoValues* none = ref->mutable_no_values();
    none->set_code(static_cast<int>(failed->told.code()));
    none->set_message(std::string(failed->told.message()));
    none->set_granted(failed->granted);
    return absl::OkStatus();
  }
  bool is_placed = array != nullptr && array->placed.object != 0;
  if (is_placed && array->placed.placement->Fits(*placed.placement)) {
    placed.object = array->placed.object;
  }
  // A launch may take the same array twice. The array keeps the first
  // placement.
  for (const auto& [other, where] : draft->placing) {
    if (other != array) continue;
    is_placed = true;
    if (where.placement->Fits(*placed.placement)) placed.object = where.object;
  }
  if (placed.object != 0) {
    Refer(placed, ref);
    // The launch that brings the object may end before all hosts have it.
    if (array->placing != 0) draft->coming.push_back(placed.object);
    return absl::OkStatus();
  }
  placed.object = ++channel_.numbers().object;
  Refer(placed, ref);
  ref->set_fresh(true);
  if (array != nullptr && !is_placed && !argument.combined) {
    ref->set_keep(true);
    draft->placing.emplace_back(array, placed);
  }
  draft->fresh.push_back({index, std::move(placed), argument.value});
  return absl::OkStatus();
}

void Launcher::SendLaunch(Draft* draft) {
  const RunState& run = *draft->run;
  const bool has_values = context_.runtime->backends->has_values();
  for (Draft::Fresh& one : draft->fresh) {
    const bool stepped = draft->program->argument(one.argument).stepped();
    // A simulation without values sends the same number of bytes, without
    // content.
    const absl::string_view data = one.value->data();
    actor_.transfers().AddUpload(
        one.placed.object, run.id,
        {data.empty() ? nullptr : data.data(), one.value,
         has_values ? one.value->saved().get() : nullptr,
         one.value->contributions().count() > 1},
        one.placed.placement, stepped ? run.steps : 1);
  }
  for (uint64_t object : draft->coming) {
    actor_.transfers().AddLaunch(object, run.id);
  }
  channel_.Send(std::move(draft->control));
}

void Launcher::OnLaunchEnded(const proto::LaunchEnded& ended) {
  RuntimeContext& runtime = *context_.runtime;
  RunEnd end;
  end.status = end.told = StatusFromWire(ended.code(), ended.message());
  end.completed = ended.completed();
  end.granted = ended.granted();
  end.poisoned =
      absl::MakeConstSpan(ended.poisoned().data(), ended.poisoned_size());
  const absl::Status unread = actor_.transfers().EndLaunch(ended.launch());
  // Hosts know only that values did not come; `unread` has the reason.
  if (!end.status.ok() && !unread.ok()) end.status = unread;
  std::shared_ptr<RunState> run;
  SharedValues values;  // destroyed without the lock
  InFlightLimiter::Next next;
  {
    MutexLock lock(&channel_.mutex());
    ObjectList objects;
    run = runs_.End(ended.launch(), std::move(end), &objects);
    if (run == nullptr) return;
    arrays_.Settle(*run, &objects, &values);
    const ActorId self = runtime.directory.client(actor_.index());
    channel_.ReleaseObjects(holds_.Unhold(objects), self);
    UnloadIfDiscarded(run->program_handle, runs_, &programs_, &channel_, self);
    next = room_.OnEnd(runs_.unended());
  }
  if (runtime.trace != nullptr) {
    // The client's actor runs on the controller's worker, which owns ring 0.
    TraceEvent event = NewTraceEvent(TraceKind::kRunEnded, context_.trace_actor,
                                     runtime.trace->Now());
    event.other = TraceLaunch(ClientId(actor_.index(), run->id));
    runtime.trace->ring(0)->Record(event);
  }
  values.clear();  // waiting threads may rely on that
  if (next == InFlightLimiter::Next::kRearm) {
    actor_.TickAfter(InFlightLimiter::kPatienceNs);
  }
  const bool is_awaited = run->done.Set();
  if (is_awaited || next == InFlightLimiter::Next::kWake)
    runtime.world->Notify();
  CallAll(context_.watchers.Take(owner_.number(), run->id), run->status);
}

}  // namespace pathways
