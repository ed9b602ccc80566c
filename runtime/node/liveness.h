//===- liveness.h - Detection of silent processes ---------------*- C++ -*-===//
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
  absl::Duration ping = absl::Milliseconds(250);  // between two pings
  absl::Duration slow = absl::Seconds(1);         // silence until slow
  absl::Duration lost = absl::Seconds(10);
};

// Measures the silence of processes that are pinged repeatedly. Time advances
// by ticks, each by at most two ping intervals: this process may have been
// stopped itself, with answers still unread. One owner calls it.
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
  // Records an answer. Returns true if the process was slow.
  bool Heard(uint32_t process);
  // Adds the time since the last tick. Returns the processes that became slow
  // or lost, each once, ascending.
  std::vector<Change> Tick(absl::Duration passed);

  bool IsSlow(uint32_t process) const;
  // Returns the time since the last answer; 0 for an unknown process.
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
