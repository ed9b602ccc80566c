//===- deadlines.cc - Ticks of the controller while it waits for hosts ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/controller/controller.h"

namespace pathways {

bool Controller::CallWaits(const WaitSet& busy) const {
  if (!awaited_.empty() || programs_.HasRequest(busy) ||
      fetches_.HasRequest(busy) || stores_.HasRequest(busy)) {
    return true;
  }
  // A host that has done all its numbered messages waits for a client.
  for (int32_t host = 0; host < context_.topology->num_hosts(); ++host) {
    if (!busy.Contains(host) && stores_.Owes(host) &&
        (launches_.Stages(host) || stores_.HasUndone(host))) {
      return true;
    }
  }
  return false;
}

bool Controller::LooksForStalls() const {
  // A simulation checks for stalls by itself when no event is left. But
  // deadlines of loads and drains are events.
  return launches_.size() > 0 &&
         (!context_.world->simulated() || !loads_.empty() || !drains_.empty());
}

bool Controller::TickMayHelp() {
  return programs_.HasRecent(clock_.Now()) || stores_.HasRecent(clock_.Now()) ||
         fetches_.HasRecent(clock_.Now());
}

void Controller::ArmTimer(bool counts) {
  const bool simulated = context_.world->simulated();
  counts |= simulated && CallWaits(WaitSet()) && CallWaits(BusyHosts());
  if (!counts && !programs_.Waits() && awaited_.empty() && stores_.empty() &&
      fetches_.empty() && !LooksForStalls()) {
    return;
  }
  if (!timer_.Needs(counts)) return;
  const TimeNs timeout = std::min(stall_timeout_ns_, answer_timeout_ns_);
  const TimeNs delay = std::max<TimeNs>(timeout / 4, 1'000'000);
  LocalMessage message;
  message.kind = kStallTick;
  message.step = timer_.Start(context_.world->Now() + delay, counts);
  // A timer that no call needs must not keep a simulation going. A simulation
  // gives up an unresponsive host when no other event is left.
  if (!counts) message.flags = kBackground;
  context_.world->SendAfter(local_id(), local_id(), delay, message);
}

WaitSet Controller::BusyHosts() const {
  WaitSet busy;
  for (const StallDetector::Subject& subject : StallSubjects()) {
    AddBusy(subject, &busy);
  }
  return busy;
}

void Controller::AddBusy(const StallDetector::Subject& subject,
                         WaitSet* busy) const {
  if (!subject.running) return;
  for (int32_t host : subject.plan->binding().hosts()) {
    // A host that has not begun the launch may never have received it.
    if (stores_.Undone(host, subject.launch) == 0) busy->Insert(host);
  }
}

void Controller::OnSilent(int32_t host) {
  const absl::Status why = absl::DeadlineExceededError(
      absl::StrCat("a launch did not begin: no answer from ",
                   context_.topology->HostName(host), Tag(ErrorId::kNoAnswer)));
  launches_.Unanswered(host, why, &effects_);
  Apply();
  // Other hosts may be in the middle of a launch that this host has not begun.
  for (uint32_t p = 0; p < programs_.end(); ++p) {
    const std::vector<uint64_t>& open = launches_.Open(p);
    if (std::any_of(open.begin(), open.end(), [&](uint64_t launch) {
          return launches_.Find(launch)->begun &&
                 stores_.Undone(host, launch) != 0;
        })) {
      GiveUp(p, why);
    }
  }
}

void Controller::OnTick() {
  WaitSet busy = BusyHosts();
  // A disk takes time, too.
  for (int32_t host : moved_.Members()) busy.Insert(host);
  moved_.Clear();
  AwaitedPlans::Outcome awaited;
  awaited_.Tick(clock_.Now(), &awaited);
  Apply(std::move(awaited));
  for (const ProgramNext& next : programs_.Tick(clock_.Now(), busy))
    Proceed(next);

  // A kernel continues after its program was given up; in a simulation nothing
  // waits for it.
  if (!context_.world->simulated()) programs_.AddInterrupted(&busy);
  std::vector<FetchTable::Again> again;
  std::vector<FetchTable::Late> late;
  fetches_.Tick(clock_.Now(), busy, &again, &late);
  for (const FetchTable::Again& one : again) {
    SendFetch(one.request, one.object, one.source, /*again=*/true,
              /*views=*/false);
  }
  for (const FetchTable::Late& one : late)
    outbox_.Answer(one.request, one.status);

  const StoreLog::Findings found = stores_.Tick(clock_.Now(), busy);
  for (const StoreLog::Again& one : found.again) {
    // The message is sent unchanged, because the host may be reading it.
    if (lives_.IsGone(one.host)) continue;
    outbox_.Send(context_.directory.executor(one.host), one.message);
  }
  for (const StoreLog::Late& one : found.late)
    outbox_.Answer(one.request, one.status);
  for (int32_t host : found.silent) OnSilent(host);

  if (LooksForStalls()) {
    // A host that has not answered by now has a device in a kernel.
    if (stalls_.in_round()) FinishRound();
    if (launches_.size() > 0) StartRound();
  }
  ArmTimer();
}

void Controller::OnPeerDown(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host) || !lives_.Down(host, epoch)) return;
  const uint32_t life = lives_.epoch(host);
  const std::string gone = GoneText(*context_.topology, host, life);
  objects_.HostGone(
      host, absl::UnavailableError(absl::StrCat("the values are lost: ", gone,
                                                Tag(ErrorId::kHostGone))));
  for (uint32_t p = 0; p < programs_.end(); ++p) {
    const ProgramTable::Program* program = programs_.Find(p);
    if (program == nullptr) continue;
    const PreparedPlan& plan = *program->plan;
    if (!std::binary_search(plan.binding().hosts().begin(),
                            plan.binding().hosts().end(), host)) {
      continue;
    }
    GiveUp(p, absl::UnavailableError(absl::StrCat("program '", plan.name(),
                                                  "' cannot go on: ", gone,
                                                  Tag(ErrorId::kHostGone))));
  }
  for (const ProgramNext& next : programs_.HostGone(clock_.Now(), host, life)) {
    Proceed(next);
  }
  for (ClientRequest request : fetches_.HostGone(host)) {
    outbox_.Answer(request, absl::UnavailableError(
                                absl::StrCat("values were not fetched: ", gone,
                                             Tag(ErrorId::kHostGone))));
  }
  for (ClientRequest request : stores_.HostGone(clock_.Now(), host)) {
    outbox_.Answer(request, absl::OkStatus());
  }
  memory_.HostGone(host);
  spilled_[host] = 0;
  questions_.ProcessGone(context_.directory.place(host).process);
  drains_.AnswerComplete();
  RetryLoads();
}

void Controller::OnPeerUp(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host)) return;
  // The notices of epochs in between may be missing.
  if (epoch > lives_.epoch(host)) OnPeerDown(host, epoch - 1);
  if (lives_.Up(host, epoch)) programs_.HostUp(host);
  RetryLoads();
}

}  // namespace pathways
