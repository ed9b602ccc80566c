//===- store_messages.cc - Messages to hosts' stores ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_messages.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/base/buffer_bytes.h"

namespace pathways {

StoreMessages::StoreMessages(const Uses& uses)
    : uses_(uses), spilled_(uses.epochs.size()) {}

uint64_t StoreMessages::Send(int32_t host, uint64_t launch, bool asks,
                             ControlRef control) {
  if (uses_.epochs.IsGone(host)) return 0;
  const uint64_t sequence =
      uses_.log.Number(host, /*drops=*/control->has_drop_objects());
  switch (control->kind_case()) {
    case proto::Control::kPrepareLaunch:
      control->mutable_prepare_launch()->set_sequence(sequence);
      break;
    case proto::Control::kFetchBegin:
      control->mutable_fetch_begin()->set_sequence(sequence);
      break;
    default:
      control->mutable_drop_objects()->set_sequence(sequence);
      break;
  }
  control->set_restarts(uses_.epochs.restarts(host));
  uses_.log.Keep(uses_.clock.Now(), host, launch, asks, control);
  uses_.outbox.SendToHost(host, std::move(control));
  return sequence;
}

void StoreMessages::SendDrops(std::vector<Drop>* drops) {
  // Sends each host one message for each launch, in the order of their ends.
  uint64_t order = 0;
  for (Drop& drop : *drops) drop.order = order++;
  std::sort(drops->begin(), drops->end(), [](const Drop& a, const Drop& b) {
    return std::tie(a.host, a.order) < std::tie(b.host, b.order);
  });
  for (size_t i = 0; i < drops->size();) {
    const Drop& first = (*drops)[i];
    ControlRef control = uses_.outbox.New(proto::Control::kDropObjects);
    proto::DropObjects* drop = control->mutable_drop_objects();
    drop->set_launch(first.launch);
    uint64_t bytes = 0;
    for (; i < drops->size() && (*drops)[i].host == first.host &&
           (*drops)[i].launch == first.launch;
         ++i) {
      if ((*drops)[i].object == 0) continue;
      drop->add_objects((*drops)[i].object);
      bytes = AddBytes(bytes, (*drops)[i].bytes);
    }
    uses_.log.Forget(first.host, first.launch);
    if (bytes > 0 && uses_.loads.Awaits(first.host)) drop->set_answer(true);
    const uint64_t sequence =
        Send(first.host, /*launch=*/0, /*asks=*/false, std::move(control));
    if (bytes > 0) uses_.memory.Discharge(first.host, bytes, sequence);
  }
  drops->clear();
  uses_.drains.AnswerComplete();
}

void StoreMessages::ReleaseHeld(absl::Span<const uint64_t> objects) {
  uses_.objects.ReleaseHeld(objects, &drops_);
  SendDrops(&drops_);
}

void StoreMessages::Release(absl::Span<const uint64_t> objects) {
  uses_.objects.Release(objects, /*launch=*/0, &drops_);
  SendDrops(&drops_);
}

void StoreMessages::Settle(ClientRequest request) {
  const std::vector<int32_t> hosts = uses_.log.Unsettled();
  if (hosts.empty()) return uses_.outbox.Answer(request, absl::OkStatus());
  for (int32_t host : hosts) {
    ControlRef control = uses_.outbox.New();
    control->mutable_drop_objects()->set_answer(true);
    Send(host, /*launch=*/0, /*asks=*/false, std::move(control));
  }
  uses_.log.Await(uses_.clock.Now(), request, hosts);
  uses_.timer.Arm();
}

void StoreMessages::AskToSettle(int32_t host) {
  if (uses_.memory.leaving(host) == 0) return;
  ControlRef control = uses_.outbox.New();
  control->mutable_drop_objects()->set_answer(true);
  Send(host, /*launch=*/0, /*asks=*/false, std::move(control));
  uses_.timer.Arm();
}

bool StoreMessages::Take(const proto::ObjectsDropped& dropped) {
  if (dropped.host() >= spilled_.size()) return false;
  const int32_t host = static_cast<int32_t>(dropped.host());
  uint64_t& spilled = spilled_[host];
  if (spilled != dropped.spilled_bytes()) moved_.Insert(host);
  spilled = dropped.spilled_bytes();
  for (const ClientRequest& request :
       uses_.log.Settled(uses_.clock.Now(), host, dropped.sequence())) {
    uses_.outbox.Answer(request, absl::OkStatus());
  }
  return uses_.memory.Settled(host, dropped.sequence());
}

void StoreMessages::Answered(int32_t host, uint64_t launch) {
  for (ClientRequest request :
       uses_.log.Answered(uses_.clock.Now(), host, launch)) {
    uses_.outbox.Answer(request, absl::OkStatus());
  }
}

void StoreMessages::HostGone(int32_t host) {
  for (ClientRequest request : uses_.log.HostGone(uses_.clock.Now(), host)) {
    uses_.outbox.Answer(request, absl::OkStatus());
  }
  uses_.memory.HostGone(host);
  spilled_[host] = 0;
}

std::vector<int32_t> StoreMessages::Tick(const WaitSet& busy) {
  const StoreLog::Findings found = uses_.log.Tick(uses_.clock.Now(), busy);
  for (const StoreLog::Again& one : found.again) {
    uses_.outbox.SendAgain(one.host, one.message);
  }
  for (const StoreLog::Late& one : found.late) {
    uses_.outbox.Answer(one.request, one.status);
  }
  return found.silent;
}

WaitSet StoreMessages::TakeMoved() { return std::exchange(moved_, WaitSet()); }

}  // namespace pathways
