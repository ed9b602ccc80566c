//===- program_catalog.cc - Lookup and end of loaded programs -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_catalog.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

absl::StatusOr<SharedProgram> ProgramCatalog::Find(ProgramHandle program) {
  absl::Status owned = owner_.Check(program, "program");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  return programs_.Find(program.id);
}

std::vector<ProgramHandle> ProgramCatalog::Add(
    std::vector<SharedProgram> programs) {
  std::vector<ProgramHandle> handles;
  MutexLock lock(&channel_.mutex());
  for (SharedProgram& program : programs) {
    handles.push_back(owner_.Make<ProgramHandle>(program->handle()));
    programs_.Add(std::move(program));
  }
  return handles;
}

bool ProgramCatalog::Replace(ProgramHandle program, const SharedProgram& by) {
  MutexLock lock(&channel_.mutex());
  if (programs_.Replace(program.id, by)) return true;
  programs_.Discard(by->handle());
  UnloadIfDiscarded(by->handle(), runs_, &programs_, &channel_);
  return false;
}

bool ProgramCatalog::IsLost(const LoadedProgram& program) {
  MutexLock lock(&channel_.mutex());
  return !program.lost().ok();
}

void ProgramCatalog::Lose(const LoadedProgram& program,
                          const absl::Status& why) {
  MutexLock lock(&channel_.mutex());
  program.Lose(why);
}

absl::Status ProgramCatalog::Discard(ProgramHandle handle) {
  const absl::StatusOr<SharedProgram> program = Find(handle);
  if (!program.ok()) return program.status();
  MutexLock lock(&channel_.mutex());
  if (!programs_.Erase(handle.id)) return absl::OkStatus();
  programs_.Discard((*program)->handle());
  UnloadIfDiscarded((*program)->handle(), runs_, &programs_, &channel_);
  return absl::OkStatus();
}

void ProgramCatalog::Discard(const LoadedProgram& program) {
  MutexLock lock(&channel_.mutex());
  programs_.Discard(program.handle());
  UnloadIfDiscarded(program.handle(), runs_, &programs_, &channel_);
}

absl::Status ProgramCatalog::Unload(ProgramHandle handle) {
  const absl::StatusOr<SharedProgram> program = Find(handle);
  if (!program.ok()) return program.status();
  if (!IsLost(**program)) {
    absl::Status unloaded = Unload(**program);
    if (!unloaded.ok()) return unloaded;
  }
  MutexLock lock(&channel_.mutex());
  programs_.Erase(handle.id);
  return absl::OkStatus();
}

absl::Status ProgramCatalog::Unload(const LoadedProgram& program) {
  std::shared_ptr<Request> request =
      channel_.Ask([&](uint64_t id, proto::Control* control) {
        control->mutable_unload_request()->set_request(id);
        control->mutable_unload_request()->set_program(program.handle());
      });
  absl::Status waited = channel_.WaitFor(request->done, [&] {
    return absl::StrCat("the unload of program '", program.name(), "'");
  });
  if (!waited.ok()) return waited;
  return request->TakeStatus();
}

absl::Status ProgramCatalog::AwaitLaunches(const LoadedProgram& program) {
  while (true) {
    std::shared_ptr<RunState> run;
    {
      MutexLock lock(&channel_.mutex());
      run = runs_.OldestOf(program.handle());
    }
    if (run == nullptr) return absl::OkStatus();
    absl::Status waited =
        channel_.WaitFor(run->done, [&] { return run->Describe(); });
    if (!waited.ok()) return waited;
  }
}

absl::Status ProgramCatalog::AwaitReleases() {
  std::vector<std::shared_ptr<Request>> unloads;
  {
    MutexLock lock(&channel_.mutex());
    unloads = programs_.TakeUnloads();
  }
  for (const std::shared_ptr<Request>& unload : unloads) {
    absl::Status waited = channel_.WaitFor(
        unload->done, [] { return "the unload of a program"; });
    if (!waited.ok()) return waited;
  }
  std::shared_ptr<Request> request =
      channel_.Ask([](uint64_t id, proto::Control* control) {
        control->mutable_settle_request()->set_request(id);
      });
  return channel_.WaitFor(request->done,
                          [] { return "the release of an array or a run"; });
}

}  // namespace pathways
