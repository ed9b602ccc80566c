//===- launch_staging.h - What launches find on a host ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STAGING_LAUNCH_STAGING_H_
#define RUNTIME_STAGING_LAUNCH_STAGING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/record_pool.h"
#include "runtime/program/host_program.h"
#include "runtime/program/launch.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/control_sequence.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/staging/host_transfers.h"
#include "runtime/store/spiller.h"
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
    // With last(), before devices are in kernels of what is staged now, perhaps
    // for long: a host of which nothing is heard is given up.
    virtual void SendStoredSoon() = 0;
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

  // From here on what nobody uses leaves memory for a disk when that is needed:
  // a message for which there is too little waits until there is enough, and
  // those behind it with it (staging_memory.cc).
  void StartSpilling(std::unique_ptr<SpillDisk> disk,
                     const SpillOptions& options, Spiller::Run run);
  bool spills() const { return spiller_ != nullptr; }
  // Whether there is anything for Proceed to do when memory was given back.
  bool waits() const {
    return spills() &&
           (!queue_.empty() || (!spiller_->busy() && spiller_->IsHigh()));
  }
  void Proceed();
  // What was to be written or read is.
  void OnSpillDone();
  bool is_spilling() const { return spills() && spiller_->busy(); }
  uint64_t spilled_bytes() const {
    return spills() ? spiller_->spilled_bytes() : 0;
  }
  // What needs memory of the host for something else: tries, and returns how
  // much it lacks; 0: it is done. The last time it need not.
  using Attempt = std::function<uint64_t(bool is_last)>;
  // Calls it when there are `bytes`, or never will be, in its turn among the
  // messages; perhaps now.
  void AwaitRoom(uint64_t bytes, Attempt attempt);

  // A PrepareLaunch, FetchBegin or DropObjects. False: a second copy.
  bool Take(const ControlRef& control);
  // A client asks for a piece, or sends one.
  void OnWire(uint32_t client, const WireMessage& message, Payload payload);
  // Fills `values`, which are empty, with what was prepared for the launch of a
  // grant. False: nothing was, or for another program or number of steps.
  bool TakeValues(const proto::Grant& grant, HostValues* values);

  // The number of the last message that changed the store.
  uint64_t last() const { return last_; }
  // Bytes of values that were written into objects.
  uint64_t bytes_stored() const { return transfers_.bytes_stored(); }

 private:
  struct Prepared {
    uint32_t program = 0, incarnation = 0;
    HostValues values;

    void Reset() { values.Clear(); }
  };

  // One that waits for memory, or something else that does.
  struct Waiting {
    ControlRef control;
    bool is_over = false;  // what it is about; nothing is to be done
    Attempt attempt;
    uint64_t bytes = 0;  // that it needs
  };

  // A launch that waits for its arguments. Those before `next` were seen to be
  // here, so that a launch of n arguments is not looked at n times n times.
  struct Awaiting {
    ControlRef control;
    int next = 0;
  };

  // Messages, in the order of their numbers.
  void Come(const ControlRef& control);
  void Handle(const ControlRef& control);
  // What waits in front of it has no use for what it drops.
  void DropEarly(const proto::Control& control);
  // Whether what waits may go on, with the memory that it needs, or without
  // when it cannot have that.
  bool HasRoom(const Waiting& next);
  // What it needs beside what it reads, which is held from now on.
  uint64_t NeedOf(const Waiting& next);
  uint64_t NeedOfLaunch(const proto::PrepareLaunch& prepare);
  void Pin(uint64_t object);
  void End(Waiting next);
  void OnPrepare(const ControlRef& control);
  void OnFetchBegin(uint32_t client, const proto::FetchBegin& fetch);
  void OnDrop(uint32_t client, const proto::DropObjects& drop);
  // Copies of them: perhaps the answer was lost.
  void AnswerAgain(const proto::Control& control);
  void OnFetchAgain(uint32_t client, const proto::FetchBegin& fetch);

  // Of all steps, of an argument of a launch; 0: there is no such argument.
  static uint64_t BytesOf(const HostProgram& program,
                          const proto::PrepareLaunch& prepare, uint64_t object);
  // Asks the client for an argument of a launch.
  void Pull(uint32_t client, const HostProgram& program,
            const proto::PrepareLaunch& prepare, uint64_t object);
  bool HasArgument(uint64_t object) const;
  bool HasArguments(const proto::PrepareLaunch& prepare) const;
  // Whether they are at least expected.
  bool KnowsArguments(const proto::PrepareLaunch& prepare) const;
  // Answers those whose arguments are here.
  void TryPrepare();
  // Of what was prepared before its arguments came.
  absl::Status CheckArrived(const proto::PrepareLaunch& prepare);
  // What came of Prepare.
  void Finish(const proto::PrepareLaunch& prepare, const absl::Status& status);
  absl::Status Prepare(const proto::PrepareLaunch& prepare);
  void Forget(uint64_t launch, Prepared* prepared);
  absl::Status FindArguments(const HostProgram& program,
                             const proto::PrepareLaunch& prepare,
                             HostValues* values);
  // Why an object that is away cannot come back.
  absl::Status LacksRoom(const HostStore::Object& object,
                         const std::string& what);
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
  std::map<uint64_t, Awaiting> waiting_;      // for arguments, by launch
  RecordPool<Prepared> prepared_;             // not granted yet, by launch
  std::map<uint64_t, absl::Status> refused_;  // not dropped yet, by launch
  Arena& arena_;
  uint64_t last_ = 0;
  std::deque<Waiting> queue_;         // in order; empty without a spiller
  std::vector<HostStore::Ref> pins_;  // what the first of them reads
  bool is_new_ = true;                // the first has not been looked at
  bool has_read_ = false;             // what it reads has come back, or cannot
  std::unique_ptr<Spiller> spiller_;  // null: all that has memory keeps it
};

}  // namespace pathways

#endif  // RUNTIME_STAGING_LAUNCH_STAGING_H_
