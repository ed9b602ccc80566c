//===- stall_rounds.cc - Queries about stalled programs -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall_rounds.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

void StallRounds::Tick() {
  // A host that has not answered by now has a device in a kernel.
  if (stalls_.in_round()) Finish();
  if (!open_.empty()) Start();
}

void StallRounds::Take(const proto::Report& report) {
  stalls_.Add(report);
  if (stalls_.complete()) Finish();
}

void StallRounds::Diagnose(ClientRequest request) {
  stalls_.Force();
  diagnoses_.push_back(request);
  if (!stalls_.in_round()) return Start();
  // The missing questions or answers were lost.
  stalls_.AskAgain() ? Ask(open_.Subjects()) : Finish();
}

void StallRounds::Start() {
  const std::vector<StallDetector::Subject> subjects = open_.Subjects();
  stalls_.Begin(subjects);
  Ask(subjects);
  if (stalls_.complete()) Finish();
}

void StallRounds::Ask(absl::Span<const StallDetector::Subject> subjects) {
  for (const StallDetector::Subject& subject : subjects) {
    outbox_.SendToHosts(
        stalls_.Awaited(subject.program), [&](proto::Control* control) {
          control->mutable_query()->set_round(stalls_.round());
          control->mutable_query()->set_program(subject.program);
          control->mutable_query()->set_incarnation(subject.incarnation);
        });
  }
}

void StallRounds::Finish() {
  const std::vector<StallDetector::Verdict> verdicts =
      stalls_.Finish(clock_.Now(), open_.Subjects());
  for (const StallDetector::Verdict& verdict : verdicts) {
    const ProgramTable::Program* program = programs_.Find(verdict.program);
    if (program == nullptr) continue;  // an earlier verdict has ended it
    give_up_(verdict.program,
             absl::DeadlineExceededError(absl::StrCat(
                 "program '", program->plan->name(),
                 "' is stalled: ", verdict.text, Tag(ErrorId::kStalled))));
  }
  for (const ClientRequest& request : std::exchange(diagnoses_, {})) {
    outbox_.Answer(request, absl::OkStatus());
  }
}

}  // namespace pathways
