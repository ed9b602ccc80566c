//===- program_table.cc - Which programs are loaded, and where ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_table.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

absl::Status NotLoaded(uint64_t handle) {
  return absl::FailedPreconditionError(
      absl::StrCat("program ", handle, " is not loaded"));
}

}  // namespace

ProgramTable::Program* ProgramTable::FindHandle(uint64_t handle) const {
  auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : programs_[found->second].get();
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
    uint64_t handle) const {
  const Program* program = FindHandle(handle);
  if (program == nullptr || program->state == State::kLoading ||
      program->state == State::kFreeing) {
    return NotLoaded(handle);
  }
  if (program->state != State::kReady) {
    return absl::FailedPreconditionError(absl::StrCat(
        "program '", program->plan->name(),
        "' was given up and must be loaded again",
        program->error.ok()
            ? ""
            : absl::StrCat(": ", absl::string_view(program->error.message()))));
  }
  return program;
}

absl::StatusOr<ProgramNext> ProgramTable::Load(
    std::shared_ptr<const PreparedPlan> plan, uint64_t plan_id,
    const std::string& client, ClientRequest request) {
  const uint32_t incarnation = last_incarnation_ + 1;
  absl::Status admitted = admission_.Admit(incarnation, *plan, client);
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
  program->plan = std::move(plan);
  program->plan_id = plan_id;
  program->request = request;
  return Enter(program, State::kLoading);
}

ProgramNext ProgramTable::Enter(Program* program, State state) {
  program->state = state;
  program->waiting.Assign(program->plan->hosts());
  if (program->waiting.empty()) return Leave(program);
  ProgramNext next;
  next.kind = ProgramNext::kAsk;
  next.program = program->id;
  return next;
}

ProgramNext ProgramTable::Leave(Program* program) {
  const uint64_t plan_id = program->plan_id;  // the program may go
  ProgramNext next;
  next.program = program->id;
  switch (program->state) {
    case State::kLoading:
      if (!program->error.ok()) {
        program->outcome = program->error;
        next = Enter(program, State::kStopping);  // answers when it is gone
        next.loaded = plan_id;
        return next;
      }
      next.loaded = plan_id;
      program->state = State::kReady;
      program->counted = true;
      ++loaded_;
      next.kind = ProgramNext::kAnswer;
      next.request = std::exchange(program->request, {});
      next.handle = program->incarnation;
      return next;
    case State::kStopping:
      if (program->request.id != 0) return Enter(program, State::kFreeing);
      program->state = State::kBroken;
      return next;
    default:
      break;
  }
  // Freed.
  next.kind = ProgramNext::kAnswer;
  next.request = program->request;
  next.status = program->outcome;
  if (program->counted) --loaded_;
  admission_.Release(program->incarnation);
  by_handle_.erase(program->incarnation);
  programs_[program->id].reset();
  return next;
}

ProgramNext ProgramTable::Answered(State state, uint32_t id,
                                   uint32_t incarnation, int32_t host,
                                   const absl::Status& status) {
  if (Find(id, incarnation) == nullptr) return {};
  Program* program = programs_[id].get();
  if (program->state != state || !program->waiting.Erase(host)) return {};
  if (program->error.ok()) program->error = status;
  return program->waiting.empty() ? Leave(program) : ProgramNext();
}

absl::StatusOr<ProgramNext> ProgramTable::Unload(uint64_t handle,
                                                 ClientRequest request,
                                                 size_t launches) {
  Program* program = FindHandle(handle);
  if (program == nullptr || program->request.id != 0) return NotLoaded(handle);
  if (launches > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("program '", program->plan->name(), "' still has ",
                     launches, " launches that have not ended"));
  }
  program->request = request;
  switch (program->state) {
    case State::kReady:
      return Enter(program, State::kStopping);
    case State::kBroken:
      return Enter(program, State::kFreeing);  // was stopped when it broke
    default:
      return ProgramNext();  // is being stopped
  }
}

ProgramNext ProgramTable::Break(uint32_t id, const absl::Status& error) {
  Program* program = programs_[id].get();
  if (program == nullptr || program->state != State::kReady) return {};
  program->error = error;
  return Enter(program, State::kStopping);
}

}  // namespace pathways
