//===- stall_detector.h - Rounds of questions to hosts ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_STALL_DETECTOR_H_
#define RUNTIME_CONTROLLER_STALL_DETECTOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/controller/stall.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Finds out which programs do not go on, in rounds: all hosts of all programs
// with open launches are asked for the oldest thing that has not happened.
// Invariants: (1) one round at a time, and an answer to another one counts for
// nothing; (2) a program that has made progress within the timeout, or of which
// a host has not answered, is not ended, unless it is said that nothing can
// happen any more; (3) of programs
// that wait for each other in a circle one is ended, which is named with the
// circle. One owner calls it; it sends nothing, and is told the time.
class StallDetector {
 public:
  // A program with launches that have not ended.
  struct Subject {
    uint32_t program = 0, incarnation = 0;
    const PreparedPlan* plan = nullptr;
    TimeNs since = 0;  // the oldest of them was asked for
    // Whether one is granted and not over; then the first such, the numbers of
    // its steps, the end of what is granted, and where it is not over.
    bool running = false;
    uint64_t launch = 0, end = 0;
    StepNumbers numbers;
    std::vector<int32_t> islands;
    // Whether the oldest of them is not granted, and the hosts that have not
    // said that its values are there.
    bool staging = false;
    std::vector<int32_t> hosts;
  };
  // A program that is to be given up, and what it waits for.
  struct Verdict {
    uint32_t program = 0;
    std::string text;
  };

  // `topology` outlives it.
  StallDetector(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // Begins a round, of which the number is returned: all hosts of the subjects
  // are to be asked.
  uint64_t Begin(absl::Span<const Subject> subjects);
  bool in_round() const { return in_round_; }
  // Whether those that have not answered are to be asked again: so often that
  // each has been asked kAsks times.
  static constexpr int kAsks = 3;
  bool AskAgain();
  // The number of the round, and who has not answered of a program.
  uint64_t round() const { return round_; }
  std::vector<int32_t> Awaited(uint32_t program) const;
  // Whether all answers of the round are there.
  bool complete() const;
  void Add(const proto::Report& report);
  // Nothing will happen any more: what goes on in appearance only is ended too.
  void Force() { forced_ = true; }
  // Ends the round; subjects are those of now.
  std::vector<Verdict> Finish(TimeNs now, absl::Span<const Subject> subjects);

 private:
  struct Watched {
    uint32_t incarnation = 0;
    WaitSet waiting;                            // hosts, in this round
    std::map<uint32_t, proto::Report> reports;  // by host
    uint64_t fired = 0;                         // at the end of the last round
    TimeNs progress = 0;                        // when it was seen last
  };

  // Its stall, if it has been in it for too long.
  std::optional<Stall> Judge(TimeNs now, const Subject& subject,
                             Watched* watched) const;

  const Topology& topology_;
  const TimeNs timeout_ns_;
  bool in_round_ = false, forced_ = false;
  uint64_t round_ = 0;
  int asked_ = 0;
  std::map<uint32_t, Watched> watched_;  // by program
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_STALL_DETECTOR_H_
