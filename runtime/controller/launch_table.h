//===- launch_table.h - Launches, until they end ----------------*- C++ -*-===//
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
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// What a client asks for. Launches and objects go by ids that say whose they
// are (runtime/protocol/client_id.h).
struct LaunchSpec {
  struct Array {
    uint64_t object = 0;               // 0: no host holds a byte of it
    absl::Span<const uint32_t> hosts;  // that hold blocks of it, ascending
    absl::Span<const uint64_t> bytes;  // on each
    // Of an argument: its values come with this launch, and whether the client
    // refers to it beyond the launch.
    bool fresh = false, keep = false;
    // Of one that is fresh: why it has no values, of no bytes then; and whether
    // the launch that was to fill it never began.
    absl::Status failure;
    bool missing = false;
  };
  uint64_t launch = 0;
  uint32_t program = 0;
  uint64_t steps = 0;
  uint64_t first_step = 0;  // the number of the first one
  TimeNs asked = 0;
  Claim claim;
  // Hosts that have values of it, and islands that each say when it is over.
  // Both outlive the launch.
  absl::Span<const int32_t> hosts, islands;
  // Whether it begins only when its hosts have said that they have its values
  // and room for more. Otherwise they surely do.
  bool asks = true;
  std::vector<Array> arguments, results;
};

// What is to be done after a fact, each list in order.
struct LaunchEffects {
  struct End {
    uint64_t launch = 0, steps = 0;
    absl::Status status;
    bool completed = false;          // all its firings are over
    bool granted = false;            // it had all its grants
    std::vector<uint32_t> poisoned;  // results without values, ascending
  };
  std::vector<uint64_t> ready;     // to be granted
  std::vector<uint64_t> urgent;    // that claim more than before
  std::vector<uint64_t> given_up;  // granted, and not to be waited for
  std::vector<End> ended;          // of which their clients are told
  std::vector<Drop> drops;         // of which hosts are told

  void Clear();
  bool empty() const;
};

// Launches from the request to the end: what each waits for, and what it ends
// with. Invariants: (1) a launch is ready, once, when all hosts that it asks
// have its values, those that fill its arguments have been granted, and so have
// those of its program that were asked for before: nothing else holds it back;
// (2) it ends once, behind the launches that fill its arguments, with the first
// failure of those or with the smallest of its own; (3) one that was not
// granted when it ended takes those along that read its results; (4) when it
// has ended, its arguments have a reference less and it is here no more; (5) it
// claims no less than any launch that waits for it. What
// is granted, when, and in what portions is decided elsewhere. One owner calls
// it; it sends nothing and knows no clock. Effects are added to what is there.
class LaunchTable {
 public:
  struct Launch {
    uint64_t id = 0, steps = 0;
    uint64_t first_step = 0;  // the number of the first one
    uint32_t program = 0;
    TimeNs asked = 0;
    Claim claim;           // with what it has of those that wait for it
    bool ready = false;    // to be granted
    bool begun = false;    // it has its first grant
    bool granted = false;  // it has all its grants
    bool over = false;     // all its firings, on all islands
    absl::Span<const int32_t> hosts;
    WaitSet staging;  // hosts that have not said that they have its values
    WaitSet running;  // islands on which it is not over
    // Of the launches that fill its arguments, and those that read its results.
    uint32_t ungranted = 0, unended = 0;
    std::vector<uint64_t> readers;
    std::vector<uint64_t> arguments, results;  // objects
    absl::Status refusal;  // of the smallest host that refused
    int32_t refused_by = 0;
    bool failed = false;
    Failure failure;
    absl::Status cancelled;          // why, if it was
    std::vector<uint32_t> poisoned;  // results, ascending

    void Reset();
  };

  explicit LaunchTable(ObjectTable* objects) : objects_(*objects) {}

  // Whether its arguments are there, as large as they are to be, and what it
  // makes is new. FailedPrecondition: an argument is not there, since the
  // launch that was to fill it did not begin. InvalidArgument: it is another
  // array, or what is to be new is not.
  absl::Status Check(const LaunchSpec& spec, const std::string& program) const;
  // Takes it. It may have ended then, when an argument is missing; otherwise
  // the hosts are to be told what they must have.
  void Add(const LaunchSpec& spec, LaunchEffects* effects);
  // Ends it at once: what reads its results is refused with the same error.
  void Refuse(const LaunchSpec& spec, const absl::Status& status,
              LaunchEffects* effects);

  // A host has the values, or says why not.
  void Staged(uint64_t launch, int32_t host, const absl::Status& status,
              LaunchEffects* effects);
  // A host has not been heard for too long: as if it had refused all launches
  // that wait for it.
  void Unanswered(int32_t host, const absl::Status& status,
                  LaunchEffects* effects);
  // Nobody wants it any more: one that has no grant ends. Whether it has, and
  // not all: it is to be cut short, and ends with `why` when it is over.
  bool Cancel(uint64_t launch, const absl::Status& why, LaunchEffects* effects);
  // It was cut: it has so many steps.
  void Shorten(uint64_t launch, uint64_t steps);
  // Others wait for it who claim this.
  void Inherit(uint64_t launch, const Claim& claim, LaunchEffects* effects);
  // One that was ready has its first grant.
  void Begun(uint64_t launch);
  // It has all its grants.
  void Granted(uint64_t launch, LaunchEffects* effects);
  // It is over on an island. `failure`: the smallest there, or null.
  void Done(uint64_t launch, int32_t island, const Failure* failure,
            absl::Span<const uint32_t> poisoned, LaunchEffects* effects);
  // Ends all launches of a program that cannot go on.
  void Abort(uint32_t program, const absl::Status& status,
             LaunchEffects* effects);

  const Launch* Find(uint64_t launch) const { return launches_.Find(launch); }
  // Launches of a program that have not ended, in the order of asking.
  const std::vector<uint64_t>& Open(uint32_t program) const;
  // Whether a launch waits for this host to have its values.
  bool Stages(int32_t host) const;
  size_t size() const { return launches_.size(); }

 private:
  // Those that have not ended, in order of asking: first the granted ones.
  struct ProgramLaunches {
    std::vector<uint64_t> open;
    size_t granted = 0;
  };
  // An end to come in this call.
  struct Ending {
    uint64_t launch = 0;
    absl::Status status;
    bool completed = false;
  };

  // What `launch` waits for is as urgent as itself.
  void Hurry(uint64_t launch, LaunchEffects* effects);
  // `launch` waits for `filling`.
  void Follow(uint64_t filling, Launch* launch);
  // The next one of the program is ready, if nothing else holds it back.
  void Offer(ProgramLaunches* program, LaunchEffects* effects);
  // It ends if it is over, and so are those that it waits for.
  void EndIfOver(const Launch& launch);
  // Ends those of endings_, and all that end with them.
  void EndAll(LaunchEffects* effects);
  void End(Launch* launch, const Ending& ending, LaunchEffects* effects);

  ObjectTable& objects_;
  RecordPool<Launch> launches_;
  std::map<uint32_t, ProgramLaunches> programs_;
  std::vector<Ending> endings_;  // empty between calls
  std::vector<uint64_t> hurry_;  // likewise; used again, as its memory is
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_TABLE_H_
