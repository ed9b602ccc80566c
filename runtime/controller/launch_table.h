//===- launch_table.h - Launches, from request to end -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LAUNCH_TABLE_H_
#define RUNTIME_CONTROLLER_LAUNCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/record_pool.h"
#include "runtime/controller/failure.h"
#include "runtime/controller/launch_spec.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// Launches from request to end: what each waits for, and with what status it
// ends. Invariants: (1) a launch becomes ready, once, when all hosts that it
// asks have its values, and all launches that fill its arguments and all
// earlier launches of its program have all their grants: nothing else holds it
// back; (2) a launch ends once, after the launches that fill its arguments,
// with their first failure, or with the smallest failure of its own; (3) a
// launch that ends before it was granted also ends the launches that read its
// results; (4) a launch that has ended has released its references to its
// arguments and is no longer in the table; (5) a launch claims at least as much
// as any launch that waits for it. Grants are decided elsewhere. One owner
// calls it; it sends nothing and knows no clock. Calls append to `effects`.
class LaunchTable {
 public:
  struct Launch {
    uint64_t id = 0, steps = 0;
    uint64_t first_step = 0;  // number of the first step
    uint32_t program = 0;
    TimeNs asked = 0;
    Claim claim;           // including inherited claims
    bool ready = false;    // may be granted
    bool begun = false;    // has its first grant
    bool granted = false;  // has all its grants
    bool over = false;     // all firings on all islands are over
    absl::Span<const int32_t> hosts;
    WaitSet staging;  // hosts that have not confirmed its values
    WaitSet running;  // islands on which it is not over
    // Launches that fill its arguments and are not granted, or have not ended;
    // and launches that read its results.
    uint32_t ungranted = 0, unended = 0;
    std::vector<uint64_t> readers;
    std::vector<uint64_t> arguments, results;  // objects
    absl::Status refusal;  // status of the smallest host that refused
    int32_t refused_by = 0;
    bool failed = false;
    Failure failure;
    absl::Status cancelled;          // OK: it was not cancelled
    std::vector<uint32_t> poisoned;  // results, ascending

    void Reset();
  };

  explicit LaunchTable(ObjectTable* objects) : objects_(*objects) {}

  // Returns OK if the launch's arguments exist with the given hosts and bytes,
  // and its results are new. Returns FailedPrecondition if the launch that was
  // to fill an argument did not begin. Returns InvalidArgument if an argument
  // is another array, or a new object exists already.
  absl::Status Check(const LaunchSpec& spec, const std::string& program) const;
  // Adds a launch. If an argument is missing, the launch ends in the call;
  // otherwise the caller must send its hosts what they need.
  void Add(const LaunchSpec& spec, LaunchEffects* effects);
  // Ends a launch at once. Launches that read its results are refused with the
  // same error.
  void Refuse(const LaunchSpec& spec, const absl::Status& status,
              LaunchEffects* effects);

  // A host has the launch's values, or `status` says why it has not.
  void Staged(uint64_t launch, int32_t host, const absl::Status& status,
              LaunchEffects* effects);
  // A host was silent for too long, which counts as a refusal of all launches
  // that wait for it.
  void Unanswered(int32_t host, const absl::Status& status,
                  LaunchEffects* effects);
  // Cancels a launch. A launch without a grant ends. Returns true if it has a
  // grant but not all: the caller must cut it short, and it ends with `why`
  // when it is over.
  bool Cancel(uint64_t launch, const absl::Status& why, LaunchEffects* effects);
  // Sets the number of steps of a launch that was cut short.
  void Shorten(uint64_t launch, uint64_t steps);
  // Priority inheritance: the launch inherits `claim` from others that wait for
  // it.
  void Inherit(uint64_t launch, const Claim& claim, LaunchEffects* effects);
  // A launch that was ready has its first grant.
  void Begun(uint64_t launch);
  // The launch has all its grants.
  void Granted(uint64_t launch, LaunchEffects* effects);
  // The launch is over on an island. `failure`: the smallest one there, or
  // null.
  void Done(uint64_t launch, int32_t island, const Failure* failure,
            absl::Span<const uint32_t> poisoned, LaunchEffects* effects);
  // Ends all launches of a program that was given up.
  void Abort(uint32_t program, const absl::Status& status,
             LaunchEffects* effects);

  const Launch* Find(uint64_t launch) const { return launches_.Find(launch); }
  // Returns the launches of a program that have not ended, in the order of
  // their requests.
  const std::vector<uint64_t>& Open(uint32_t program) const;
  // Returns true if a launch waits for this host to have its values.
  bool Stages(int32_t host) const;
  size_t size() const { return launches_.size(); }

 private:
  // Launches of a program that have not ended, in the order of their requests;
  // the first `granted` of them have all their grants.
  struct ProgramLaunches {
    std::vector<uint64_t> open;
    size_t granted = 0;
  };
  // The end of a launch, carried out later in the same call.
  struct Ending {
    uint64_t launch = 0;
    absl::Status status;
    bool completed = false;
  };

  // Priority inheritance: what `launch` waits for inherits its claim.
  void Hurry(uint64_t launch, LaunchEffects* effects);
  // Records that `launch` waits for the launch `filling`; 0: none.
  void Follow(uint64_t filling, Launch* launch);
  // Makes the next launch of the program ready, if nothing else holds it back.
  void Offer(ProgramLaunches* program, LaunchEffects* effects);
  // Ends the launch if it is over, and so are the launches that it waits for.
  void EndIfOver(const Launch& launch);
  // Ends the launches of endings_, and all that end with them.
  void EndAll(LaunchEffects* effects);
  void End(Launch* launch, const Ending& ending, LaunchEffects* effects);

  ObjectTable& objects_;
  RecordPool<Launch> launches_;
  std::map<uint32_t, ProgramLaunches> programs_;
  std::vector<Ending> endings_;  // empty between calls
  std::vector<uint64_t> hurry_;  // reused to avoid allocations
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_TABLE_H_
