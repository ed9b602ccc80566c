//===- fibers.cc - Several callers of one simulation ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/fibers.h"

#include <algorithm>

namespace pathways::simulate {
namespace {

thread_local int this_fiber = -1;

}  // namespace

Fibers::~Fibers() {
  for (Fiber& fiber : fibers_) {
    if (fiber.thread.joinable()) fiber.thread.join();
  }
}

void Fibers::Add(std::function<void()> body) {
  fibers_.emplace_back().body = std::move(body);
}

bool Fibers::IsFiber() const { return this_fiber >= 0; }

void Fibers::Enter(size_t number) {
  this_fiber = static_cast<int>(number);
  Fiber& fiber = fibers_[number];
  fiber.turn.acquire();
  fiber.body();
  fiber.ended = true;
  turn_.release();
}

void Fibers::Resume(size_t number, bool reached) {
  Fiber& fiber = fibers_[number];
  fiber.reached = reached;
  if (!fiber.thread.joinable()) {
    fiber.thread = std::thread([this, number] { Enter(number); });
  }
  fiber.turn.release();
  turn_.acquire();
}

bool Fibers::Wait(absl::FunctionRef<bool()> done) {
  if (done()) return true;
  Fiber& fiber = fibers_[static_cast<size_t>(this_fiber)];
  fiber.done = &done;
  turn_.release();
  fiber.turn.acquire();
  return fiber.reached;
}

bool Fibers::Run(const std::function<bool()>& is_over) {
  const auto ready = [&] {
    return std::any_of(fibers_.begin(), fibers_.end(),
                       [&](const Fiber& fiber) { return IsReady(fiber); });
  };
  const auto pick = [&](auto may) {
    std::vector<size_t> able;
    for (size_t i = 0; i < fibers_.size(); ++i) {
      if (may(fibers_[i])) able.push_back(i);
    }
    return able[random_.UpTo(able.size() - 1)];
  };
  while (true) {
    if (std::all_of(fibers_.begin(), fibers_.end(),
                    [](const Fiber& fiber) { return fiber.ended; })) {
      return true;
    }
    const bool reached = world_.RunUntil([&] { return is_over() || ready(); });
    if (is_over()) return false;
    if (reached) {
      Resume(pick([&](const Fiber& f) { return IsReady(f); }), true);
    } else {
      // Nothing is left to happen: one of those that wait is told.
      Resume(pick([](const Fiber& f) { return !f.ended; }), false);
    }
  }
}

}  // namespace pathways::simulate
