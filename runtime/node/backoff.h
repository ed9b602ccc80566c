//===- backoff.h - Pauses between attempts ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_BACKOFF_H_
#define RUNTIME_NODE_BACKOFF_H_

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace pathways {

// Pauses between attempts to reach a controller that does not listen yet. Each
// pause doubles, up to kLongest, and is shortened by a random part of up to a
// half, so that the workers of a cluster do not all come at once.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kLongest = absl::Seconds(3);

  // `random` returns numbers from 0 to 1.
  explicit Backoff(std::function<double()> random)
      : random_(std::move(random)) {}
  Backoff();

  absl::Duration Next() {
    const absl::Duration pause = next_ * (1 - random_() / 2);
    next_ = std::min(2 * next_, kLongest);
    return pause;
  }
  // Restarts with the shortest pause, after a success.
  void Reset() { next_ = kFirst; }

 private:
  std::function<double()> random_;
  absl::Duration next_ = kFirst;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_BACKOFF_H_
