//===- measure.cc - Profile of a trace ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/measure.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/profile.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "runtime/trace/log_index.h"
#include "runtime/trace/sent_messages.h"
#include "runtime/trace/trace.h"

namespace pathways {
namespace {

// Messages of at most kSmallBytes measure the latency of a link, and those of
// at least kLargeBytes its bandwidth.
constexpr uint64_t kSmallBytes = 4 << 10;
constexpr uint64_t kLargeBytes = 64 << 10;

// Returns the median; for an even number of values, the lower of the two.
template <typename T>
T Median(std::vector<T> values) {
  auto middle = values.begin() + (values.size() - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

TimeNs LengthOf(const TraceEvent& e) {
  return static_cast<TimeNs>(e.value) - e.time;
}

// Durations of the runs of one thing.
class Times {
 public:
  void Add(const TraceEvent& event, TimeNs ns) {
    (event.firing == 0 ? first_ : later_).push_back(std::max<TimeNs>(1, ns));
  }
  // Returns the median. First firings run with cold memory, so they count only
  // if there are no others.
  uint64_t ns() const {
    return std::min<uint64_t>(Median(counted()), kMaxCostNs);
  }
  uint64_t runs() const { return counted().size(); }

 private:
  const std::vector<TimeNs>& counted() const {
    return later_.empty() ? first_ : later_;
  }
  std::vector<TimeNs> first_, later_;
};

// Latencies and bandwidths of the messages on one kind of link.
class LinkTimes {
 public:
  void Add(uint64_t bytes, TimeNs ns) {
    if (bytes <= kSmallBytes) small_.push_back(std::max<TimeNs>(1, ns));
    if (bytes >= kLargeBytes) large_.emplace_back(bytes, ns);
  }
  // Returns nullopt if there were no small messages: without them the latency
  // is unknown.
  std::optional<proto::Link> Measure() const {
    if (small_.empty()) return std::nullopt;
    proto::Link link;
    const TimeNs latency = Median(small_);
    link.set_latency_seconds(static_cast<double>(latency) * 1e-9);
    std::vector<double> rates;
    for (auto [bytes, ns] : large_) {
      if (ns <= latency) continue;
      rates.push_back(static_cast<double>(bytes) * 1e9 /
                      static_cast<double>(ns - latency));
    }
    if (!rates.empty()) link.set_bytes_per_second(Median(std::move(rates)));
    return link;
  }

 private:
  std::vector<TimeNs> small_;
  std::vector<std::pair<uint64_t, TimeNs>> large_;
};

class Measurer {
 public:
  Measurer(const TraceLog& log, const proto::Header& header)
      : log_(log), header_(header), index_(&log) {}

  absl::StatusOr<proto::Profile> Run() {
    for (const TraceEvent& e : log_.events) {
      if (e.Kind() == TraceKind::kMeet) waits_[FiringOf(e)] += LengthOf(e);
    }
    for (const TraceEvent& e : log_.events) {
      const proto::Plan* plan = index_.plan(e.program);
      const proto::Action* action = index_.action(e);
      if (e.poisoned || action == nullptr || !IsMeasured(*plan)) continue;
      if (e.Kind() == TraceKind::kGang) AddGang(e, *plan, *action);
      if (e.Kind() == TraceKind::kMove) AddMove(e, *plan, *action);
    }
    if (computations_.empty() && movements_.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the trace has no firing of program ",
                       Quoted(header_.program()), " to measure"));
    }
    AddMessages();
    return Write();
  }

 private:
  using Firing = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>;
  static Firing FiringOf(const TraceEvent& e) {
    return {e.program, e.target, e.firing, e.actor};
  }

  bool IsMeasured(const proto::Plan& plan) const {
    return plan.header().program() == header_.program() &&
           plan.header().fingerprint() == header_.fingerprint();
  }

  // Adds a device's own time for a gang, without waits for others, per shard.
  void AddGang(const TraceEvent& e, const proto::Plan& plan,
               const proto::Action& gang) {
    auto [known, is_new] = of_action_.try_emplace({e.program, e.target});
    if (is_new) known->second = ComputationOf(plan, gang);
    const int64_t shards = static_cast<int64_t>(
        index_.ShardsOn(e.program, gang.slice(), e.actor).size());
    if (!known->second.has_value() || shards == 0) return;
    auto waited = waits_.find(FiringOf(e));
    const TimeNs own =
        LengthOf(e) - (waited == waits_.end() ? 0 : waited->second);
    computations_[*known->second].Add(e, own / shards);
  }

  void AddMove(const TraceEvent& e, const proto::Plan& plan,
               const proto::Action& action) {
    const bool is_written =
        action.kind() == proto::FEED || action.kind() == proto::RECV;
    const uint32_t buffer = is_written ? action.results(0) : action.operands(0);
    movements_[{action.kind(), plan.buffers(static_cast<int>(buffer)).bytes()}]
        .Add(e, LengthOf(e));
  }

  // Adds the messages between processes; within a process there is no link.
  void AddMessages() {
    const trace::SentMessages messages(index_);
    for (const TraceEvent& e : log_.events) {
      if (e.Kind() != TraceKind::kReceived) continue;
      const TraceActor* to = index_.actor(e.actor);
      const TraceEvent* sent =
          to == nullptr
              ? nullptr
              : messages.Find(static_cast<int>(e.other), to->host, e.value);
      if (sent == nullptr) continue;
      const TraceActor& from = *index_.actor(sent->actor);
      if (from.host < 0 || to->host < 0 || from.process == to->process) {
        continue;
      }
      (from.island == to->island ? ici_ : dcn_)
          .Add(e.firing, e.time - sent->time);
    }
  }

  proto::Profile Write() const {
    proto::Profile profile;
    profile.set_version(kProfileVersion);
    profile.set_program(header_.program());
    profile.set_fingerprint(header_.fingerprint());
    for (const auto& [computation, times] : computations_) {
      proto::Profile::Computation* entry = profile.add_computations();
      entry->set_name(computation.name);
      entry->set_signature(computation.signature);
      entry->set_ns(times.ns());
      entry->set_runs(times.runs());
    }
    for (const auto& [movement, times] : movements_) {
      proto::Profile::Movement* entry = profile.add_movements();
      entry->set_kind(movement.first);
      entry->set_bytes(movement.second);
      entry->set_ns(times.ns());
      entry->set_runs(times.runs());
    }
    if (auto ici = ici_.Measure()) *profile.mutable_ici() = *ici;
    if (auto dcn = dcn_.Measure()) *profile.mutable_dcn() = *dcn;
    return profile;
  }

  const TraceLog& log_;
  const proto::Header& header_;
  LogIndex index_;
  std::map<Firing, TimeNs> waits_;  // times in collectives
  std::map<std::pair<uint32_t, uint32_t>, std::optional<Computation>>
      of_action_;
  std::map<Computation, Times> computations_;
  std::map<std::pair<proto::ActionKind, uint64_t>, Times> movements_;
  LinkTimes ici_, dcn_;
};

}  // namespace

absl::Status CheckMeasurable(const proto::Header& header) {
  if (!header.fingerprint().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the plan of ", Quoted(header.program()),
                   " has no fingerprint, by which a profile is known; compile "
                   "it from its program"));
}

absl::StatusOr<proto::Profile> MeasureProfile(const TraceLog& log,
                                              const proto::Header& header) {
  absl::Status measurable = CheckMeasurable(header);
  if (!measurable.ok()) return measurable;
  return Measurer(log, header).Run();
}

}  // namespace pathways
