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

void Controller::OnTick() {
  WaitSet busy = open_.BusyHosts();
  // A disk takes time, too.
  for (int32_t host : stores_.TakeMoved().Members()) busy.Insert(host);
  load_requests_.Tick();
  for (const ProgramNext& next : programs_.Tick(clock_.Now(), busy)) {
    load_service_.Proceed(next);
  }

  // A kernel continues after its program was given up; in a simulation nothing
  // waits for it.
  if (!context_.world->simulated()) programs_.AddInterrupted(&busy);
  fetches_.Tick(busy);
  for (int32_t host : stores_.Tick(busy)) ends_.HostSilent(host);
  if (answer_timer_.LooksForStalls()) stalls_.Tick();
  answer_timer_.Arm();
}

void Controller::OnPeerDown(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host) || !lives_.Down(host, epoch)) return;
  const uint32_t life = lives_.epoch(host);
  const std::string gone = GoneText(*context_.topology, host, life);
  objects_.HostGone(
      host, absl::UnavailableError(absl::StrCat("the values are lost: ", gone,
                                                Tag(ErrorId::kHostGone))));
  ends_.HostGone(host, life, gone);
  fetches_.HostGone(
      host, absl::UnavailableError(absl::StrCat(
                "values were not fetched: ", gone, Tag(ErrorId::kHostGone))));
  stores_.HostGone(host);
  questions_.ProcessGone(context_.directory.place(host).process);
  drains_.AnswerComplete();
  load_service_.Retry();
}

void Controller::OnPeerUp(int32_t host, uint32_t epoch) {
  if (!lives_.Has(host)) return;
  // The notices of epochs in between may be missing.
  if (epoch > lives_.epoch(host)) OnPeerDown(host, epoch - 1);
  if (lives_.Up(host, epoch)) programs_.HostUp(host);
  load_service_.Retry();
}

}  // namespace pathways
