//===- staging_memory.cc - Messages that wait for host memory -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waiting on a host that spills. Used memory belongs to work that ends without
// needing more; unused memory can be spilled. Messages have the same order on
// all hosts, and none overtakes one that waits. So the first of all waiting
// messages gets the memory that it needs on each of its hosts once those before
// it are over. Hence none waits forever.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "runtime/base/buffer_bytes.h"
#include "runtime/staging/launch_staging.h"

namespace pathways {

void LaunchStaging::StartSpilling(std::unique_ptr<SpillDisk> disk,
                                  const SpillOptions& options,
                                  Spiller::Run run) {
  spiller_ = std::make_unique<Spiller>(&store_, &arena_, std::move(disk),
                                       options, std::move(run));
}

void LaunchStaging::OnSpillDone() {
  spiller_->Finish();
  Proceed();
}

void LaunchStaging::AwaitRoom(uint64_t bytes, Attempt attempt) {
  Waiting next;
  next.attempt = std::move(attempt);
  next.bytes = bytes;
  queue_.push_back(std::move(next));
  Proceed();
}

void LaunchStaging::DropEarly(const proto::Control& control) {
  if (!control.has_drop_objects()) return;
  const proto::DropObjects& drop = control.drop_objects();
  for (Waiting& one : queue_) {
    if (one.attempt != nullptr) continue;
    const proto::Control& other = *one.control;
    one.is_over |= other.has_prepare_launch() && drop.launch() != 0 &&
                   other.prepare_launch().launch() == drop.launch();
    one.is_over |= other.has_fetch_begin() && drop.fetch() != 0 &&
                   other.client() == control.client() &&
                   other.fetch_begin().request() == drop.fetch();
  }
  // When the message is handled in its turn, there is nothing left to drop.
  proto::DropObjects now = drop;
  now.set_answer(false);
  OnDrop(control.client(), now);
}

void LaunchStaging::Proceed() {
  while (!queue_.empty()) {
    Waiting& first = queue_.front();
    if (!first.is_over && !HasRoom(first)) return;
    if (first.attempt != nullptr) {
      const uint64_t lacking = first.attempt(/*is_last=*/false);
      // The attempt may know more exactly what it needs by now.
      if (lacking > first.bytes) {
        first.bytes = lacking;
        continue;
      }
      if (lacking == 0) first.attempt = [](bool) { return 0; };
    }
    Waiting next = std::move(first);
    queue_.pop_front();
    const std::vector<HostStore::Ref> pins = std::move(pins_);
    pins_.clear();
    is_new_ = true;
    has_read_ = false;
    End(std::move(next));
  }
  if (!spiller_->busy() && spiller_->IsHigh()) spiller_->Spill();
}

void LaunchStaging::Pin(uint64_t id) {
  HostStore::Ref object = store_.Use(id);
  const bool is_known = std::any_of(
      pins_.begin(), pins_.end(),
      [&](const HostStore::Ref& pin) { return pin.get() == object.get(); });
  if (object == nullptr || !object->has_bytes() || is_known) return;
  pins_.push_back(std::move(object));
}

uint64_t LaunchStaging::NeedOfLaunch(const proto::PrepareLaunch& prepare) {
  const HostProgram* program =
      owner_.FindProgram(prepare.program(), prepare.incarnation());
  if (program == nullptr || prepare.steps() == 0) return 0;
  const proto::Interface& interface = program->plan->plan().interface();
  if (prepare.arguments_size() != interface.arguments_size() ||
      prepare.results_size() != interface.results_size()) {
    return 0;
  }
  uint64_t need = 0;
  for (int i = 0; i < interface.arguments_size(); ++i) {
    const uint64_t id = prepare.arguments(i);
    if (is_new_) Pin(id);
    const bool is_fresh =
        std::count(prepare.fresh().begin(), prepare.fresh().end(), id) > 0;
    const bool is_first =
        std::find(prepare.arguments().begin(), prepare.arguments().end(), id) ==
        prepare.arguments().begin() + i;
    if (!is_fresh || !is_first || store_.Find(id) != nullptr) continue;
    need = AddBytes(
        need, TotalBytes(program->argument_bytes[i],
                         interface.arguments(i).stepped(), prepare.steps()));
  }
  for (int r = 0; r < interface.results_size(); ++r) {
    need = AddBytes(
        need, TotalBytes(program->result_bytes[r],
                         interface.results(r).stepped(), prepare.steps()));
  }
  return need;
}

uint64_t LaunchStaging::NeedOf(const Waiting& next) {
  uint64_t need = next.bytes;
  if (next.attempt == nullptr) {
    const proto::Control& control = *next.control;
    if (control.has_prepare_launch()) {
      need = NeedOfLaunch(control.prepare_launch());
    } else if (control.has_fetch_begin() && is_new_) {
      Pin(control.fetch_begin().object());
    }
  }
  is_new_ = false;
  return need;
}

bool LaunchStaging::HasRoom(const Waiting& next) {
  const bool is_new = is_new_;
  uint64_t need = NeedOf(next);
  std::vector<HostStore::Ref> away;
  uint64_t here = 0, coming = 0;  // bytes of the pinned arrays
  for (const HostStore::Ref& object : pins_) {
    if (object->away()) away.push_back(object);
    uint64_t& sum = object->away() ? coming : here;
    sum = AddBytes(sum, object->bytes);
  }
  need = AddBytes(need, coming);
  if (need == 0) return true;
  if (need <= arena_.room()) {
    if (away.empty() || (has_read_ && !spiller_->busy())) return true;
    if (!spiller_->busy()) {
      has_read_ = true;
      spiller_->Bring(std::move(away));
    }
    return false;
  }
  if (spiller_->busy()) return false;
  if (is_new) spiller_->Forgive();
  switch (spiller_->Spill(coming)) {
    case Spiller::Step::kBegun:
      return false;
    case Spiller::Step::kFailed:
      return true;  // proceed, and report the failure
    case Spiller::Step::kPinned:
      break;
  }
  // The grant of a launch that is begun without LaunchReady may already be on
  // this host, and no later grant of another launch is applied before it.
  if (std::any_of(queue_.begin(), queue_.end(), [](const Waiting& one) {
        return one.attempt == nullptr && one.control->prepare_launch().sure();
      })) {
    return true;
  }
  // Arrays that are in use will be released. So wait, unless `need` exceeds
  // what the store can ever have.
  const uint64_t taken = arena_.used() - store_.bytes_in_memory();
  const uint64_t most = arena_.bound() - std::min(arena_.bound(), taken);
  return need > most - std::min(most, here);
}

}  // namespace pathways
