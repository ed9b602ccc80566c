//===- recovered_run.cc - A run that outlives lost hosts ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/recovered_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/client/check_options.h"
#include "runtime/client/client.h"
#include "runtime/client/combine.h"
#include "runtime/client/value_views.h"

namespace pathways {
namespace {

// Open intervals, so that devices have the next one to run while the checkpoint
// after the last one is made.
constexpr size_t kOpenIntervals = 2;

// Returns true if a failure may go away on other devices, or later.
// FailedPrecondition comes from launches of a program that was given up.
bool IsLoss(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsFailedPrecondition(status);
}

constexpr char kOfSteps[] = "pathways/steps";

// Returns the failure of a run that was launched.
absl::Status OfSteps(absl::Status failed) {
  failed.SetPayload(kOfSteps, {});
  return failed;
}

}  // namespace

bool IsOfSteps(const absl::Status& status) {
  return status.GetPayload(kOfSteps).has_value();
}

RecoveredRun::Interval::~Interval() {
  if (client == nullptr) return;
  if (const absl::StatusOr<bool> over = client->IsReady(run);
      over.ok() && !*over) {
    (void)client->Cancel(run);
  }
  (void)client->ReleaseRun(run);
}

absl::StatusOr<RecoveredResults> RecoveredRun::Run(LaunchArguments arguments,
                                                   int64_t steps) {
  World& world = *parts_.runtime->world;
  begin_ = world.Now();
  const absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      parts_.catalog->Find(program_);
  if (!program.ok()) return program.status();
  plan_ = *program;
  steps_ = steps;
  absl::Status status = CheckOptions();
  if (status.ok()) status = CheckLaunchOptions(launch_);
  if (status.ok()) {
    status = plan_->CheckLaunch(launch_.first_step, steps, arguments.size());
  }
  if (status.ok()) status = checkpoints_.Open(plan_, steps);
  if (status.ok()) status = KeepArguments(std::move(arguments));
  if (!status.ok()) return status;
  interval_steps_ =
      options_.checkpoint_every > 0 ? options_.checkpoint_every : steps;
  if (interval_steps_ < steps) {
    status = checkpoints_.PrepareHosts();
    if (!status.ok()) return status;
  }
  report_.resumed_at = checkpoints_.steps();
  while (true) {
    status = RunFromCheckpoint();
    open_.clear();
    carried_.clear();
    constants_.clear();
    if (status.ok()) break;
    status = Recover(status);
    if (!status.ok()) break;
  }
  if (!status.ok()) return status;
  report_.run_ns = world.Now() - begin_;
  RecoveredResults results;
  results.report = report_;
  for (HeldArray& array : results_) results.arrays.push_back(array.Take());
  return results;
}

absl::Status RecoveredRun::CheckOptions() const {
  if (options_.checkpoint_every < 0 || options_.max_losses < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "checkpoint_every is ", options_.checkpoint_every,
        " and max_losses is ", options_.max_losses, ", expected at least 0"));
  }
  if (options_.resume && options_.checkpoint_dir.empty()) {
    return absl::InvalidArgumentError(
        "a run cannot be resumed without the folder of its checkpoints");
  }
  if (options_.checkpoints_on_hosts && !options_.checkpoint_dir.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("checkpoints cannot be kept both on hosts and in a "
                     "folder, got folder '",
                     options_.checkpoint_dir, "'"));
  }
  if (parts_.runtime->backends->has_values()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("program '", plan_->name(),
                   "' has no values to save: the simulation computes none"));
}

absl::Status RecoveredRun::KeepArguments(LaunchArguments arguments) {
  const int count = plan_->num_arguments();
  arguments_.resize(count);
  bool any_on_hosts = false;
  for (int i = 0; i < count; ++i) {
    const bool carried = plan_->argument(i).carried();
    if (carried && checkpoints_.is_in_files()) {
      SharedValue given;
      absl::Status noted =
          KeepArgument(&arguments[i], /*in_files=*/true, &given);
      if (noted.ok()) noted = checkpoints_.NoteInput(i, given);
      if (!noted.ok()) return noted;
      continue;
    }
    SharedValue value;
    absl::Status kept =
        KeepArgument(&arguments[i],
                     /*in_files=*/carried && checkpoints_.has_folder(), &value);
    if (kept.ok() && value != nullptr) {
      kept = plan_->CheckArgument(i, value->type(), value->bytes(),
                                  plan_->argument(i).stepped() ? steps_ : 1);
    }
    if (kept.ok()) kept = checkpoints_.NoteInput(i, value);
    if (!kept.ok()) return kept;
    any_on_hosts |= value == nullptr;
    if (carried) {
      checkpoints_.SetBeginning(i, std::move(value));
    } else {
      arguments_[i] = std::move(value);
    }
  }
  absl::Status same = checkpoints_.CheckInputs();
  if (!same.ok() || !any_on_hosts) return same;
  return checkpoints_.SaveBeginning(arguments);
}

absl::Status RecoveredRun::KeepArgument(LaunchArgument* argument, bool in_files,
                                        SharedValue* value) {
  if (auto* own = std::get_if<HostArray>(argument)) {
    *value = std::make_shared<const ArrayValue>(std::move(*own));
    return absl::OkStatus();
  }
  const ArrayHandle handle = std::get<ArrayHandle>(*argument);
  absl::StatusOr<ArrayLocation> array = parts_.store->Locate(handle);
  if (!array.ok()) return array.status();
  *value = array->dense;
  if (*value != nullptr || in_files) return absl::OkStatus();
  absl::StatusOr<SharedValue> copy = parts_.store->GetValue(handle);
  if (!copy.ok()) return copy.status();
  *value = *std::move(copy);
  return absl::OkStatus();
}

absl::Status RecoveredRun::RunFromCheckpoint() {
  const int count = plan_->num_arguments();
  constants_.resize(count);
  carried_.resize(count);
  size_t most = kOpenIntervals;
  for (int i = 0; i < count; ++i) {
    const proto::Argument& argument = plan_->argument(i);
    if (argument.stepped()) continue;
    absl::StatusOr<SharedValue> value = arguments_[i];
    if (argument.carried()) value = checkpoints_.ValueOf(i);
    if (!value.ok()) return value.status();
    if (const std::string combined =
            CombinedText(plan_->Describe(i), (*value)->contributions(),
                         plan_->ContributionsOf(i));
        !combined.empty()) {
      Notify(combined);
    }
    absl::StatusOr<ArrayHandle> put = parts_.store->Put(Whole(*value));
    if (!put.ok()) return put.status();
    (argument.carried() ? carried_ : constants_)[i] =
        HeldArray(parts_.store, *put);
    // The carried array is the last row of a stepped result, which is extracted
    // in this process.
    if (argument.carried() && IsStepped(argument.from())) most = 1;
  }
  done_ = launched_ = checkpoints_.steps();
  while (done_ < steps_) {
    while (!moving_ && launched_ < steps_ && open_.size() < most) {
      absl::StatusOr<Interval> interval = Launch(launched_);
      if (!interval.ok() && open_.empty()) return interval.status();
      // An earlier interval may have failed and has the reason.
      if (!interval.ok()) break;
      launched_ += interval->steps;
      open_.push_back(*std::move(interval));
    }
    if (open_.empty()) {
      absl::Status moved = Move();
      if (!moved.ok()) return moved;
      continue;
    }
    absl::Status finished = FinishInterval();
    if (!finished.ok()) return finished;
  }
  return absl::OkStatus();
}

bool RecoveredRun::IsStepped(int64_t result) const {
  return plan_->plan()
      .plan()
      .interface()
      .results(static_cast<int>(result))
      .stepped();
}

absl::StatusOr<HeldArray> RecoveredRun::PutSteps(int argument, int64_t first,
                                                 int64_t steps) {
  const SharedValue& all = arguments_[argument];
  const uint64_t of_step = BytesOfStep(*all);
  const uint64_t offset = of_step * static_cast<uint64_t>(first);
  const uint64_t bytes = of_step * static_cast<uint64_t>(steps);
  std::vector<int64_t> shape = WithSteps(all->type().shape, steps);
  const layout::Contributions& contributions = all->contributions();
  const auto ranks = static_cast<uint64_t>(contributions.count());
  SharedValue value;
  if (all->saved() == nullptr && ranks == 1) {
    value = Borrow(all, std::move(shape), offset, bytes);
  } else {
    HostArray rows{all->type().element, std::move(shape), {}};
    if (!HasMemoryFor([&] { rows.data.resize(ranks * bytes); })) {
      return absl::ResourceExhaustedError(absl::StrCat(
          plan_->Describe(argument), ": ", NoMemoryText(ranks * bytes)));
    }
    for (uint64_t rank = 0; rank < ranks && bytes > 0; ++rank) {
      const uint64_t from = rank * all->bytes() + offset;
      char* const to = rows.data.data() + rank * bytes;
      if (all->saved() == nullptr) {
        std::memcpy(to, all->data().data() + from, bytes);
        continue;
      }
      absl::Status read = all->saved()->Read({{from, bytes, to}});
      if (!read.ok()) return read;
    }
    value = std::make_shared<const ArrayValue>(std::move(rows), contributions);
  }
  const absl::StatusOr<ArrayHandle> put = parts_.store->Put(std::move(value));
  if (!put.ok()) return put.status();
  return HeldArray(parts_.store, *put);
}

LaunchOptions RecoveredRun::LaunchOptionsAfter(int64_t steps) const {
  LaunchOptions options = launch_;
  options.first_step += steps;
  if (options.deadline_ns > 0) {
    // A deadline that has passed is the most urgent; 0 would mean none.
    const TimeNs passed = parts_.runtime->world->Now() - begin_;
    options.deadline_ns = std::max<int64_t>(options.deadline_ns - passed, 1);
  }
  return options;
}

absl::StatusOr<RecoveredRun::Interval> RecoveredRun::Launch(int64_t first) {
  Interval interval;
  interval.first = first;
  interval.steps = std::min(interval_steps_, steps_ - first);
  const std::vector<HeldArray>& carried =
      open_.empty() ? carried_ : open_.back().carried;
  LaunchArguments arguments;
  std::vector<HeldArray> stepped;  // released once launched
  for (int i = 0; i < plan_->num_arguments(); ++i) {
    const proto::Argument& argument = plan_->argument(i);
    if (argument.stepped()) {
      absl::StatusOr<HeldArray> put = PutSteps(i, first, interval.steps);
      if (!put.ok()) return put.status();
      arguments.emplace_back(put->handle());
      stepped.push_back(*std::move(put));
    } else {
      arguments.emplace_back(
          (argument.carried() ? carried : constants_)[i].handle());
    }
  }
  const absl::StatusOr<RunHandle> run =
      client_.Launch(program_, std::move(arguments), interval.steps,
                     LaunchOptionsAfter(first));
  if (!run.ok()) return run.status();
  interval.client = &client_;
  interval.run = *run;
  interval.carried.resize(plan_->num_arguments());
  for (int i = 0; i < plan_->num_arguments(); ++i) {
    const proto::Argument& argument = plan_->argument(i);
    if (!argument.carried() || IsStepped(argument.from())) continue;
    const absl::StatusOr<ArrayHandle> next =
        client_.Keep(*run, argument.from());
    // An array without elements has no object on devices, so that Keep waits
    // for the run.
    if (!next.ok()) return OfSteps(next.status());
    interval.carried[i] = HeldArray(parts_.store, *next);
  }
  return interval;
}

absl::Status RecoveredRun::FinishInterval() {
  absl::Status ended = client_.Await(open_.front().run);
  if (!ended.ok()) return OfSteps(std::move(ended));
  absl::Status taken = TakeSteps(&open_.front());
  if (!taken.ok()) return taken;
  const bool is_last = open_.front().first + open_.front().steps == steps_;
  absl::Status next;
  if (is_last) next = TakeResults(open_.front());
  if (next.ok() && (!is_last || checkpoints_.has_folder())) {
    next = MakeCheckpoint(open_.front());
  }
  if (!next.ok()) return next;
  done_ = open_.front().first + open_.front().steps;
  carried_ = std::move(open_.front().carried);
  open_.pop_front();
  return absl::OkStatus();
}

absl::StatusOr<SharedValue> RecoveredRun::FetchValue(const Interval& interval,
                                                     int result) {
  const absl::StatusOr<ArrayHandle> kept = client_.Keep(interval.run, result);
  if (!kept.ok()) return kept.status();
  const HeldArray held(parts_.store, *kept);
  return parts_.store->GetValue(*kept);
}

absl::Status RecoveredRun::TakeSteps(Interval* interval) {
  if (interval->steps == steps_)
    return absl::OkStatus();  // TakeResults takes all steps
  const proto::Interface& interface = plan_->plan().plan().interface();
  stepped_.resize(interface.results_size());
  for (int r = 0; r < interface.results_size(); ++r) {
    if (!interface.results(r).stepped()) continue;
    const absl::StatusOr<SharedValue> rows = FetchValue(*interval, r);
    if (!rows.ok()) return rows.status();
    absl::Status taken = TakeRows(*interval, r, **rows);
    if (!taken.ok()) return taken;
    for (int i = 0; i < plan_->num_arguments(); ++i) {
      const proto::Argument& argument = plan_->argument(i);
      if (!argument.carried() || argument.from() != static_cast<uint32_t>(r)) {
        continue;
      }
      const absl::StatusOr<ArrayHandle> put =
          parts_.store->Put(Whole(LastStepOf(**rows)));
      if (!put.ok()) return put.status();
      interval->carried[i] = HeldArray(parts_.store, *put);
    }
  }
  return absl::OkStatus();
}

absl::Status RecoveredRun::TakeRows(const Interval& interval, int result,
                                    const ArrayValue& rows) {
  const int64_t own_steps = steps_ - report_.resumed_at;
  const uint64_t of_step = BytesOfStep(rows);
  const uint64_t bytes = of_step * static_cast<uint64_t>(own_steps);
  const auto ranks = static_cast<uint64_t>(rows.contributions().count());
  std::shared_ptr<SteppedResult>& all = stepped_[result];
  if (all == nullptr) {
    all = std::make_shared<SteppedResult>();
    all->contributions = rows.contributions();
    all->rows.element = rows.type().element;
    all->rows.shape = WithSteps(rows.type().shape, own_steps);
    if (!HasMemoryFor([&] { all->rows.data.resize(ranks * bytes); })) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "result '", plan_->plan().plan().interface().results(result).name(),
          "': ", NoMemoryText(all->rows.element, all->rows.shape)));
    }
  }
  const uint64_t at =
      of_step * static_cast<uint64_t>(interval.first - report_.resumed_at);
  for (uint64_t rank = 0; rank < ranks && rows.bytes() > 0; ++rank) {
    std::memcpy(all->rows.data.data() + rank * bytes + at,
                rows.data().data() + rank * rows.bytes(), rows.bytes());
  }
  return absl::OkStatus();
}

absl::Status RecoveredRun::TakeResults(const Interval& interval) {
  const proto::Interface& interface = plan_->plan().plan().interface();
  std::vector<HeldArray> taken;
  for (int r = 0; r < interface.results_size(); ++r) {
    absl::StatusOr<ArrayHandle> array;
    if (interface.results(r).stepped() && interval.steps < steps_) {
      const std::shared_ptr<SteppedResult>& all = stepped_[r];
      array = parts_.store->Put(std::make_shared<const ArrayValue>(
          BorrowedArray{all->rows.element, all->rows.shape,
                        all->rows.data.data(), all->rows.data.size(), [all] {}},
          all->contributions));
    } else if (options_.mode == RecoveryOptions::kFail) {
      array = client_.Keep(interval.run, r);
    } else {
      const absl::StatusOr<SharedValue> copy = FetchValue(interval, r);
      if (!copy.ok()) return copy.status();
      array = parts_.store->Put(Whole(*copy));
    }
    if (!array.ok()) return array.status();
    taken.emplace_back(parts_.store, *array);
  }
  results_ = std::move(taken);
  return absl::OkStatus();
}

absl::Status RecoveredRun::MakeCheckpoint(const Interval& interval) {
  World& world = *parts_.runtime->world;
  const TimeNs begin = world.Now();
  std::vector<ArrayHandle> arrays;
  for (const HeldArray& held : interval.carried)
    arrays.push_back(held.handle());
  absl::Status made =
      checkpoints_.Make(interval.first + interval.steps, arrays);
  if (!made.ok()) return made;
  losses_ = 0;
  ++report_.checkpoints;
  report_.checkpoint_ns += world.Now() - begin;
  if (options_.mode != RecoveryOptions::kRebind) return absl::OkStatus();
  absl::StatusOr<std::vector<bool>> away = client_.AwayDevices();
  if (!away.ok()) return away.status();
  if (away_ == *away) return absl::OkStatus();
  away_ = *std::move(away);
  // Move reports what prevents a move.
  const absl::StatusOr<bool> moves =
      parts_.relocator->Moves(program_, *away_, options_.oversubscribe);
  moving_ = moving_ || !moves.ok() || *moves;
  return absl::OkStatus();
}

absl::Status RecoveredRun::Move() {
  moving_ = false;
  // The new place may need that memory.
  host_checkpoints_.Drop();
  RebindOptions rebind;
  rebind.oversubscribe = options_.oversubscribe;
  rebind.load = options_.load;
  absl::Status moved = parts_.relocator->Rebind(program_, *away_, rebind);
  if (moved.ok()) {
    ++report_.moves;
    Notify(absl::StrCat("moved at step ", NumberOf(done_)));
    return moved;
  }
  if (!absl::IsResourceExhausted(moved)) return moved;
  Notify(
      absl::StrCat("stays at step ", NumberOf(done_), ": ", moved.message()));
  return absl::OkStatus();
}

absl::Status RecoveredRun::Recover(const absl::Status& why) {
  if (options_.mode == RecoveryOptions::kFail || !IsLoss(why) ||
      parts_.channel->stopping()) {
    return why;
  }
  moving_ = false;
  checkpoints_.FetchFromHosts();
  host_checkpoints_.Drop();
  report_.repeated_steps += launched_ - checkpoints_.steps();
  RebindOptions rebind;
  rebind.oversubscribe = options_.oversubscribe;
  rebind.load = options_.load;
  rebind.load.await_devices = true;
  const bool rebinds = options_.mode == RecoveryOptions::kRebind;
  absl::Status status = why;
  while (IsLoss(status)) {
    if (++losses_ > options_.max_losses) {
      return OfSteps(absl::Status(
          status.code(), absl::StrCat(losses_, " losses after step ",
                                      NumberOf(checkpoints_.steps()), ": ",
                                      status.message())));
    }
    ++report_.losses;
    Notify(absl::StrCat("lost: ", WithoutTag(status.message()),
                        "; resumes from step ",
                        NumberOf(checkpoints_.steps())));
    away_.emplace(parts_.runtime->topology->num_devices());
    if (rebinds) {
      absl::StatusOr<std::vector<bool>> away = client_.AwayDevices();
      if (!away.ok()) return away.status();
      away_ = *std::move(away);
    }
    status = parts_.relocator->Restore(program_, rebinds ? &*away_ : nullptr,
                                       rebind);
    if (rebinds && absl::IsResourceExhausted(status)) {
      // Too few devices are left, so it waits for offline ones to come back.
      status = parts_.relocator->Restore(program_, nullptr, rebind);
    }
    const bool is_late =
        absl::IsDeadlineExceeded(status) && options_.load.wait_ns >= 0;
    if (is_late || absl::IsFailedPrecondition(status)) break;
  }
  return status;
}

void RecoveredRun::Notify(const std::string& what) const {
  if (options_.on_event) options_.on_event(what);
}

absl::StatusOr<RecoveredResults> Client::RunToEnd(
    ProgramHandle program, LaunchArguments arguments, int64_t steps,
    const RecoveryOptions& options, const LaunchOptions& launch) {
  const RecoveredRun::Parts parts{.runtime = context_.runtime,
                                  .channel = &channel_,
                                  .catalog = &catalog_,
                                  .store = &store_,
                                  .relocator = &relocator_};
  return RecoveredRun(this, parts, program, options, launch)
      .Run(std::move(arguments), steps);
}

}  // namespace pathways
