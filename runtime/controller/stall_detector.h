//===- stall_detector.h - Rounds of stall queries to hosts ------*- C++ -*-===//
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

// Finds programs that do not advance, in rounds. In a round, all hosts of all
// programs with open launches are asked for the oldest action that has not
// happened. Invariants: (1) there is one round at a time, and answers to other
// rounds are ignored; (2) a program that made progress within the timeout, or
// one of whose hosts has not answered, is not given up, except after Force; (3)
// of programs that wait for each other in a circle one is given up, with the
// circle as the reason. One owner calls it; it sends nothing, and is told the
// time.
class StallDetector {
 public:
  // A program with launches that have not ended.
  struct Subject {
    uint32_t program = 0, incarnation = 0;
    const PreparedPlan* plan = nullptr;
    TimeNs since = 0;  // time of the oldest of these requests
    // True if a launch is granted and not over. Then the next fields describe
    // the first such launch: the numbers of its steps, the end of the granted
    // firings, and the islands where it is not over.
    bool running = false;
    uint64_t launch = 0, end = 0;
    StepNumbers numbers;
    std::vector<int32_t> islands;
    // True if the oldest launch is not ready. Then `hosts` have not confirmed
    // its values.
    bool staging = false;
    std::vector<int32_t> hosts;
  };
  // A program to be given up, and what it waits for.
  struct Verdict {
    uint32_t program = 0;
    std::string text;
  };

  // `topology` must outlive the detector.
  StallDetector(const Topology& topology, TimeNs timeout_ns)
      : topology_(topology), timeout_ns_(timeout_ns) {}

  // Begins a round and returns its number. The caller must ask all hosts of the
  // subjects.
  uint64_t Begin(absl::Span<const Subject> subjects);
  bool in_round() const { return in_round_; }
  // Returns true if the hosts that have not answered should be asked again.
  // Each host is asked at most kAsks times.
  static constexpr int kAsks = 3;
  bool AskAgain();
  // Return the number of the round, and the program's hosts that have not
  // answered.
  uint64_t round() const { return round_; }
  std::vector<int32_t> Awaited(uint32_t program) const;
  // Returns true if all answers of the round have come.
  bool complete() const;
  void Add(const proto::Report& report);
  // Declares that nothing will happen any more. Finish then also gives up
  // programs that only seem to advance.
  void Force() { forced_ = true; }
  // Ends the round. `subjects`: the current ones.
  std::vector<Verdict> Finish(TimeNs now, absl::Span<const Subject> subjects);

 private:
  struct Watched {
    uint32_t incarnation = 0;
    WaitSet waiting;  // hosts that have not answered in this round
    std::map<uint32_t, proto::Report> reports;  // by host
    uint64_t fired = 0;   // firings at the end of the last round
    TimeNs progress = 0;  // time of the last progress
  };

  // Returns the program's stall if it has lasted for too long.
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
