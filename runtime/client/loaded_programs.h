//===- loaded_programs.h - Programs that a client has loaded ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_LOADED_PROGRAMS_H_
#define RUNTIME_CLIENT_LOADED_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/loaded_program.h"
#include "runtime/client/request.h"
#include "runtime/client/run_table.h"

namespace pathways {

using SharedProgram = std::shared_ptr<const LoadedProgram>;

// Programs of one client, by the numbers of their handles, and those that it
// has given up. A program keeps its handle when it is loaded anew elsewhere,
// but gets another number from the controller: LoadedProgram::handle. One owner
// calls it.
class LoadedPrograms {
 public:
  // Adds a program, whose handle has the controller's number.
  void Add(SharedProgram program) {
    const uint64_t id = program->handle();
    programs_[id] = std::move(program);
  }
  // Returns FailedPrecondition if there is no such program.
  absl::StatusOr<SharedProgram> Find(uint64_t id) const;
  // Makes `by` the program of the handle. Returns false if there is none.
  bool Replace(uint64_t id, const SharedProgram& by);
  // Removes a program. Returns false if there is none.
  bool Erase(uint64_t id) { return programs_.erase(id) != 0; }
  const std::map<uint64_t, SharedProgram>& programs() const {
    return programs_;
  }

  // The next three take the controller's number of a program. Discard records
  // that the client has given the program up. TakeDiscarded returns true, once,
  // if that is so and no run of it is open: then it must be unloaded.
  void Discard(uint64_t program) { discarded_.insert(program); }
  bool TakeDiscarded(uint64_t program, const RunTable& runs);

  // Requests to unload programs for which no call has waited.
  void AddUnload(std::shared_ptr<Request> unload) {
    unloads_.push_back(std::move(unload));
  }
  std::vector<std::shared_ptr<Request>> TakeUnloads() {
    return std::exchange(unloads_, {});
  }

 private:
  std::map<uint64_t, SharedProgram> programs_;
  std::set<uint64_t> discarded_;  // not unloaded yet
  std::vector<std::shared_ptr<Request>> unloads_;
};

// Unloads a program, given by the controller's number, if it was given up and
// no run of it is open. Does not wait. `from` is that of ControlChannel::Send.
// The lock of the channel guards the tables.
void UnloadIfDiscarded(uint64_t program, const RunTable& runs,
                       LoadedPrograms* programs, ControlChannel* channel,
                       ActorId from = kNoActor)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel->mutex());

}  // namespace pathways

#endif  // RUNTIME_CLIENT_LOADED_PROGRAMS_H_
