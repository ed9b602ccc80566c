//===- shrink.cc - Smaller scenarios that fail as well --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "absl/strings/string_view.h"
#include "unittests/runtime/simulate/trial.h"

namespace pathways::simulate {
namespace {

// The kind of failure: what is said, without names, numbers and texts of
// errors.
std::string KindOf(const Report& report) {
  if (report.wrong().empty()) return "";
  std::string kind;
  for (char c : report.wrong(0)) {
    if (c == ';') break;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind.push_back(c);
  }
  const size_t ended = kind.find("ended with");
  if (ended == std::string::npos) return kind;
  // The code alone, of any call.
  const size_t colon = kind.find(':', ended);
  return kind.substr(ended, colon - ended);
}

class Shrinking {
 public:
  Shrinking(Scenario scenario, int trials, Report* report)
      : best_(std::move(scenario)),
        left_(trials),
        report_(*report),
        kind_(KindOf(*report)) {}

  Scenario Run() {
    for (bool smaller = true; smaller && left_ > 0;) {
      smaller = false;
      smaller |=
          Each([](const Scenario& s) { return s.faults().faults_size(); },
               [](Scenario* s, int i) {
                 s->mutable_faults()->mutable_faults()->DeleteSubrange(i, 1);
               });
      smaller |= Each([](const Scenario& s) { return s.tenants_size(); },
                      [](Scenario* s, int i) {
                        s->mutable_tenants()->DeleteSubrange(i, 1);
                      });
      for (int t = 0; t < best_.tenants_size(); ++t) smaller |= Calls(t);
      smaller |=
          Each([](const Scenario& s) { return s.programs_size(); },
               [](Scenario* s, int i) { Simplify(s->mutable_programs(i)); });
      smaller |= Try([](Scenario* s) { s->set_workers(0); });
      smaller |= Try([](Scenario* s) { s->set_sequential(false); });
      smaller |= Try([](Scenario* s) { s->set_apart(false); });
      smaller |= Try([](Scenario* s) { s->set_clients_apart(false); });
      smaller |= Try([](Scenario* s) { s->set_spill_above(0); });
    }
    return best_;
  }

 private:
  static void Simplify(Program* program) {
    program->set_actions(std::max(4u, program->actions() / 2));
    program->set_slices(std::max(1u, program->slices() - 1));
  }

  // Keeps the change if the scenario is another one and fails as before.
  bool Try(const std::function<void(Scenario*)>& change) {
    if (left_ <= 0) return false;
    Scenario changed = best_;
    change(&changed);
    if (changed.SerializeAsString() == best_.SerializeAsString()) return false;
    --left_;
    Report report = TryApart(changed);
    if (KindOf(report) != kind_) return false;
    best_ = std::move(changed);
    report_ = std::move(report);
    return true;
  }

  bool Each(const std::function<int(const Scenario&)>& count,
            const std::function<void(Scenario*, int)>& change) {
    bool smaller = false;
    for (int i = count(best_) - 1; i >= 0; --i) {
      smaller |= Try([&](Scenario* s) { change(s, i); });
    }
    return smaller;
  }

  // Leaves out runs of calls, long ones first, then makes them simpler.
  bool Calls(int t) {
    bool smaller = false;
    for (int run = best_.tenants(t).calls_size() / 2; run > 0; run /= 2) {
      for (int i = best_.tenants(t).calls_size() - run; i >= 0; i -= run) {
        smaller |= Try([&](Scenario* s) {
          s->mutable_tenants(t)->mutable_calls()->DeleteSubrange(i, run);
        });
        i = std::min(i, best_.tenants(t).calls_size());
      }
    }
    for (int i = 0; i < best_.tenants(t).calls_size(); ++i) {
      smaller |= Try([&](Scenario* s) {
        Call* call = s->mutable_tenants(t)->mutable_calls(i);
        if (call->steps() > 1) call->set_steps(call->steps() / 2);
      });
    }
    return smaller;
  }

  Scenario best_;
  int left_;
  Report& report_;
  const std::string kind_;
};

}  // namespace

Scenario Shrink(const Scenario& scenario, int trials, Report* report) {
  return Shrinking(scenario, trials, report).Run();
}

}  // namespace pathways::simulate
