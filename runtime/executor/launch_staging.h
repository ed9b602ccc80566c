//===- launch_staging.h - What launches find on a host ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_LAUNCH_STAGING_H_
#define RUNTIME_EXECUTOR_LAUNCH_STAGING_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "runtime/executor/host_program.h"
#include "runtime/executor/host_transfers.h"
#include "runtime/executor/launch.h"
#include "runtime/executor/record_pool.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/control_sequence.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/store/store.h"

namespace pathways {

// What launches bring to one host and find there, from the message that says
// what a launch is until its grant: values that clients send, arrays that lie
// here, room for results; and what of it clients fetch. Invariants: (1) each
// message that changes the store counts once, after those before it, and a
// second copy is answered by how far the store has come; (2) a launch is
// prepared when its arguments, or who fills them, are here and there is room
// for its results, or refused, which says why and holds nothing; (3) what was
// prepared is taken once, by its grant; results of a launch that is dropped
// before are filled and poisoned; (4) memory of an object comes back when
// neither the store nor a launch nor a transfer has it. One owner calls it.
class LaunchStaging {
 public:
  // Asked and told during the calls, in order; must not call back.
  class Owner {
   public:
    // Null: it is not loaded.
    virtual const HostProgram* FindProgram(uint32_t program,
                                           uint32_t incarnation) const = 0;
    // To the controller: a launch is prepared, or why not; how far the store
    // has come; how many pieces of a fetch were sent.
    virtual void SendReady(uint64_t launch, const absl::Status& status) = 0;
    virtual void SendStored(uint64_t sequence) = 0;
    virtual void SendFetched(uint32_t client, uint64_t request,
                             uint64_t pieces) = 0;
    virtual void SendToClient(uint32_t client, const WireMessage& message,
                              Payload payload) = 0;
    // Results of a launch that was dropped are filled.
    virtual void OnFilled() = 0;

   protected:
    ~Owner() = default;
  };

  // `owner` and `arena`, the host's memory, outlive it.
  LaunchStaging(Owner* owner, Arena* arena, std::string host);

  // A PrepareLaunch, FetchBegin or DropObjects. False: a second copy.
  bool Take(const ControlRef& control);
  // A client asks for a piece, or sends one.
  void OnWire(uint32_t client, const WireMessage& message, Payload payload);
  // Fills `values`, which are empty, with what was prepared for the launch of a
  // grant. False: nothing was, or for another program or number of steps.
  bool TakeValues(const proto::Grant& grant, HostValues* values);

  // The number of the last message that changed the store.
  uint64_t last() const { return sequence_.last(); }
  // Bytes of values that were written into objects.
  uint64_t bytes_stored() const { return transfers_.bytes_stored(); }

 private:
  struct Prepared {
    uint32_t program = 0, incarnation = 0;
    HostValues values;

    void Reset() { values.Clear(); }
  };

  // Messages, in the order of their numbers.
  void Handle(const ControlRef& control);
  void OnPrepare(const ControlRef& control);
  void OnFetchBegin(uint32_t client, const proto::FetchBegin& fetch);
  void OnDrop(uint32_t client, const proto::DropObjects& drop);
  // Copies of them: perhaps the answer was lost.
  void AnswerAgain(const proto::Control& control);
  void OnFetchAgain(uint32_t client, const proto::FetchBegin& fetch);

  // Asks the client for an argument of a launch.
  void Pull(uint32_t client, const HostProgram& program,
            const proto::PrepareLaunch& prepare, uint64_t object);
  bool HasArguments(const proto::PrepareLaunch& prepare) const;
  // Answers those whose arguments are here.
  void TryPrepare();
  // What came of Prepare.
  void Finish(const proto::PrepareLaunch& prepare, const absl::Status& status);
  absl::Status Prepare(const proto::PrepareLaunch& prepare);
  void Forget(uint64_t launch, Prepared* prepared);
  absl::Status FindArguments(const HostProgram& program,
                             const proto::PrepareLaunch& prepare,
                             HostValues* values) const;
  // ResourceExhausted: none of them is here.
  absl::Status MakeResults(const HostProgram& program,
                           const proto::PrepareLaunch& prepare,
                           HostValues* values);

  Owner& owner_;
  const std::string host_;
  HostStore store_;
  HostTransfers transfers_;
  const HostTransfers::Sender to_clients_;
  ControlSequence sequence_;
  std::map<uint64_t, ControlRef> waiting_;    // for arguments, by launch
  RecordPool<Prepared> prepared_;             // not granted yet, by launch
  std::map<uint64_t, absl::Status> refused_;  // not dropped yet, by launch
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_LAUNCH_STAGING_H_
