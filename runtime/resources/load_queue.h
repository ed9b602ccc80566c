//===- load_queue.h - Loads that wait for memory ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_LOAD_QUEUE_H_
#define RUNTIME_RESOURCES_LOAD_QUEUE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/client_requests.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// Loads of programs, and requests for slices, that wait for memory or devices.
// Invariants: (1) a load that can never be granted, in whatever order, does not
// wait but fails at once with a reason; so every waiting load is granted
// eventually, if clients eventually release what they hold; (2) loads are
// granted in the order of their requests, but a load that fits passes loads
// that do not, each of these kMaxPassed times; after that only clients that
// hold something may pass, because the waiting load may depend on them; (3)
// each load is granted or refused once. One owner calls it; it sends nothing.
class LoadQueue {
 public:
  static constexpr uint32_t kMaxPassed = 16;

  // One program of a load.
  struct Program {
    PlanName name;
    std::shared_ptr<const PreparedPlan> plan;
    uint64_t slice = 0;  // the slice that it takes memory from; 0: none
    // Bytes that it needs, by host, as far as hosts have reported them.
    std::map<int32_t, uint64_t> on_hosts = {};
  };
  // A load of programs, or a request for slices.
  struct Load {
    ClientRequest request;
    std::vector<Program> programs;
    std::vector<DeviceDemand> demands = {};  // by slice
    std::vector<std::string> whats = {};     // their names: "slice 's'"
    TimeNs since = 0;                        // time of the request
    TimeNs deadline = kNoDeadline;           // end of the wait
    int32_t priority = 0;                    // of the client
    bool awaits_devices = false;  // waits for devices that are away, too
    // Bytes by pool. For slices: the devices that they may take, with the
    // smallest number of bytes of each.
    DeviceBytes need = {};
    uint32_t refused = 0;  // times that hosts refused it for lack of room
    uint32_t passed = 0;
    // VersionOf its pools at the last attempt; 0: try it in any case.
    uint64_t version = 0;
    // Admission's away_version plus 1 when the load was last seen to fit into
    // the empty cluster; 0: never.
    mutable uint64_t fits_alone = 0;
    bool stale = false;    // tried since its client was last told why it waits
    std::string why = {};  // the reason, as last sent to the client

    // Returns, for example, "program 'p'" or "slice 's' and slice 't'".
    std::string What() const;
  };
  using NameOf = absl::FunctionRef<std::string(uint32_t client)>;

  // `admission` must outlive the queue.
  explicit LoadQueue(const Admission* admission) : admission_(*admission) {}

  // MayPass returns true if the load may be granted at once, if it fits, before
  // loads that have waited longer. Passed records that it was.
  bool MayPass(const Load& load) const;
  void Passed(const Load& load);
  // Adds a load that does not fit, or may not pass, and sets `why` to the
  // reason of its wait. Returns ResourceExhausted, and does not add it, if it
  // can never be granted: it is too large, or it would wait in a circle, which
  // the message names.
  absl::Status Add(Load load, NameOf name_of, std::string* why);
  // Calls `grant`, in order, for each load whose pools have changed and that
  // may go now. OK: granted; ResourceExhausted: it does not fit and keeps
  // waiting; any other error ends the load. Returns true if some load was
  // tried.
  bool Retry(absl::FunctionRef<absl::Status(const Load&)> grant);
  // Removes and returns, with reasons, the loads that can no longer be granted,
  // because devices are away or were chosen for another load of their client.
  std::vector<std::pair<Load, absl::Status>> TakeStuck(NameOf name_of);
  // Removes and returns the loads whose deadline has passed.
  std::vector<Load> TakeLate(TimeNs now);
  // Removes a load that its client gave up. Returns true if it was waiting.
  bool Remove(ClientRequest request);
  void RemoveAll(uint32_t client);
  // Returns copies of the loads that Retry tried in vain and whose reason for
  // waiting has changed, with the new reason.
  std::vector<Load> Explain(NameOf name_of);

  bool empty() const { return loads_.empty(); }
  // Returns true if a load waits for the host's own memory.
  bool Awaits(int32_t host) const;
  const std::list<Load>& loads() const { return loads_; }
  // Returns the next deadline, or kNoDeadline if there is none.
  TimeNs NextDeadline() const;
  // Returns the highest priority, above `above`, of the loads that wait for
  // memory that the client holds; nullopt if there is none.
  std::optional<int32_t> PriorityOver(uint32_t client, int32_t above) const;

 private:
  static bool Meets(const Load& a, const Load& b);
  // Marks all loads to be tried again, because they may have waited for a load
  // that is removed.
  void TryAll();
  // Returns the indices of the loads that can never be granted. If `more` is
  // not null, it counts as the last waiting load. If `granted` is not null,
  // that load counts as granted.
  std::vector<size_t> Stuck(const Load* more, const Load* granted) const;
  // Returns true if no waiting client, with that of `more`, holds anything or
  // waits twice. Then everything that is held is released eventually, and each
  // load that fits alone is granted.
  bool AreApart(const Load* more) const;
  bool FitsAlone(const Load& load) const;
  // Returns true if the other loads can still be granted once this load's
  // client has what it asks for, even if that client then waits for memory that
  // they hold.
  bool IsSafe(const Load& load) const;
  std::string Why(const Load& load, NameOf name_of) const;
  std::string Circle(const Load& load, const std::vector<size_t>& stuck,
                     NameOf name_of) const;

  const Admission& admission_;
  std::list<Load> loads_;
  uint64_t away_ = 0;        // Admission::away_version at the last check
  bool has_chosen_ = false;  // a load granted since then has chosen devices
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_LOAD_QUEUE_H_
