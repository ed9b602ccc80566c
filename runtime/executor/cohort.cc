//===- cohort.cc - Devices of one host on one worker ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/cohort.h"

#include "runtime/executor/device.h"

namespace pathways {
namespace {

// Devices that run, most of them for little, before other actors have a turn.
constexpr int kMaxRuns = 256;

}  // namespace

void Cohort::Add(int index, Device* device) {
  if (devices_.empty()) first_ = static_cast<size_t>(index);
  devices_.resize(static_cast<size_t>(index) + 1 - first_);
  devices_.back() = device;
  awake_.push_back(nullptr);
}

void Cohort::Run(Device* device) {
  Wake(device);
  RunAwake();
}

void Cohort::RunAwake() {
  bool over = false;
  current_gate_ = *gate_;
  for (int i = 0; i < kMaxRuns && size_ > 0 && !over; ++i) {
    Device* device = awake_[begin_];
    begin_ = begin_ + 1 == awake_.size() ? 0 : begin_ + 1;
    --size_;
    device->awake_ = false;
    over = device->Pump();
    if (over) Wake(device);
  }
  if (size_ == 0 || continuing_) return;
  continuing_ = true;
  awake_[begin_]->SendContinue();
}

}  // namespace pathways
