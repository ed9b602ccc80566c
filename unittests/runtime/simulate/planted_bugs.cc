//===- planted_bugs.cc - Bugs to be found ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/planted_bugs.h"

#include <algorithm>

#include "runtime/program/local_kind.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways::simulate {

const std::vector<std::pair<std::string, std::string>>& PlantedBugs::All() {
  static const auto* const all =
      new std::vector<std::pair<std::string, std::string>>{
          {kTicketOrderBug, "islands grant in the order of arrival"},
          {"credit-lost", "a device drops a token now and then"},
          {"token-twice", "a device counts a token twice"},
          {"slot-early", "a token counts for the firing after its own"},
          {"done-twice", "the end of a grant on a device counts twice"},
          {"second-copy", "a second copy of a message counts"},
          {"epoch-ignored", "a message of a life that is over counts"},
          {"poison-dropped", "a token does not say that it is poisoned"},
          {"place-unchecked", "a host takes grants as they come"},
          {"object-early", "a host drops an array that a client still holds"},
          {"object-late", "a host keeps what it is told to drop"},
          {"payload-garbled", "a bit of a piece is another one"},
          {"failure-swallowed", "a launch that failed ends well"},
          {"answer-lost", "a request is not answered"},
          {"death-unheard", "the controller does not hear that a host is gone"},
          {"wrong-slot", "a piece lands in the slot of another firing"},
          {"client-unheard", "the controller does not hear that a client died"},
          {kAsTheyComeBug, "the controller takes requests as they come"}};
  return *all;
}

bool PlantedBugs::Has(const std::string& name) {
  return std::any_of(All().begin(), All().end(),
                     [&](const auto& bug) { return bug.first == name; });
}

void PlantedBugs::Start(const SimWorld* world, const Topology*) {
  world_ = world;
}

int PlantedBugs::Change(SimDelivery& delivery) {
  if (delivery.wire != nullptr) return ChangeWire(delivery);
  if (delivery.local != nullptr) return ChangeLocal(delivery);
  if (delivery.control != nullptr) return ChangeControl(delivery);
  return name_ == "death-unheard" && world_->name(delivery.to) == "controller"
             ? 0
             : 1;
}

int PlantedBugs::ChangeWire(SimDelivery& delivery) {
  WireMessage& wire = *delivery.wire;
  const bool of_executors = wire.kind < kPullMessage;
  if (name_ == "second-copy" && of_executors) {
    const bool fresh =
        seen_.emplace(delivery.from, delivery.to, wire.sequence).second;
    if (!fresh) wire.sequence += uint64_t{1} << 40;
  }
  if (name_ == "epoch-ignored" && of_executors) {
    uint32_t& sender = lives_[world_->placement(delivery.from).host];
    sender = std::max(sender, wire.from_epoch);
    wire.to_epoch = world_->placement(delivery.to).epoch;
    if (wire.from_epoch < sender) {
      wire.from_epoch = sender;
    }
  }
  if (name_ == "poison-dropped") wire.flags &= ~kPoisoned;
  if (name_ == "payload-garbled" && delivery.payload_bytes > 0 && OneIn(40)) {
    delivery.payload[count_ % delivery.payload_bytes] ^= 1;
  }
  if (name_ == "wrong-slot" && wire.kind == kPieceMessage && OneIn(20)) {
    ++wire.step;
  }
  return 1;
}

int PlantedBugs::ChangeLocal(SimDelivery& delivery) {
  LocalMessage& local = *delivery.local;
  if (name_ == "client-unheard" && local.kind == kClientsGone &&
      world_->name(delivery.to) == "controller") {
    return 0;
  }
  if (local.kind == kLocalToken) {
    if (name_ == "credit-lost" && OneIn(50)) return 0;
    if (name_ == "token-twice" && OneIn(50)) return 2;
    if (name_ == "slot-early" && OneIn(50)) ++local.step;
    if (name_ == "poison-dropped") local.flags &= ~kPoisoned;
  }
  if (local.kind == kDeviceDone && name_ == "done-twice" && OneIn(5)) return 2;
  return 1;
}

int PlantedBugs::ChangeControl(SimDelivery& delivery) {
  proto::Control control;
  if (!control.ParseFromString(*delivery.control)) return 1;
  if (name_ == kAsTheyComeBug && control.sequence() != 0 &&
      world_->name(delivery.to) == "controller") {
    control.set_sequence(++requests_[delivery.from]);
  }
  if (name_ == "answer-lost" && control.has_answer() && OneIn(20)) return 0;
  if (name_ == "failure-swallowed" && control.has_launch_ended() &&
      control.launch_ended().completed()) {
    control.mutable_launch_ended()->clear_code();
    control.mutable_launch_ended()->clear_poisoned();
  }
  if (name_ == "object-late" && control.has_drop_objects() && OneIn(3)) {
    control.mutable_drop_objects()->clear_objects();
  }
  if (name_ == "object-early") {
    if (control.has_fetch_begin()) {
      argument_[delivery.to] = control.fetch_begin().object();
    }
    uint64_t& object = argument_[delivery.to];
    if (control.has_drop_objects() && object != 0) {
      control.mutable_drop_objects()->add_objects(object);
      object = 0;
    }
  }
  if (name_ == "place-unchecked" && control.has_grant()) {
    uint64_t& last = places_[delivery.to];
    proto::Grant& grant = *control.mutable_grant();
    const bool fresh =
        seen_.emplace(delivery.from, delivery.to, grant.position()).second;
    if (fresh) {
      grant.set_previous_position(last);
      grant.set_position(std::max(grant.position(), last + 1));
      last = grant.position();
    }
  }
  if (name_ == "epoch-ignored" && delivery.from != kNobody) {
    // Makes the message look as if it came from the sender's last epoch, and
    // was for the receiver's.
    const Placement& from = world_->placement(delivery.from);
    const Placement& to = world_->placement(delivery.to);
    for (const Placement& of : {from, to}) {
      if (of.host < 0) continue;
      uint32_t& life = lives_[of.host];
      life = std::max(life, of.epoch);
      control.set_restarts(life - 1);
    }
  }
  *delivery.control = control.SerializeAsString();
  return 1;
}

}  // namespace pathways::simulate
