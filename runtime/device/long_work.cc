//===- long_work.cc - Work that takes longer than it should ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/long_work.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace pathways {
namespace {

LongWork Describe(const PreparedPlan& plan, const WorkLocation& where,
                  TimeNs ns) {
  const proto::Action& action =
      plan.plan().actions(static_cast<int>(where.action));
  LongWork work;
  work.program = plan.name();
  work.action = action.name();
  work.location = action.location();
  work.step = where.step;
  work.shard = where.shard;
  work.ns = ns;
  return work;
}

}  // namespace

std::string LongWork::Text() const {
  const std::string time = absl::FormatDuration(absl::Nanoseconds(ns));
  const std::string what =
      absl::StrCat(location.empty() ? "" : absl::StrCat(location, ": "), "'",
                   action, "' of program '", program, "'");
  if (kind == kHostWork) {
    return absl::StrCat(what, " is still being prepared for step ", step,
                        " by ", place, " after ", time);
  }
  return absl::StrCat(what, " has not returned for ", time, " at step ", step,
                      " on shard ", shard, " (", place, ")");
}

proto::LongWorkSeen ToProto(const LongWork& work) {
  proto::LongWorkSeen seen;
  seen.set_incarnation(work.incarnation);
  seen.set_host_work(work.kind == LongWork::kHostWork);
  seen.set_program(work.program);
  seen.set_action(work.action);
  seen.set_location(work.location);
  seen.set_place(work.place);
  seen.set_step(work.step);
  seen.set_shard(work.shard);
  seen.set_ns(work.ns);
  return seen;
}

LongWork FromProto(const proto::LongWorkSeen& seen) {
  LongWork work;
  work.incarnation = seen.incarnation();
  work.kind = seen.host_work() ? LongWork::kHostWork : LongWork::kKernel;
  work.program = seen.program();
  work.action = seen.action();
  work.location = seen.location();
  work.place = seen.place();
  work.step = seen.step();
  work.shard = seen.shard();
  work.ns = seen.ns();
  return work;
}

LongWork DescribeKernel(const PreparedPlan& plan, const Topology& topology,
                        const WorkLocation& where, TimeNs ns) {
  LongWork work = Describe(plan, where, ns);
  const SliceBinding& slice =
      plan.bound(plan.plan().actions(static_cast<int>(where.action)).slice());
  work.place = topology.GlobalDeviceName(slice.device_of[where.shard]);
  return work;
}

LongWork DescribeHostWork(const PreparedPlan& plan, const Topology& topology,
                          int host, const WorkLocation& where, TimeNs ns) {
  LongWork work = Describe(plan, where, ns);
  work.kind = LongWork::kHostWork;
  work.place = topology.HostName(host);
  return work;
}

std::optional<WorkLocation> FindKernel(const PreparedPlan& plan,
                                       const Topology& topology,
                                       const KernelCall& call) {
  const int64_t device = topology.GlobalDevice(
      {static_cast<int>(call.host), static_cast<int>(call.device)});
  // A device's queue has the gangs with shards there in the table's order.
  uint32_t gang = 0;
  for (int a = 0; a < plan.plan().actions_size(); ++a) {
    const proto::Action& action = plan.plan().actions(a);
    if (action.kind() != proto::GANG) continue;
    const std::vector<int32_t> shards =
        plan.bound(action.slice()).ShardsOn(device);
    if (shards.empty() || gang++ != call.gang) continue;
    if (call.shard >= shards.size()) return std::nullopt;
    return WorkLocation{static_cast<uint32_t>(a),
                        static_cast<uint32_t>(shards[call.shard]), call.step};
  }
  return std::nullopt;
}

}  // namespace pathways
