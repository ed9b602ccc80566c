//===- trial.cc - Trial of a scenario against the rules -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "unittests/runtime/simulate/draw_scenario.h"
#include "unittests/runtime/simulate/judge.h"
#include "unittests/runtime/simulate/run_scenario.h"

namespace pathways::simulate {
namespace {

// A run that takes longer than this in real time does not come back.
constexpr unsigned kMaxSeconds = 120;

bool ReadAll(int from, void* to, size_t bytes) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = read(from, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool WriteAll(int to, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = write(to, text.data() + done, text.size() - done);
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

std::string HowItEnded(int status) {
  if (!WIFSIGNALED(status)) {
    return absl::StrCat("the process ended with ", WEXITSTATUS(status));
  }
  return absl::StrCat("the process ended by signal ", WTERMSIG(status));
}

// Runs `reports` in a child, which gives them to `put` one after the other.
// Returns how it ended when it had not put `count`; -1: `take` had enough.
struct Ended {
  uint64_t taken = 0;
  bool stopped = false;
  int status = 0;
};
Ended RunChild(uint64_t count, const std::function<Report(uint64_t)>& make,
               const std::function<bool(const Report&)>& take) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    close(pipe_ends[0]);
    for (uint64_t i = 0; i < count; ++i) {
      alarm(kMaxSeconds);
      const std::string bytes = make(i).SerializeAsString();
      const uint32_t size = static_cast<uint32_t>(bytes.size());
      if (!WriteAll(pipe_ends[1],
                    std::string(reinterpret_cast<const char*>(&size), 4)) ||
          !WriteAll(pipe_ends[1], bytes)) {
        break;
      }
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  Ended ended;
  while (ended.taken < count && !ended.stopped) {
    uint32_t size = 0;
    if (!ReadAll(pipe_ends[0], &size, 4)) break;
    std::string bytes(size, '\0');
    if (!ReadAll(pipe_ends[0], bytes.data(), size)) break;
    Report report;
    if (!report.ParseFromString(bytes)) break;
    ++ended.taken;
    ended.stopped = !take(report);
  }
  close(pipe_ends[0]);
  if (ended.stopped) kill(child, SIGKILL);
  waitpid(child, &ended.status, 0);
  return ended;
}

}  // namespace

Report Try(const Scenario& scenario) {
  Report report;
  report.set_seed(scenario.seed());
  const absl::StatusOr<Prepared> prepared = Prepare(scenario);
  if (!prepared.ok()) {
    report.add_wrong(prepared.status().ToString());
    return report;
  }
  const bool log = std::exchange(log_messages, false);
  const RunRecord alone = RunAlone(scenario, *prepared);
  log_messages = log;
  const RunRecord run = RunScenario(scenario, *prepared);
  std::fflush(stdout);
  const Verdict verdict = Judge(scenario, *prepared, run, alone);
  for (const std::string& wrong : verdict.wrong) report.add_wrong(wrong);
  report.set_good(static_cast<uint32_t>(verdict.good));
  report.set_bad(static_cast<uint32_t>(verdict.bad));
  report.set_events(run.events);
  report.set_hash(run.hash);
  report.set_now_ns(run.now_ns);
  for (const Hit& hit : run.hits) {
    Report::Meeting* meeting = report.add_meetings();
    meeting->set_fault(NameOf(hit.fault));
    meeting->set_state(hit.during);
  }
  for (const Report::Span& span : run.spans) *report.add_spans() = span;
  return report;
}

void TrySeeds(uint64_t first, uint64_t seeds, const std::string& bug,
              const std::function<bool(const Report&)>& take) {
  const auto make = [&](uint64_t seed) {
    Scenario scenario = DrawScenario(seed);
    scenario.set_bug(bug);
    return Try(scenario);
  };
  for (uint64_t done = 0; done < seeds;) {
    const Ended ended = RunChild(
        seeds - done, [&](uint64_t i) { return make(first + done + i); }, take);
    done += ended.taken;
    if (ended.stopped || done == seeds) return;
    Report died;
    died.set_seed(first + done++);
    died.add_wrong(HowItEnded(ended.status));
    if (!take(died)) return;
  }
}

Report TryApart(const Scenario& scenario) {
  Report report;
  const Ended ended = RunChild(
      1, [&](uint64_t) { return Try(scenario); },
      [&](const Report& made) {
        report = made;
        return true;
      });
  if (ended.taken == 1) return report;
  report.set_seed(scenario.seed());
  report.add_wrong(HowItEnded(ended.status));
  return report;
}

}  // namespace pathways::simulate
