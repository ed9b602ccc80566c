//===- watchdog.cc - Finds kernels that do not return ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/watchdog.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/world/futex.h"

namespace pathways {
namespace {

constexpr int kLooks = 4;  // looks in the shorter of the two times
constexpr TimeNs kShortestInterval = 1'000'000;

TimeNs IntervalOf(const WatchOptions& options) {
  TimeNs shorter = options.report_ns;
  if (options.limit_ns > 0 && (shorter <= 0 || options.limit_ns < shorter)) {
    shorter = options.limit_ns;
  }
  return std::max(shorter / kLooks, kShortestInterval);
}

}  // namespace

Watchdog::Watchdog(WatchOptions options, std::shared_ptr<Clock> clock,
                   const std::vector<KernelGate*>* gates,
                   std::function<bool(int, const KernelCall&)> give_up)
    : options_(std::move(options)),
      clock_(std::move(clock)),
      gates_(*gates),
      give_up_(std::move(give_up)),
      interval_(IntervalOf(options_)),
      seen_(gates->size()) {}

absl::Status Watchdog::Start() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start the watchdog: ", error.what()));
  }
  listener_ = clock_->AddListener([this] {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    FutexWake(epoch_, INT_MAX);
  });
  return absl::OkStatus();
}

void Watchdog::Stop() {
  if (!thread_.joinable()) return;
  clock_->RemoveListener(listener_);
  stopping_.store(true, std::memory_order_seq_cst);
  Wake();
  thread_.join();
}

void Watchdog::Wake() {
  awake_.store(true, std::memory_order_seq_cst);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  FutexWake(epoch_, INT_MAX);
}

void Watchdog::Run() {
  TimeNs last = clock_->Now() - interval_;
  while (!stopping_.load(std::memory_order_seq_cst)) {
    // The epoch is read before the conditions: a thread that changes one
    // increments it afterwards.
    const uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
    const TimeNs now = clock_->Now();
    if (!awake_.load(std::memory_order_seq_cst)) {
      FutexWait(epoch_, epoch, -1);
      last = clock_->Now() - interval_;  // the next look is due at once
    } else if (now - last < interval_) {
      FutexWait(epoch_, epoch, clock_->RealDelay(last + interval_));
    } else {
      const bool any = Look(now - last);
      last = now;
      looks_.fetch_add(1, std::memory_order_release);
      if (any || holders_.load(std::memory_order_seq_cst) > 0) continue;
      // A holder that comes meanwhile sees awake_, or is seen here.
      awake_.store(false, std::memory_order_seq_cst);
      if (holders_.load(std::memory_order_seq_cst) > 0) {
        awake_.store(true, std::memory_order_seq_cst);
      }
    }
  }
}

bool Watchdog::Look(TimeNs elapsed) {
  bool any = false;
  for (size_t w = 0; w < seen_.size(); ++w) {
    const std::optional<KernelCall> call = gates_[w]->Read();
    if (!call) {
      seen_[w] = Seen();
      continue;
    }
    any = true;
    Seen& seen = seen_[w];
    if (call->number != seen.number) {
      seen = Seen{call->number};
      continue;
    }
    // A late look counts no more than others: the kernel may have had no time
    // to run either.
    seen.age += std::min(elapsed, interval_);
    if (options_.limit_ns > 0 && seen.age >= options_.limit_ns &&
        give_up_(static_cast<int>(w), *call)) {
      seen = Seen();
      continue;
    }
    if (options_.report_ns > 0 && seen.age >= options_.report_ns &&
        !std::exchange(seen.reported, true) && options_.on_long) {
      options_.on_long(*call, seen.age);
    }
  }
  return any;
}

}  // namespace pathways
