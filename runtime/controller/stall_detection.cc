//===- stall_detection.cc - The controller asks why nothing happens -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/controller/controller.h"

namespace pathways {

void Controller::ArmTimer() {
  // A simulation notices by itself that nothing is left to happen.
  if (timer_armed_ || stall_timeout_ns_ <= 0 || context_.world->simulated()) {
    return;
  }
  timer_armed_ = true;
  Message message;
  message.kind = kStallTick;
  message.flags = kBackground;
  context_.world->SendAfter(self(), self(),
                            std::max<TimeNs>(stall_timeout_ns_ / 4, 1'000'000),
                            message);
}

void Controller::StartRound() {
  in_round_ = true;
  ++round_;
  round_waiting_.clear();
  for (uint32_t p = 0; p < programs_.size(); ++p) {
    if (programs_[p] == nullptr || launches_.Open(p).empty()) continue;
    Program& program = *programs_[p];
    program.reports.clear();
    proto::Control control;
    control.mutable_query()->set_round(round_);
    control.mutable_query()->set_program(p);
    control.mutable_query()->set_incarnation(program.incarnation);
    for (int32_t host : program.plan->hosts()) {
      round_waiting_.insert({p, static_cast<uint32_t>(host)});
    }
    SendToHosts(program, control);
  }
  if (round_waiting_.empty()) FinishRound();
}

void Controller::OnReport(const proto::Report& report) {
  if (!in_round_ || report.round() != round_) return;
  Program* program = Find(report.program(), report.incarnation());
  if (program == nullptr ||
      round_waiting_.erase({report.program(), report.host()}) == 0) {
    return;
  }
  program->reports[report.host()] = report;
  if (round_waiting_.empty()) FinishRound();
}

void Controller::OnDiagnose(const proto::DiagnoseRequest& request) {
  forced_ = true;
  diagnose_request_ = request.request();
  if (in_round_) {
    // The answers that are missing were lost.
    FinishRound();
    return;
  }
  StartRound();
}

void Controller::FinishRound() {
  in_round_ = false;
  const bool forced = forced_;
  forced_ = false;
  const TimeNs now = context_.world->Now();
  std::map<uint32_t, Stall> stalls;
  for (uint32_t p = 0; p < programs_.size(); ++p) {
    if (programs_[p] == nullptr || launches_.Open(p).empty()) continue;
    Program& program = *programs_[p];
    // Launched after the round began.
    if (program.reports.empty() && !forced) continue;
    const std::vector<uint64_t>& open = launches_.Open(p);
    auto begun = std::find_if(open.begin(), open.end(), [&](uint64_t id) {
      return launches_.Find(id)->granted && !launches_.Find(id)->over;
    });
    if (begun == open.end()) {
      // Values are on their way to the hosts; or all has happened, and the end
      // waits for that of a launch that filled an argument.
      program.last_progress = now;
      if (forced && !launches_.Find(open.front())->granted) {
        stalls[p].kind = Stall::kRoot;
        stalls[p].text = "hosts do not have the values of a launch";
      }
      continue;
    }
    uint64_t fired = 0;
    for (const auto& [host, report] : program.reports) fired += report.fired();
    Stall stall =
        ClassifyStall(*program.plan, *context_.topology, program.reports,
                      grants_.Find(*begun)->first, grants_.next_firing(p));
    if (!forced &&
        (stall.kind == Stall::kProgress || fired != program.last_fired)) {
      program.last_progress = now;
    }
    program.last_fired = fired;
    if (forced || now - program.last_progress >= stall_timeout_ns_) {
      stalls[p] = std::move(stall);
    }
  }
  auto end = [&](uint32_t p, const std::string& text) {
    Abort(p, absl::DeadlineExceededError(
                 absl::StrCat("program '", programs_[p]->plan->name(),
                              "' does not go on: ", text)));
  };
  bool ended = false;
  for (const auto& [p, stall] : stalls) {
    if (stall.kind != Stall::kRoot) continue;
    end(p, stall.text);
    ended = true;
  }
  // Programs that wait for each other in a circle: the first of them goes.
  for (auto it = stalls.begin(); !ended && it != stalls.end(); ++it) {
    std::vector<uint32_t> chain;
    uint32_t p = it->first;
    while (stalls.count(p) && stalls[p].kind == Stall::kBlocked &&
           std::find(chain.begin(), chain.end(), p) == chain.end()) {
      chain.push_back(p);
      p = stalls[p].blocked_by;
    }
    if (std::find(chain.begin(), chain.end(), p) == chain.end()) continue;
    chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), p));
    std::string text = "programs wait for each other";
    for (uint32_t c : chain) {
      const PreparedPlan& by = *programs_[stalls[c].blocked_by]->plan;
      absl::StrAppend(&text, "; '", programs_[c]->plan->name(),
                      "': ", stalls[c].text, " is behind '",
                      by.plan().actions(stalls[c].blocked_action).name(),
                      "' of '", by.name(), "'");
    }
    end(chain.front(), text);
    ended = true;
  }
  if (!ended && forced && !stalls.empty()) {
    const auto& [p, stall] = *stalls.begin();
    end(p, stall.text.empty() ? "nothing is left to happen" : stall.text);
  }
  if (forced) port_->Answer(diagnose_request_, absl::OkStatus(), 0);
}

}  // namespace pathways
