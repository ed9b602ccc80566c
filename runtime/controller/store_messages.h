//===- store_messages.h - Messages to hosts' stores -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_STORE_MESSAGES_H_
#define RUNTIME_CONTROLLER_STORE_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/store_log.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/host_memory.h"
#include "runtime/resources/load_queue.h"
#include "runtime/resources/object_table.h"

namespace pathways {

// Sends the messages that change the hosts' stores, and takes the reports of
// what hosts have done. Invariants: (1) each such message is numbered and in
// the log; (2) a host drops what it is told to drop after all that it was told
// before; (3) a drain that waits for an array is answered when the array's
// hosts are told to drop it. One owner calls it.
class StoreMessages {
 public:
  // All of these must outlive the object.
  struct Uses {
    const HostEpochs& epochs;
    const LoadQueue& loads;
    ObjectTable& objects;
    HostMemory& memory;
    StoreLog& log;
    Drains& drains;
    Outbox& outbox;
    HandlerClock& clock;
    AnswerTimer& timer;
  };

  explicit StoreMessages(const Uses& uses);

  // Numbers a message that changes a host's store, and sends it. `launch`: the
  // launch that it is for; 0: none. `asks`: true if the launch waits for the
  // host's answer. Returns the number, or 0 if the host is gone.
  uint64_t Send(int32_t host, uint64_t launch, bool asks, ControlRef control);
  // Sends the drops to their hosts, and clears the list.
  void SendDrops(std::vector<Drop>* drops);
  // Release references of a client, or of its fetches, to objects.
  void ReleaseHeld(absl::Span<const uint64_t> objects);
  void Release(absl::Span<const uint64_t> objects);

  // Answers the request when all hosts have dropped what they were told to.
  void Settle(ClientRequest request);
  // Asks a host that has not confirmed all drops how many of its messages it
  // has done.
  void AskToSettle(int32_t host);
  // Takes a host's report of what it has done. Returns true if that made room
  // for loads.
  bool Take(const proto::ObjectsDropped& dropped);
  // Records that a host has answered for the launch.
  void Answered(int32_t host, uint64_t launch);
  // The host is gone: it holds nothing, and no request waits for it.
  void HostGone(int32_t host);

  // Sends again what hosts may have missed, and answers requests that took too
  // long. Returns the hosts that owe an answer and were silent for too long.
  // Time does not count for hosts in `busy`.
  std::vector<int32_t> Tick(const WaitSet& busy);
  // Returns the bytes of files that a host has last reported.
  uint64_t spilled(int32_t host) const { return spilled_[host]; }
  // Returns the hosts whose bytes of files have changed since the last call.
  WaitSet TakeMoved();

 private:
  const Uses uses_;
  std::vector<uint64_t> spilled_;  // by host
  WaitSet moved_;
  std::vector<Drop> drops_;  // empty between calls; reused
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STORE_MESSAGES_H_
