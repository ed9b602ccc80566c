//===- program_catalog.h - Lookup and end of loaded programs ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_PROGRAM_CATALOG_H_
#define RUNTIME_CLIENT_PROGRAM_CATALOG_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/client/run_table.h"

namespace pathways {

// Looks up the programs of one client, and unloads those that it gives up. Any
// thread may call it. Functions that wait return the reason if the channel
// ends.
class ProgramCatalog {
 public:
  // All arguments outlive the catalog. The lock of the channel guards the
  // tables.
  ProgramCatalog(ControlChannel* channel, const HandleOwner* owner,
                 LoadedPrograms* programs, const RunTable* runs)
      : channel_(*channel),
        owner_(*owner),
        programs_(*programs),
        runs_(*runs) {}

  // Returns InvalidArgument if the handle belongs to another client;
  // FailedPrecondition if the program was given up.
  absl::StatusOr<SharedProgram> Find(ProgramHandle program);
  std::vector<ProgramHandle> Add(std::vector<SharedProgram> programs);
  // Makes `by` the program of the handle. If the program was given up
  // meanwhile, gives up `by` as well and returns false.
  bool Replace(ProgramHandle program, const SharedProgram& by);
  // Returns true if no host has the program any more; Lose records that.
  bool IsLost(const LoadedProgram& program);
  void Lose(const LoadedProgram& program, const absl::Status& why);

  // Removes a handle. The program is unloaded once its launches so far have
  // ended. Does not wait.
  absl::Status Discard(ProgramHandle program);
  // Does so with a program that has no handle any more.
  void Discard(const LoadedProgram& program);
  // Unloads a program and removes its handle. Waits. Returns FailedPrecondition
  // while a launch of it has not ended.
  absl::Status Unload(ProgramHandle program);
  // Unloads a program, whose handle stays. Waits.
  absl::Status Unload(const LoadedProgram& program);

  // Waits until all launches of the program have ended, successfully or not.
  absl::Status AwaitLaunches(const LoadedProgram& program);
  // Waits for unloads that have begun, and until the hosts have dropped
  // everything that any client has released so far.
  absl::Status AwaitReleases();

 private:
  ControlChannel& channel_;
  const HandleOwner& owner_;
  LoadedPrograms& programs_ ABSL_GUARDED_BY(channel_.mutex());
  const RunTable& runs_ ABSL_GUARDED_BY(channel_.mutex());
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_PROGRAM_CATALOG_H_
