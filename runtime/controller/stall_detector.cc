//===- stall_detector.cc - Rounds of stall queries to hosts ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall_detector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using Stalls = std::map<uint32_t, Stall>;  // by program
using Plans = std::map<uint32_t, const PreparedPlan*>;

// Follows the chain from `program`, each program waiting for the next, and
// returns the circle at its end. Returns nothing if it does not end in one.
std::vector<uint32_t> FindCircle(const Stalls& stalls, uint32_t program) {
  std::vector<uint32_t> chain;
  while (std::find(chain.begin(), chain.end(), program) == chain.end()) {
    auto stall = stalls.find(program);
    if (stall == stalls.end() || stall->second.kind != Stall::kBlocked) {
      return {};
    }
    chain.push_back(program);
    program = stall->second.blocked_by;
  }
  chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), program));
  return chain;
}

std::string CircleText(const Stalls& stalls, const Plans& plans,
                       const std::vector<uint32_t>& circle) {
  std::string text = "programs wait for each other";
  for (uint32_t program : circle) {
    const auto found = stalls.find(program);
    const auto plan = plans.find(program);
    if (found == stalls.end() || plan == plans.end()) continue;
    const Stall& stall = found->second;
    const auto blocked_by = plans.find(stall.blocked_by);
    if (blocked_by == plans.end()) continue;
    const PreparedPlan& by = *blocked_by->second;
    // The number comes from a host and is not trusted.
    const bool is_action =
        stall.blocked_action < static_cast<uint32_t>(by.plan().actions_size());
    absl::StrAppend(
        &text, "; '", plan->second->name(), "': ", stall.text, " is behind '",
        is_action ? by.plan().actions(stall.blocked_action).name() : "?",
        "' of '", by.name(), "'");
  }
  return text;
}

}  // namespace

uint64_t StallDetector::Begin(absl::Span<const Subject> subjects) {
  in_round_ = true;
  std::map<uint32_t, Watched> watched;
  for (const Subject& subject : subjects) {
    Watched& one = watched[subject.program];
    auto before = watched_.find(subject.program);
    if (before != watched_.end() &&
        before->second.incarnation == subject.incarnation) {
      one = std::move(before->second);
    }
    one.incarnation = subject.incarnation;
    one.waiting.Assign(subject.plan->binding().hosts());
    one.reports.clear();
  }
  watched_ = std::move(watched);
  asked_ = 1;
  return ++round_;
}

bool StallDetector::AskAgain() {
  if (asked_ == kAsks) return false;
  ++asked_;
  return true;
}

std::vector<int32_t> StallDetector::Awaited(uint32_t program) const {
  auto found = watched_.find(program);
  return found == watched_.end() ? std::vector<int32_t>()
                                 : found->second.waiting.Members();
}

bool StallDetector::complete() const {
  return in_round_ &&
         std::all_of(watched_.begin(), watched_.end(), [](const auto& watched) {
           return watched.second.waiting.empty();
         });
}

void StallDetector::Add(const proto::Report& report) {
  if (!in_round_ || report.round() != round_) return;
  auto found = watched_.find(report.program());
  if (found == watched_.end() ||
      found->second.incarnation != report.incarnation() ||
      !found->second.waiting.Erase(static_cast<int32_t>(report.host()))) {
    return;
  }
  found->second.reports[report.host()] = report;
}

std::optional<Stall> StallDetector::Judge(TimeNs now, const Subject& subject,
                                          Watched* watched) const {
  watched->progress = std::max(watched->progress, subject.since);
  if (!subject.running) {
    // Values are on their way to hosts; or all has happened, and the end waits
    // for that of a launch that filled an argument.
    watched->progress = now;
    if (!forced_ || !subject.staging) return std::nullopt;
    Stall stall;
    stall.kind = Stall::kRoot;
    stall.text = "a launch that fills an argument has not begun";
    for (size_t h = 0; h < subject.hosts.size(); ++h) {
      const std::string name = topology_.HostName(subject.hosts[h]);
      if (h == 0) stall.text = "the values of a launch are not on ";
      absl::StrAppend(&stall.text, h == 0 ? "" : ", ", name);
    }
    return stall;
  }
  if (!forced_ && !watched->waiting.empty()) {
    // A device is in a kernel, which is watched elsewhere, or the host is busy.
    watched->progress = now;
    return std::nullopt;
  }
  uint64_t fired = 0;
  for (const auto& [host, report] : watched->reports) fired += report.fired();
  Stall stall = ClassifyStall(*subject.plan, topology_, watched->reports,
                              subject.numbers, subject.end, subject.islands);
  if (!forced_ && (stall.kind == Stall::kProgress || fired != watched->fired)) {
    watched->progress = now;
  }
  watched->fired = fired;
  if (!forced_ && now - watched->progress < timeout_ns_) return std::nullopt;
  return stall;
}

std::vector<StallDetector::Verdict> StallDetector::Finish(
    TimeNs now, absl::Span<const Subject> subjects) {
  Stalls stalls;
  Plans plans;
  const auto judge = [&](const Subject& subject, Watched* watched) {
    std::optional<Stall> stall = Judge(now, subject, watched);
    if (stall.has_value()) stalls[subject.program] = *std::move(stall);
  };
  // Programs that were launched or loaded since the round began.
  std::vector<const Subject*> unasked;
  for (const Subject& subject : subjects) {
    plans[subject.program] = subject.plan;
    auto found = watched_.find(subject.program);
    if (found != watched_.end() &&
        found->second.incarnation == subject.incarnation) {
      judge(subject, &found->second);
    } else {
      unasked.push_back(&subject);
    }
  }
  std::vector<Verdict> verdicts;
  const auto blame_roots = [&] {
    for (const auto& [program, stall] : stalls) {
      if (stall.kind == Stall::kRoot) verdicts.push_back({program, stall.text});
    }
  };
  blame_roots();
  // Breaks a circle by giving up its first program.
  for (auto it = stalls.begin(); verdicts.empty() && it != stalls.end(); ++it) {
    const std::vector<uint32_t> circle = FindCircle(stalls, it->first);
    if (circle.empty()) continue;
    verdicts.push_back({circle.front(), CircleText(stalls, plans, circle)});
  }
  // No host was asked about these; a program above may hold them up.
  if (verdicts.empty() && forced_) {
    for (const Subject* subject : unasked) {
      Watched& watched = watched_[subject->program] = Watched();
      watched.incarnation = subject->incarnation;
      judge(*subject, &watched);
    }
    blame_roots();
  }
  const bool forced = std::exchange(forced_, false);
  in_round_ = false;
  if (verdicts.empty() && forced && !stalls.empty()) {
    const auto& [program, stall] = *stalls.begin();
    std::string text = stall.text;
    if (text.empty()) text = "the simulation has no more events";
    if (stall.kind == Stall::kBlocked) text += " is behind another program";
    verdicts.push_back({program, std::move(text)});
  }
  return verdicts;
}

}  // namespace pathways
