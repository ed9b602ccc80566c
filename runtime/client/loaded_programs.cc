//===- loaded_programs.cc - Programs that a client has loaded -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/loaded_programs.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

absl::StatusOr<SharedProgram> LoadedPrograms::Find(uint64_t id) const {
  const auto found = programs_.find(id);
  if (found == programs_.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "program ", id, " is not loaded", Tag(ErrorId::kNotLoaded)));
  }
  return found->second;
}

bool LoadedPrograms::Replace(uint64_t id, const SharedProgram& by) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) return false;
  found->second = by;
  return true;
}

bool LoadedPrograms::TakeDiscarded(uint64_t program, const RunTable& runs) {
  if (discarded_.count(program) == 0 || runs.OldestOf(program) != nullptr) {
    return false;
  }
  discarded_.erase(program);
  return true;
}

void UnloadIfDiscarded(uint64_t program, const RunTable& runs,
                       LoadedPrograms* programs, ControlChannel* channel,
                       ActorId from) {
  if (!programs->TakeDiscarded(program, runs)) return;
  programs->AddUnload(channel->AskLocked(
      [&](uint64_t id, proto::Control* control) {
        control->mutable_unload_request()->set_request(id);
        control->mutable_unload_request()->set_program(program);
      },
      from));
}

}  // namespace pathways
