//===- cohort.cc - Devices of one host on one worker ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cohort.h"

#include <algorithm>
#include <utility>

#include "runtime/base/pause.h"
#include "runtime/device/device.h"
#include "runtime/world/clock.h"

namespace pathways {
namespace {

// kMaxRuns: turns of devices, most of them short, before other actors have a
// turn. kMeetingsNs: time for which devices may run from meeting to meeting
// before that. kMeetingsPerClock: meetings between two looks at the clock.
constexpr int kMaxRuns = 256;
constexpr TimeNs kMeetingsNs = 20'000;
constexpr int kMeetingsPerClock = 8;

// Detects that consecutive meetings have taken long.
class Meetings {
 public:
  bool AreLong() {
    if (++count_ % kMeetingsPerClock != 0) return false;
    // Real time, whatever the world's clock, as other actors wait in real time.
    const TimeNs now = SteadyClock().Now();
    if (since_ < 0) since_ = now;
    return now - since_ > kMeetingsNs;
  }

 private:
  int count_ = 0;
  TimeNs since_ = -1;
};

}  // namespace

void Cohort::Add(int index, Device* device) {
  if (devices_.empty()) first_ = static_cast<size_t>(index);
  devices_.resize(static_cast<size_t>(index) + 1 - first_);
  devices_.back() = device;
  awake_.push_back(nullptr);
  looking_.reserve(devices_.size());
}

void Cohort::Run(Device* device) {
  Wake(device);
  RunAwake();
}

void Cohort::RunAwake() {
  bool over = false;
  current_gate_ = *gate_;
  int runs = 0;
  Meetings meetings;
  while (true) {
    for (; runs < kMaxRuns && size_ > 0 && !over; ++runs) {
      Device* device = awake_[begin_];
      begin_ = begin_ + 1 == awake_.size() ? 0 : begin_ + 1;
      --size_;
      device->awake_ = false;
      over = device->Pump();
      if (over) Wake(device);
    }
    if (looking_.empty()) break;
    // Polling may take a while.
    SendRecords();
    const bool has_more = size_ > 0;
    const bool met = !has_more && Look();
    const bool takes_long = met && meetings.AreLong();
    if (!met || takes_long) EndLook();
    if (has_more || takes_long || size_ == 0) break;
  }
  SendRecords();
  if (size_ == 0 || continuing_) return;
  continuing_ = true;
  awake_[begin_]->SendContinue();
}

void Cohort::SendRecords() {
  if (members_ == nullptr) return;
  devices_.front()->entries_.SendRecords(std::exchange(members_, nullptr));
}

bool Cohort::Look() {
  const uint32_t looks = looks_ ? patience_ : 0;
  for (size_t i = 0; i < looks; i += looking_.size()) {
    for (size_t k = 0; k < looking_.size(); ++k) {
      const Leader leader = looking_[k];
      if (!leader.meeting->Look(leader.cohort)) continue;
      looking_.erase(looking_.begin() + static_cast<std::ptrdiff_t>(k));
      GoOn(leader);
      patience_ = std::min(2 * patience_, kMaxLooks);
      return true;
    }
    Pause();
  }
  patience_ = std::max(patience_ / 2, kMinLooks);
  return false;
}

void Cohort::EndLook() {
  for (const Leader& leader : looking_) {
    if (leader.meeting->Park(leader.cohort)) GoOn(leader);
  }
  looking_.clear();
}

void Cohort::GoOn(const Leader& leader) {
  Device* const device = at(leader.device);
  device->collectives_.EndWait();
  Wake(device);
}

void Cohort::GroupDone(const DeviceProgram& program, uint32_t group,
                       absl::Span<const uint32_t> devices, uint64_t firing,
                       bool poison, uint32_t except) {
  for (const uint32_t index : devices) {
    if (index == except) continue;
    Device* const device = at(index);
    if (device->collectives_.GroupDone(program, group, firing, poison)) {
      Wake(device);
    }
  }
}

}  // namespace pathways
