//===- launch_staging.h - Staging of launches on a host ---------*- C++ -*-===//
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

// Staging of launches on one host, from the message that describes a launch
// until its grant: arguments that clients send or that are on the host already,
// and memory for results. Also lets clients fetch arrays. Invariants: (1) each
// message that changes the store takes effect once and in order; a duplicate is
// answered with the progress of the store; (2) a launch is prepared once its
// arguments, or the launches that will fill them, are on the host and there is
// room for its results; otherwise it is refused, with a reason, and holds
// nothing; (3) what was prepared is taken once, by the launch's grant; if the
// launch is dropped before that, its results are filled and poisoned; (4)
// memory of an object is released when neither the store nor a launch nor a
// transfer holds it. Not thread-safe.
class LaunchStaging {
 public:
  // Called by LaunchStaging during its own calls, in order. Must not call back.
  class Owner {
   public:
    // Returns null if the program is not loaded.
    virtual const HostProgram* FindProgram(uint32_t program,
                                           uint32_t incarnation) const = 0;
    // Messages to the controller. SendReady: a launch is prepared, or why it is
    // not. SendStored: progress of the store. SendFetched: number of pieces of
    // a fetch that were sent.
    virtual void SendReady(uint64_t launch, const absl::Status& status) = 0;
    virtual void SendStored(uint64_t sequence) = 0;
    // Calls SendStored(last()) soon, before devices run kernels of what is now
    // staged. Those may take long, and the controller gives up a host from
    // which it hears nothing.
    virtual void SendStoredSoon() = 0;
    virtual void SendFetched(uint32_t client, uint64_t request,
                             uint64_t pieces) = 0;
    virtual void SendToClient(uint32_t client, const WireMessage& message,
                              Payload payload) = 0;
    // Results of a launch that was dropped were filled.
    virtual void OnFilled() = 0;
    // A client reads an object in place from now on, or does so no more.
    virtual void OnLent(uint32_t client, uint64_t request,
                        const HostStore::Object& object) = 0;
    virtual void OnLentEnd(uint32_t client, uint64_t request) = 0;

   protected:
    ~Owner() = default;
  };

  // `owner`, and `arena`, the host's memory, must outlive it.
  LaunchStaging(Owner* owner, Arena* arena, std::string host);

  // From now on, unused arrays are spilled to `disk` when memory is needed. A
  // message for which memory is short waits until there is enough, and so do
  // the messages after it (staging_memory.cc).
  void StartSpilling(std::unique_ptr<SpillDisk> disk,
                     const SpillOptions& options, Spiller::Run run);
  bool spills() const { return spiller_ != nullptr; }
  // Returns true if Proceed has work to do after memory was released.
  bool waits() const {
    return spills() &&
           (!queue_.empty() || (!spiller_->busy() && spiller_->IsHigh()));
  }
  void Proceed();
  // Must be called when the spiller's reads or writes are done.
  void OnSpillDone();
  bool is_spilling() const { return spills() && spiller_->busy(); }
  uint64_t spilled_bytes() const {
    return spills() ? spiller_->spilled_bytes() : 0;
  }
  // Work that needs memory of the host for something else. Tries it, and
  // returns the bytes that are lacking; 0: it is done. After `is_last` it is
  // not tried again, even if it fails.
  using Attempt = std::function<uint64_t(bool is_last)>;
  // Calls `attempt` in its turn among the messages, once `bytes` are free or
  // never will be; possibly during this call.
  void AwaitRoom(uint64_t bytes, Attempt attempt);

  // Takes a PrepareLaunch, FetchBegin or DropObjects. Returns false for a
  // duplicate.
  bool Take(const ControlRef& control);
  // Handles a client's request for a piece, or a piece that it sent.
  void OnWire(uint32_t client, const WireMessage& message, Payload payload);
  // Fills `values`, which must be empty, with what was prepared for the launch
  // of `grant`. Returns false if nothing was prepared, or if it was for another
  // program or number of steps.
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

  // A message or an attempt that waits for memory.
  struct Waiting {
    ControlRef control;
    bool is_over = false;  // was dropped: nothing is left to be done
    Attempt attempt;
    uint64_t bytes = 0;  // bytes that it needs
  };

  // A launch that waits for its arguments. Arguments before `next` were found
  // to be on the host; remembering that keeps n arguments from costing n * n
  // checks.
  struct Awaiting {
    ControlRef control;
    int next = 0;
  };

  // Handlers of messages, in the order of their numbers.
  void Come(const ControlRef& control);
  void Handle(const ControlRef& control);
  // Applies a DropObjects ahead of its turn: messages queued before it do not
  // need what it drops.
  void DropEarly(const proto::Control& control);
  // Returns true if `next` may proceed: it has the memory that it needs, or
  // never can have it.
  bool HasRoom(const Waiting& next);
  // Returns the bytes that `next` needs beside the arrays that it reads. Pins
  // those arrays.
  uint64_t NeedOf(const Waiting& next);
  uint64_t NeedOfLaunch(const proto::PrepareLaunch& prepare);
  void Pin(uint64_t object);
  void End(Waiting next);
  void OnPrepare(const ControlRef& control);
  void OnFetchBegin(uint32_t client, const proto::FetchBegin& fetch);
  void OnDrop(uint32_t client, const proto::DropObjects& drop);
  // Handlers of duplicates, whose answer may have been lost.
  void AnswerAgain(const proto::Control& control);
  void OnFetchAgain(uint32_t client, const proto::FetchBegin& fetch);

  // Returns the bytes of all steps of an argument of a launch; 0 if there is no
  // such argument.
  static uint64_t BytesOf(const HostProgram& program,
                          const proto::PrepareLaunch& prepare, uint64_t object);
  // Requests an argument of a launch from the client.
  void Pull(uint32_t client, const HostProgram& program,
            const proto::PrepareLaunch& prepare, uint64_t object);
  bool HasArgument(uint64_t object) const;
  bool HasArguments(const proto::PrepareLaunch& prepare) const;
  // Returns true if the store has, or at least expects, all arguments.
  bool KnowsArguments(const proto::PrepareLaunch& prepare) const;
  // Finishes the launches whose arguments are now on the host.
  void TryPrepare();
  // Checks the arguments of a launch that was prepared before they arrived.
  absl::Status CheckArrived(const proto::PrepareLaunch& prepare);
  // Reports the result of Prepare.
  void Finish(const proto::PrepareLaunch& prepare, const absl::Status& status);
  absl::Status Prepare(const proto::PrepareLaunch& prepare);
  void Forget(uint64_t launch, Prepared* prepared);
  absl::Status FindArguments(const HostProgram& program,
                             const proto::PrepareLaunch& prepare,
                             HostValues* values);
  // Returns the reason why a spilled object cannot be read back.
  absl::Status LacksRoom(const HostStore::Object& object,
                         const std::string& what);
  // Makes memory for all results. Returns ResourceExhausted, and keeps none of
  // them, if there is too little.
  absl::Status MakeResults(const HostProgram& program,
                           const proto::PrepareLaunch& prepare,
                           HostValues* values);

  Owner& owner_;
  const std::string host_;
  HostStore store_;
  HostTransfers transfers_;
  const HostTransfers::Sender to_clients_;
  ControlSequence sequence_;
  std::map<uint64_t, Awaiting> waiting_;  // waiting for arguments, by launch
  RecordPool<Prepared> prepared_;         // not granted yet, by launch
  std::map<uint64_t, absl::Status> refused_;  // not dropped yet, by launch
  Arena& arena_;
  uint64_t last_ = 0;
  std::deque<Waiting> queue_;         // ordered; empty without a spiller
  std::vector<HostStore::Ref> pins_;  // arrays that the front of queue_ reads
  bool is_new_ = true;                // the front of queue_ is new
  // True once the spilled arrays that the front of queue_ reads were read back,
  // or that was tried.
  bool has_read_ = false;
  // Null: arrays always stay in memory.
  std::unique_ptr<Spiller> spiller_;
};

}  // namespace pathways

#endif  // RUNTIME_STAGING_LAUNCH_STAGING_H_
