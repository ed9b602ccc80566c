//===- program_table.h - Which programs are loaded, and where ---*- C++ -*-===//
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

// What is to be done for a program after a fact.
struct ProgramNext {
  enum Kind {
    kNothing,
    kAsk,     // tell the hosts that it waits for what its state says
    kAnswer,  // the client: `request` is over
  };
  Kind kind = kNothing;
  uint32_t program = 0;
  ClientRequest request;
  absl::Status status;
  uint64_t handle = 0;  // of a program that is ready now; 0: of none
  uint64_t gone = 0;    // the handle of a program that is here no more; 0: none
  bool is_held = false;  // what it took, by hosts that do not answer
};

// The programs from their load to their end. A load asks all hosts, and when
// one refuses or the client unloads, the program goes in two rounds: all hosts
// stop it, then all free it.
//
//   loading -> ready -> stopping -> freeing -> (gone)
//      |         |         ^ |         ^
//      |         +- Break -+ +-> broken: until the client unloads it
//      +---- a host refused it: stopping, then freeing
//
// Invariants: (1) a program holds the memory that it needs on all devices, or
// it is not here; (2) each host counts once in each round, and a round ends
// when all have answered or are gone, since until then one may read what
// another would free; (3) every request is answered once: when no host has
// answered for the timeout, by DeadlineExceeded, which names those that did
// not, and the program goes on to its end without the client when they do or
// are gone. A program's number is used again when it is gone, its incarnation,
// which is the client's handle too, never. One owner calls it; it sends
// nothing, and is told the time.
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
    WaitSet gone;           // hosts that answer no more
    TimeNs since = 0;       // the round began, or the request came
    absl::Status error;     // why it cannot be used
    ClientRequest request;  // to be answered when the load, or all, is over
    absl::Status outcome;   // the answer to one that waits for the end
    bool counted = false;   // it has been ready
    bool unwanted = false;  // no client will unload it (again)
    WaitSet interrupted;    // hosts that ran launches when it was given up
    // By process, how far it is with asking for the plan.
    std::map<uint32_t, uint64_t> asked;
  };

  // `topology` outlives it. A request ends when no host has answered for
  // `timeout_ns`.
  ProgramTable(const Topology& topology, TimeNs timeout_ns,
               const ObjectTable* arrays = nullptr,
               const SpillOptions& spill = {})
      : topology_(topology),
        timeout_ns_(timeout_ns),
        admission_(topology, arrays, spill) {}

  // Takes a program for `client`, with what Admission::Admit wants. Its errors.
  absl::StatusOr<ProgramNext> Load(
      TimeNs now, std::shared_ptr<const PreparedPlan> plan,
      const PlanName& name, const std::string& client, ClientRequest request,
      uint64_t slice = 0, const std::map<int32_t, uint64_t>& on_hosts = {});
  // One that was taken just now, of which no host was told, is not wanted.
  void Forget(uint32_t program);
  // A process fetches a plan: while it gets on, hosts that load it are not
  // silent.
  void Asked(TimeNs now, uint32_t process, const proto::PlanRequest& request);
  // A host has done what it was asked in `state`; `status`: how a load went.
  ProgramNext Answered(TimeNs now, State state, uint32_t program,
                       uint32_t incarnation, int32_t host,
                       const absl::Status& status);
  // FailedPrecondition: the client has not loaded it, or `launches` of it have
  // not ended.
  absl::StatusOr<ProgramNext> Unload(TimeNs now, uint64_t handle,
                                     ClientRequest request, size_t launches);
  // A program that is ready cannot go on: `error` says why. Hosts in `running`
  // may be in the middle of a launch.
  ProgramNext Break(TimeNs now, uint32_t program, const absl::Status& error,
                    WaitSet running = WaitSet());
  // A host, in this life, has nothing of any program any more, and answers no
  // more. Programs that need it are refused until HostUp.
  std::vector<ProgramNext> HostGone(TimeNs now, int32_t host, uint32_t epoch);
  // It lives again, with all its devices and all their memory.
  void HostUp(int32_t host) { admission_.HostUp(host); }
  // No more programs are taken for a device of the cluster, or, again, they
  // are.
  void Drain(int64_t device, bool drained) {
    admission_.Drain(device, drained);
  }
  // These devices of a host, by their number there, take no work any more.
  // Returns the programs that are ready and have shards there, and cannot go
  // on; one that is loading will not be ready, with `error`.
  std::vector<uint32_t> Lose(int32_t host, absl::Span<const uint32_t> devices,
                             const absl::Status& error);
  // Ends requests whose round took too long, and asks those again that have
  // not answered the others. Hosts in `busy` are given all the time that they
  // need.
  std::vector<ProgramNext> Tick(TimeNs now, const WaitSet& busy);
  const Admission& admission() const { return admission_; }
  Admission* mutable_admission() { return &admission_; }
  // Whether a request waits for hosts none of which is in `busy`, or anything
  // for any.
  bool HasRequest(const WaitSet& busy) const;
  bool Waits() const;
  // Hosts that may still be in a kernel of a program that was given up.
  void AddInterrupted(WaitSet* hosts) const;

  // Null: there is no such program (any more).
  const Program* Find(uint32_t program, uint32_t incarnation) const;
  // Null: there is none of that number (any more).
  const Program* Find(uint32_t program) const {
    return program < programs_.size() ? programs_[program].get() : nullptr;
  }
  // What `client` may launch. FailedPrecondition: it has not loaded it, or it
  // was given up and why.
  absl::StatusOr<const Program*> Ready(uint32_t client, uint64_t handle) const;
  // Its number; UINT32_MAX: it is not here.
  uint32_t IdOf(uint64_t handle) const;
  // One above the largest number of a program that is here.
  uint32_t end() const { return static_cast<uint32_t>(programs_.size()); }
  size_t loaded() const { return loaded_; }
  // On all its devices together.
  uint64_t BytesOf(uint32_t program) const {
    return admission_.BytesOf(programs_[program]->incarnation);
  }

 private:
  // Null: the client has no such program.
  Program* FindHandle(uint32_t client, uint64_t handle) const;
  // Begins a round; goes on at once when there is no host.
  ProgramNext Enter(TimeNs now, Program* program, State state);
  // All hosts have answered.
  ProgramNext Leave(TimeNs now, Program* program);
  // The request has waited too long. What is to be done, in order.
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
