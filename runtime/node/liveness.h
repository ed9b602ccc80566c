//===- liveness.h - Who has not been heard for long -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_LIVENESS_H_
#define RUNTIME_NODE_LIVENESS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"

namespace pathways {

struct LivenessOptions {
  absl::Duration ping = absl::Milliseconds(250);  // between two questions
  absl::Duration slow = absl::Seconds(1);         // of silence
  absl::Duration lost = absl::Seconds(10);
};

// Counts for how long processes that are asked again and again have been
// silent. Time is what ticks bring, each at most two intervals: who counts may
// have been stopped itself, and what was said meanwhile is not read yet. One
// owner calls it.
class Liveness {
 public:
  explicit Liveness(const LivenessOptions& options) : options_(options) {}

  enum What { kSlow, kLost };
  struct Change {
    uint32_t process = 0;
    What what = kSlow;
    bool operator==(const Change&) const = default;
  };

  void Add(uint32_t process) { peers_[process] = {}; }
  void Remove(uint32_t process) { peers_.erase(process); }
  // It has answered. True: it was slow.
  bool Heard(uint32_t process);
  // Time has passed since the last tick. Returns who became slow, or is lost,
  // which is said once; ascending.
  std::vector<Change> Tick(absl::Duration passed);

  bool IsSlow(uint32_t process) const;
  // Since it was last heard; of one that is not here: 0.
  absl::Duration SilenceOf(uint32_t process) const;
  const LivenessOptions& options() const { return options_; }

 private:
  struct Peer {
    absl::Duration silence;
    bool slow = false, lost = false;
  };

  const LivenessOptions options_;
  std::map<uint32_t, Peer> peers_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_LIVENESS_H_
