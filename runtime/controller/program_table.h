//===- program_table.h - Loaded programs, and where they are ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_PROGRAM_TABLE_H_
#define RUNTIME_CONTROLLER_PROGRAM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/client_requests.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Work that a call leaves for the controller.
struct ProgramNext {
  enum Kind {
    kNothing,
    kAsk,     // send hosts in `waiting` the message of the program's state
    kAnswer,  // answer `request`, which has ended
  };
  Kind kind = kNothing;
  uint32_t program = 0;
  ClientRequest request;
  absl::Status status;
  uint64_t handle = 0;   // handle of a program that is ready now; 0: none
  uint64_t gone = 0;     // handle of a program that has ended; 0: none
  bool is_held = false;  // hosts that do not answer still hold its memory
};

// The programs from load to end. A load asks all hosts. When one refuses or the
// client unloads, the program ends in two rounds: all hosts stop it, then all
// hosts free it.
//
//   loading -> ready -> stopping -> freeing -> (gone)
//      |         |         ^ |         ^
//      |         +- Break -+ +-> broken: until the client unloads it
//      +---- a host refused it: stopping, then freeing
//
// Invariants: (1) a program in the table holds the memory that it needs on all
// devices; (2) each host counts once in each round, and a round ends when all
// hosts have answered or are gone, since until then one may read what another
// would free; (3) every request is answered once: if no host has answered for
// the timeout, with DeadlineExceeded, which names the hosts that did not
// answer, and the program continues to its end without the client once they
// answer or are gone. The number of a program is reused after its end; its
// incarnation, which is also the client's handle, is never reused. One owner
// calls it; it sends nothing, and is told the time.
class ProgramTable {
 public:
  enum class State : uint8_t { kLoading, kReady, kStopping, kBroken, kFreeing };
  struct Program {
    uint32_t id = 0, incarnation = 0;
    uint32_t owner = 0;  // the client that loaded it
    State state = State::kLoading;
    PlanName name;  // of the plan
    std::shared_ptr<const PreparedPlan> plan;
    WaitSet waiting;        // hosts that have not answered in this round
    WaitSet gone;           // hosts that will not answer any more
    TimeNs entered = 0;     // start of the round
    TimeNs since = 0;       // start of the round, or time of the request
    absl::Status error;     // why it cannot be used
    ClientRequest request;  // answered when the load, or the program, ends
    absl::Status outcome;   // answer to a request that waits for the end
    bool counted = false;   // it has been ready
    bool unwanted = false;  // no client will unload it (again)
    WaitSet interrupted;    // hosts that ran launches when it was given up
    // Progress in fetching the plan, by process.
    std::map<uint32_t, uint64_t> asked;
  };

  // `topology` must outlive the table. A request ends when no host has answered
  // for `timeout_ns`.
  ProgramTable(const Topology& topology, TimeNs timeout_ns,
               const ObjectTable* arrays = nullptr,
               const SpillOptions& spill = {})
      : topology_(topology),
        timeout_ns_(timeout_ns),
        admission_(topology, arrays, spill) {}

  // Adds a program for `client`. Parameters and errors are those of
  // Admission::Admit.
  absl::StatusOr<ProgramNext> Load(
      TimeNs now, std::shared_ptr<const PreparedPlan> plan,
      const PlanName& name, const std::string& client, ClientRequest request,
      uint64_t slice = 0, const std::map<int32_t, uint64_t>& on_hosts = {});
  // Removes a program that was just added and of which no host was told.
  void Forget(uint32_t program);
  // Records that a process fetches a plan. While it makes progress, hosts that
  // load the plan are not silent.
  void Asked(TimeNs now, uint32_t process, const proto::PlanRequest& request);
  // Records that a host has done what it was asked in `state`. `status`: the
  // outcome of a load.
  ProgramNext Answered(TimeNs now, State state, uint32_t program,
                       uint32_t incarnation, int32_t host,
                       const absl::Status& status);
  // Starts to unload a program. Returns FailedPrecondition if the client has
  // not loaded it, or if `launches`, its open launches, is not 0.
  absl::StatusOr<ProgramNext> Unload(TimeNs now, uint64_t handle,
                                     ClientRequest request, size_t launches);
  // Gives up a program that is ready, because of `error`. Hosts in `running`
  // may be in the middle of a launch.
  ProgramNext Break(TimeNs now, uint32_t program, const absl::Status& error,
                    WaitSet running = WaitSet());
  // A host is gone, in this epoch: it holds nothing of any program and will not
  // answer. Programs that need it are refused until HostUp.
  std::vector<ProgramNext> HostGone(TimeNs now, int32_t host, uint32_t epoch);
  // The host is up again, with all its devices and all their memory.
  void HostUp(int32_t host) { admission_.HostUp(host); }
  // Starts or ends the drain of a device of the cluster: while it is drained,
  // no programs are loaded onto it.
  void Drain(int64_t device, bool drained) {
    admission_.Drain(device, drained);
  }
  // Records that the devices of a host, by their number there, are lost.
  // Returns the ready programs with shards there, which the caller must give
  // up. Programs that are loading will fail with `error`.
  std::vector<uint32_t> Lose(int32_t host, absl::Span<const uint32_t> devices,
                             const absl::Status& error);
  // Ends requests whose round took too long, and returns those to be asked
  // again. Time does not count for programs with a waiting host in `busy`.
  std::vector<ProgramNext> Tick(TimeNs now, const WaitSet& busy);
  const Admission& admission() const { return admission_; }
  Admission* mutable_admission() { return &admission_; }
  // HasRequest returns true if a request waits for hosts none of which is in
  // `busy`; Waits, if any program waits for a host.
  bool HasRequest(const WaitSet& busy) const;
  bool Waits() const;
  // Returns true if a program waits for hosts in a round that began less than
  // the timeout ago, whether a request waits for its end or not.
  bool HasRecent(TimeNs now) const;
  // Adds the hosts that may still be in a kernel of a program that was given
  // up.
  void AddInterrupted(WaitSet* hosts) const;

  // Returns null if there is no such program, or not any more.
  const Program* Find(uint32_t program, uint32_t incarnation) const;
  // Returns null if there is no program of that number now.
  const Program* Find(uint32_t program) const {
    return program < programs_.size() ? programs_[program].get() : nullptr;
  }
  // Returns a program that `client` may launch. Returns FailedPrecondition if
  // the client has not loaded it, or it was given up; the message has the
  // reason.
  absl::StatusOr<const Program*> Ready(uint32_t client, uint64_t handle) const;
  // Returns the number of the program, or UINT32_MAX if it is not in the table.
  uint32_t IdOf(uint64_t handle) const;
  // Returns 1 plus the largest number that a program may have now.
  uint32_t end() const { return static_cast<uint32_t>(programs_.size()); }
  size_t loaded() const { return loaded_; }
  // Returns the bytes on all its devices together.
  uint64_t BytesOf(uint32_t program) const {
    return admission_.BytesOf(programs_[program]->incarnation);
  }

 private:
  // Returns null if the client has no such program.
  Program* FindHandle(uint32_t client, uint64_t handle) const;
  // Begins a round, and ends it at once if there is no host to wait for.
  ProgramNext Enter(TimeNs now, Program* program, State state);
  // Ends a round: all hosts have answered.
  ProgramNext Leave(TimeNs now, Program* program);
  // Ends a request that has waited too long. Appends the work, in order.
  void Expire(TimeNs now, Program* program, std::vector<ProgramNext>* nexts);

  const Topology& topology_;
  const TimeNs timeout_ns_;
  Admission admission_;
  std::vector<std::unique_ptr<Program>> programs_;
  absl::flat_hash_map<uint64_t, uint32_t> by_handle_;
  uint32_t last_incarnation_ = 0;
  size_t loaded_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_PROGRAM_TABLE_H_
