//===- program_table.cc - Loaded programs, and where they are -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/controller/failure.h"

namespace pathways {
namespace {

absl::Status NotLoaded(uint64_t handle) {
  return absl::FailedPreconditionError(absl::StrCat(
      "program ", handle, " is not loaded", Tag(ErrorId::kNotLoaded)));
}

}  // namespace

ProgramTable::Program* ProgramTable::FindHandle(uint32_t client,
                                                uint64_t handle) const {
  auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) return nullptr;
  Program* program = programs_[found->second].get();
  return program->owner == client ? program : nullptr;
}

const ProgramTable::Program* ProgramTable::Find(uint32_t program,
                                                uint32_t incarnation) const {
  if (program >= programs_.size() || programs_[program] == nullptr ||
      programs_[program]->incarnation != incarnation) {
    return nullptr;
  }
  return programs_[program].get();
}

uint32_t ProgramTable::IdOf(uint64_t handle) const {
  auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? UINT32_MAX : found->second;
}

absl::StatusOr<const ProgramTable::Program*> ProgramTable::Ready(
    uint32_t client, uint64_t handle) const {
  const Program* program = FindHandle(client, handle);
  if (program == nullptr || program->state == State::kLoading ||
      program->state == State::kFreeing) {
    return NotLoaded(handle);
  }
  if (program->state != State::kReady) {
    // The error has the code of its cause, if that has one.
    return Coded(ErrorId::kGivenUp,
                 absl::FailedPreconditionError(absl::StrCat(
                     "program '", program->plan->name(),
                     "' was given up and must be loaded again",
                     program->error.ok()
                         ? ""
                         : absl::StrCat(": ", absl::string_view(
                                                  program->error.message())))));
  }
  return program;
}

absl::StatusOr<ProgramNext> ProgramTable::Load(
    TimeNs now, std::shared_ptr<const PreparedPlan> plan, const PlanName& name,
    const std::string& client, ClientRequest request, uint64_t slice,
    const std::map<int32_t, uint64_t>& on_hosts) {
  const uint32_t incarnation = last_incarnation_ + 1;
  absl::Status admitted = admission_.Admit(incarnation, *plan, request.client,
                                           client, slice, on_hosts);
  if (!admitted.ok()) return admitted;
  last_incarnation_ = incarnation;
  uint32_t id = 0;
  while (id < programs_.size() && programs_[id] != nullptr) ++id;
  if (id == programs_.size()) programs_.emplace_back();
  by_handle_[incarnation] = id;
  programs_[id] = std::make_unique<Program>();
  Program* program = programs_[id].get();
  program->id = id;
  program->incarnation = incarnation;
  program->owner = request.client;
  program->plan = std::move(plan);
  program->name = name;
  program->request = request;
  return Enter(now, program, State::kLoading);
}

void ProgramTable::Forget(uint32_t id) {
  const uint32_t incarnation = programs_[id]->incarnation;
  admission_.Release(incarnation);
  by_handle_.erase(incarnation);
  programs_[id].reset();
}

ProgramNext ProgramTable::Enter(TimeNs now, Program* program, State state) {
  program->state = state;
  program->entered = program->since = now;
  program->waiting.Assign(program->plan->binding().hosts());
  for (int32_t host : program->gone.Members()) program->waiting.Erase(host);
  if (program->waiting.empty()) return Leave(now, program);
  ProgramNext next;
  next.kind = ProgramNext::kAsk;
  next.program = program->id;
  return next;
}

ProgramNext ProgramTable::Leave(TimeNs now, Program* program) {
  ProgramNext next;
  next.program = program->id;
  switch (program->state) {
    case State::kLoading:
      if (!program->error.ok()) {
        program->outcome = program->error;
        return Enter(now, program,
                     State::kStopping);  // answers when the program is gone
      }
      program->state = State::kReady;
      program->counted = true;
      ++loaded_;
      next.kind = ProgramNext::kAnswer;
      next.request = std::exchange(program->request, {});
      next.handle = program->incarnation;
      return next;
    case State::kStopping:
      if (program->request.id != 0 || program->unwanted) {
        return Enter(now, program, State::kFreeing);
      }
      program->state = State::kBroken;
      return next;
    default:
      break;
  }
  // The program is freed.
  if (program->request.id != 0) next.kind = ProgramNext::kAnswer;
  next.request = program->request;
  next.status = program->outcome;
  next.gone = program->incarnation;
  if (program->counted) --loaded_;
  admission_.Release(program->incarnation);
  by_handle_.erase(program->incarnation);
  programs_[program->id].reset();
  return next;
}

ProgramNext ProgramTable::Answered(TimeNs now, State state, uint32_t id,
                                   uint32_t incarnation, int32_t host,
                                   const absl::Status& status) {
  if (Find(id, incarnation) == nullptr) return {};
  Program* program = programs_[id].get();
  if (program->state != state || !program->waiting.Erase(host)) return {};
  program->since = now;
  if (program->error.ok()) program->error = status;
  return program->waiting.empty() ? Leave(now, program) : ProgramNext();
}

void ProgramTable::Asked(TimeNs now, uint32_t process,
                         const proto::PlanRequest& request) {
  // Code is requested after the tables. Offsets are below 2^62.
  const uint64_t far = request.offset() + 1 +
                       (request.objects().empty() ? 0 : uint64_t{1} << 62);
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program == nullptr || program->state != State::kLoading ||
        program->name.hash.view() != request.hash()) {
      continue;
    }
    uint64_t& asked = program->asked[process];
    if (far <= asked) continue;
    asked = far;
    program->since = now;
  }
}

absl::StatusOr<ProgramNext> ProgramTable::Unload(TimeNs now, uint64_t handle,
                                                 ClientRequest request,
                                                 size_t launches) {
  Program* program = FindHandle(request.client, handle);
  if (program == nullptr || program->request.id != 0) return NotLoaded(handle);
  if (launches > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "program '", program->plan->name(), "' still has ", launches,
        " launches that have not ended", Tag(ErrorId::kStillLaunched)));
  }
  program->request = request;
  program->outcome = absl::OkStatus();
  program->since = now;
  switch (program->state) {
    case State::kReady:
      return Enter(now, program, State::kStopping);
    case State::kBroken:
      // It was stopped when it broke.
      return Enter(now, program, State::kFreeing);
    default:
      return ProgramNext();  // its end has begun
  }
}

ProgramNext ProgramTable::Break(TimeNs now, uint32_t id,
                                const absl::Status& error, WaitSet running) {
  Program* program = programs_[id].get();
  if (program == nullptr || program->state != State::kReady) return {};
  program->error = error;
  program->interrupted = std::move(running);
  return Enter(now, program, State::kStopping);
}

void ProgramTable::AddInterrupted(WaitSet* hosts) const {
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program == nullptr || program->state != State::kStopping) continue;
    for (int32_t host : program->waiting.Members()) {
      if (program->interrupted.Contains(host)) hosts->Insert(host);
    }
  }
}

std::vector<ProgramNext> ProgramTable::HostGone(TimeNs now, int32_t host,
                                                uint32_t epoch) {
  admission_.HostGone(host, epoch);
  std::vector<ProgramNext> nexts;
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program == nullptr) continue;
    const std::vector<int32_t>& hosts = program->plan->binding().hosts();
    if (!std::binary_search(hosts.begin(), hosts.end(), host)) continue;
    program->gone.Insert(host);
    if (program->state == State::kLoading && program->error.ok()) {
      program->error = absl::UnavailableError(absl::StrCat(
          "program '", program->plan->name(), "' was not loaded: ",
          GoneText(topology_, host, epoch), Tag(ErrorId::kHostGone)));
    }
    if (!program->waiting.Erase(host)) continue;
    program->since = now;
    if (program->waiting.empty()) nexts.push_back(Leave(now, program.get()));
  }
  return nexts;
}

std::vector<uint32_t> ProgramTable::Lose(int32_t host,
                                         absl::Span<const uint32_t> devices,
                                         const absl::Status& error) {
  std::vector<int64_t> lost;
  for (uint32_t device : devices) {
    lost.push_back(topology_.GlobalDevice({host, static_cast<int>(device)}));
    admission_.Lose(lost.back(), std::string(error.message()));
  }
  std::vector<uint32_t> ready;
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program == nullptr ||
        std::none_of(lost.begin(), lost.end(), [&](int64_t device) {
          return admission_.Uses(program->incarnation, device);
        })) {
      continue;
    }
    if (program->state == State::kReady) ready.push_back(program->id);
    if (program->state == State::kLoading) program->error.Update(error);
  }
  return ready;
}

bool ProgramTable::HasRequest(const WaitSet& busy) const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [&](const std::unique_ptr<Program>& program) {
                       return program != nullptr && program->request.id != 0 &&
                              !program->waiting.Meets(busy);
                     });
}

bool ProgramTable::Waits() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const std::unique_ptr<Program>& program) {
                       return program != nullptr && !program->waiting.empty();
                     });
}

bool ProgramTable::HasRecent(TimeNs now) const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [&](const std::unique_ptr<Program>& program) {
                       return program != nullptr && !program->waiting.empty() &&
                              now - program->entered < timeout_ns_;
                     });
}

std::vector<ProgramNext> ProgramTable::Tick(TimeNs now, const WaitSet& busy) {
  std::vector<ProgramNext> nexts;
  for (const std::unique_ptr<Program>& program : programs_) {
    if (program == nullptr || program->waiting.empty()) continue;
    if (program->waiting.Meets(busy)) program->since = now;
    if (program->request.id != 0 && now - program->since >= timeout_ns_) {
      Expire(now, program.get(), &nexts);
    } else {
      ProgramNext next;
      next.kind = ProgramNext::kAsk;
      next.program = program->id;
      nexts.push_back(next);
    }
  }
  return nexts;
}

void ProgramTable::Expire(TimeNs now, Program* program,
                          std::vector<ProgramNext>* nexts) {
  const bool loading = program->state == State::kLoading;
  const bool freeing = program->state == State::kFreeing;
  std::string hosts;
  for (int32_t host : program->waiting.Members()) {
    absl::StrAppend(&hosts, hosts.empty() ? "" : ", ",
                    topology_.HostName(host));
  }
  ProgramNext answer;
  answer.kind = ProgramNext::kAnswer;
  answer.program = program->id;
  answer.request = std::exchange(program->request, {});
  answer.gone = program->incarnation;
  answer.is_held = true;
  // For a load that a host refused, the refusal is the better reason.
  answer.status = loading ? program->error : program->outcome;
  answer.status.Update(absl::DeadlineExceededError(
      absl::StrCat("program '", program->plan->name(), "' was not ",
                   loading ? "loaded" : "unloaded", ": no answer from ", hosts,
                   loading   ? ""
                   : freeing ? ", which keeps its memory until the host answers"
                             : "; its memory is kept until then",
                   Tag(ErrorId::kNoAnswer))));
  if (std::exchange(program->counted, false)) --loaded_;
  program->unwanted = true;
  if (freeing) admission_.ReleaseExcept(program->incarnation, program->waiting);
  if (loading) program->error = answer.status;
  nexts->push_back(std::move(answer));
  if (loading) nexts->push_back(Enter(now, program, State::kStopping));
}

}  // namespace pathways
