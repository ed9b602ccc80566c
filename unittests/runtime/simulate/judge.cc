//===- judge.cc - Rules that every run must keep --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/judge.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/faults/fault_schedule.h"

namespace pathways::simulate {
namespace {

bool MayDrop(const proto::MessageRates& rates) { return rates.drop() > 0; }

// Returns true if all links between the two sets are connections of clients
// with the controller, on which nothing is lost.
template <typename M>
bool IsOfConnections(const M& link) {
  return !link.some().empty() &&
         std::all_of(link.some().begin(), link.some().end(), NamesClients) &&
         link.others_size() == 1 && link.others(0) == kControllerName;
}

// Effects that the injected faults may have.
class Excuses {
 public:
  Excuses(const Prepared& prepared, const RunRecord& run)
      : prepared_(prepared), run_(run) {
    for (const Hit& hit : run.hits) Add(hit);
  }

  // Returns true if any call may end with an error, and memory may stay in use.
  bool any() const {
    return !gone_.empty() || !silent_.empty() || !full_.empty() ||
           !unreadable_.empty() || loses_;
  }
  bool may_leak() const { return !silent_.empty() || loses_for_ever_; }

  // Returns true if a call of a tenant that uses these hosts may end with this
  // status.
  bool Explain(const std::string& tenant, const std::set<int32_t>& hosts,
               const absl::Status& status) const {
    const absl::string_view text = status.message();
    if (absl::StrContains(text, "the simulation has no more events"))
      return false;
    if (const auto dead = run_.dead.find(tenant);
        dead != run_.dead.end() && status.code() == dead->second.code() &&
        absl::StrContains(text, dead->second.message())) {
      return true;
    }
    const bool lost =
        absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
    const auto names = [&](const std::set<int32_t>& some) {
      return std::any_of(some.begin(), some.end(), [&](int32_t host) {
        return hosts.count(host) > 0 &&
               absl::StrContains(text, prepared_.topology.HostName(host));
      });
    };
    if ((lost || absl::IsDeadlineExceeded(status)) && names(gone_) &&
        absl::StrContains(text, " gone (epoch ")) {
      return true;
    }
    if (absl::IsResourceExhausted(status) && !gone_.empty() &&
        (absl::StrContains(text, "must be avoided") ||
         absl::StrContains(text, "the cluster has too few devices even"))) {
      return true;
    }
    if ((lost || absl::IsDeadlineExceeded(status)) && names(silent_)) {
      return true;
    }
    if ((absl::IsResourceExhausted(status) ||
         absl::IsFailedPrecondition(status)) &&
        names(full_)) {
      return true;
    }
    if (absl::StrContains(text, "[PW3403]") && names(unreadable_)) return true;
    return loses_ && (lost || absl::IsDeadlineExceeded(status)) &&
           (absl::StrContains(text, "host") ||
            absl::StrContains(text, "island"));
  }

 private:
  void Add(const Hit& hit) {
    const proto::Fault& fault = hit.fault;
    const bool ends = fault.for_seconds() > 0;
    switch (fault.what_case()) {
      case proto::Fault::kCrash:
        (fault.crash().unnoticed() && fault.crash().restart_after_seconds() <= 0
             ? silent_
             : gone_)
            .insert(hit.hosts.begin(), hit.hosts.end());
        return;
      case proto::Fault::kPause:
        if (fault.pause().taken_for_gone()) {
          gone_.insert(hit.hosts.begin(), hit.hosts.end());
        } else if (!ends) {
          silent_.insert(hit.hosts.begin(), hit.hosts.end());
        }
        return;
      case proto::Fault::kBadLink:
        if (IsOfConnections(fault.bad_link())) return;
        if (MayDrop(fault.bad_link().messages()) ||
            MayDrop(fault.bad_link().controls())) {
          loses_ = true;
          loses_for_ever_ |= !ends;
        }
        return;
      case proto::Fault::kPartition:
        if (IsOfConnections(fault.partition())) return;
        if (fault.partition().loses() || !ends) {
          loses_ = true;
          loses_for_ever_ |= !ends;
        }
        return;
      case proto::Fault::kFullStore:
        full_.insert(hit.hosts.begin(), hit.hosts.end());
        return;
      case proto::Fault::kBadDisk:
        if (fault.bad_disk().reads_fail()) {
          unreadable_.insert(hit.hosts.begin(), hit.hosts.end());
        }
        if (fault.bad_disk().writes_fail()) {
          full_.insert(hit.hosts.begin(), hit.hosts.end());
        }
        return;
      default:
        return;
    }
  }

  const Prepared& prepared_;
  const RunRecord& run_;
  std::set<int32_t> gone_, silent_, full_, unreadable_;
  bool loses_ = false, loses_for_ever_ = false;
};

std::string Text(const Outcome& outcome) {
  if (!outcome.made) return "was not made";
  return absl::StrCat("ended with ", outcome.status.ToString(), ", bits ",
                      absl::Hex(outcome.bits));
}

bool IsCancelled(const Outcome& outcome) {
  return absl::IsCancelled(outcome.status) &&
         absl::StrContains(outcome.status.message(), "was cancelled by client");
}

// An unload may come before the end of launches that nobody waited for.
bool IsEarly(const Outcome& outcome) {
  return outcome.kind == UNLOAD &&
         absl::StrContains(outcome.status.message(),
                           "launches that have not ended");
}

// Returns true if tenants with devices of their own may cause this error: a
// tenant that `has_slice` may be in its own way, and others may wait in a
// circle or not long enough. A wait longer than anything takes is for memory
// that a host does not release.
bool IsInTheWay(const Outcome& outcome, bool has_slice, bool is_faulty) {
  const absl::string_view text = outcome.status.message();
  if (absl::IsDeadlineExceeded(outcome.status)) {
    const bool waits_long = outcome.kind == LOAD || outcome.kind == RESERVE;
    return absl::StrContains(text, "was not released within") &&
           (is_faulty || !waits_long);
  }
  return absl::IsResourceExhausted(outcome.status) &&
         (absl::StrContains(text, "clients wait for each other") ||
          absl::StrContains(text, "its own client holds that memory") ||
          (has_slice && absl::StrContains(text, "held by slice ")));
}

// Returns true if a later outcome may differ: without a reference it may be
// anything that the program can do, and nothing else.
bool MayDiffer(const Outcome& outcome, const Outcome& alone) {
  if (!outcome.made) return true;
  if (alone.made && alone.status.ok()) return false;
  return !absl::IsInternal(outcome.status) &&
         !absl::StrContains(outcome.status.message(),
                            "the simulation has no more events");
}

// Returns the text of a status without the device of a shard.
std::string WithoutPlace(const absl::Status& status) {
  std::string text = status.ToString();
  const size_t begin = text.find(" (island");
  const size_t end = text.find(')', begin);
  if (end != std::string::npos) text.erase(begin, end + 1 - begin);
  return text;
}

bool IsSame(const Outcome& a, const Outcome& b) {
  return a.made == b.made && a.bits == b.bits &&
         (a.status == b.status || IsEarly(a) || IsEarly(b) ||
          WithoutPlace(a.status) == WithoutPlace(b.status));
}

class Judgement {
 public:
  Judgement(const Scenario& scenario, const Prepared& prepared,
            const RunRecord& run, const RunRecord& alone)
      : scenario_(scenario),
        prepared_(prepared),
        run_(run),
        alone_(alone),
        excuses_(prepared, run) {}

  Verdict Run() {
    for (const std::string& wrong : alone_.broken) {
      Wrong(absl::StrCat("alone: ", wrong));
    }
    for (const std::string& wrong : run_.broken) Wrong(wrong);
    if (run_.events == 0) return verdict_;
    if (!alone_.ended) Wrong("alone: it does not end");
    if (!run_.ended) {
      Wrong(absl::StrCat("it does not end: ", run_.events, " events, ",
                         run_.now_ns, " ns"));
    }
    for (const Tenant& tenant : scenario_.tenants()) {
      for (const Call& call : tenant.calls()) {
        reserves_ |= call.kind() == RESERVE && call.whole();
      }
    }
    for (const Tenant& tenant : scenario_.tenants()) JudgeTenant(tenant);
    if (!run_.ended) return verdict_;
    if (!excuses_.may_leak()) JudgeLeaks();
    if (!excuses_.any() && run_.dead.empty()) JudgeCounts();
    return verdict_;
  }

 private:
  void Wrong(const std::string& what) { verdict_.wrong.push_back(what); }

  void JudgeTenant(const Tenant& tenant) {
    const auto made = run_.outcomes.find(tenant.name());
    const auto expected = alone_.outcomes.find(tenant.name());
    if (made == run_.outcomes.end() || expected == alone_.outcomes.end()) {
      if (run_.dead.count(tenant.name()) == 0) {
        Wrong(absl::StrCat(tenant.name(), " made no calls"));
      }
      return;
    }
    std::set<int32_t> hosts;
    for (const Call& call : tenant.calls()) {
      if (call.kind() == REBIND || call.kind() == SUSPEND ||
          call.kind() == RESERVE || call.anywhere()) {
        // Its programs may be anywhere.
        for (int32_t h = 0; h < prepared_.topology.num_hosts(); ++h) {
          hosts.insert(h);
        }
      }
      if (call.kind() != LOAD) continue;
      std::vector<uint32_t> programs(call.also().begin(), call.also().end());
      programs.push_back(call.program());
      for (uint32_t program : programs) {
        if (program >= prepared_.hosts.size()) continue;
        const std::set<int32_t>& of = prepared_.hosts[program];
        hosts.insert(of.begin(), of.end());
      }
    }
    // Timing decides what a cancel comes too late for, and so what follows from
    // it.
    bool failed = false, cancelled = false, differs = false;
    bool has_slice = false;
    for (const Call& call : tenant.calls()) {
      const Outcome& got = made->second.at(call.id());
      const Outcome& want = expected->second.at(call.id());
      const bool same = IsSame(got, want);
      ++(same ? verdict_.good : verdict_.bad);
      cancelled |= IsCancelled(got) || IsCancelled(want);
      has_slice |= call.kind() == RESERVE && call.whole();
      // Slices may lie elsewhere when others are there, and who is in whose way
      // is another then. Values are the same.
      differs |= reserves_ && (IsInTheWay(got, has_slice, excuses_.any()) ||
                               IsInTheWay(want, has_slice, false));
      differs_ |= differs;
      const bool excused =
          same || cancelled ||
          (reserves_ && IsInTheWay(got, has_slice, excuses_.any())) ||
          (differs && MayDiffer(got, want)) ||
          (got.made ? !got.status.ok() &&
                          excuses_.Explain(tenant.name(), hosts, got.status)
                    : failed);
      failed |= !got.status.ok();
      if (excused) continue;
      Wrong(absl::StrCat(tenant.name(), ", call ", call.id(), " (",
                         Kind_Name(call.kind()), ") ", Text(got), "; alone it ",
                         Text(want)));
    }
  }

  void JudgeLeaks() {
    if (!run_.counted.ok()) {
      Wrong(absl::StrCat("no statistics: ", run_.counted.ToString()));
    }
    if (run_.stats.programs != 0) {
      Wrong(absl::StrCat(run_.stats.programs, " programs are left"));
    }
    for (const auto& host : run_.stats.hosts) {
      if (host.memory_used_bytes == 0 && host.spilled_bytes == 0) continue;
      Wrong(absl::StrCat(host.name, " has ", host.memory_used_bytes,
                         " bytes left, ", host.object_bytes, " of arrays, and ",
                         host.spilled_bytes, " in files"));
    }
    for (const auto& device : run_.stats.devices) {
      if (device.used_bytes == 0) continue;
      Wrong(
          absl::StrCat(device.name, " has ", device.used_bytes, " bytes left"));
    }
    const proto::ControllerStatus& controller = run_.controller;
    if (controller.programs_size() > 0 || controller.clients_size() > 0 ||
        controller.launches() > 0) {
      Wrong(absl::StrCat("the controller has left: ",
                         controller.ShortDebugString()));
    }
    for (int h = 0; h < controller.host_bytes_size(); ++h) {
      if (controller.host_bytes(h) == 0) continue;
      Wrong(absl::StrCat("the controller counts ", controller.host_bytes(h),
                         " bytes of ", prepared_.topology.HostName(h)));
    }
  }

  // Returns true if every launch was waited for and none was cancelled. A run
  // that fails cancels its open launches.
  bool AllAwaited() const {
    for (const auto& [tenant, outcomes] : run_.outcomes) {
      for (const auto& [id, outcome] : outcomes) {
        if (outcome.kind == RUN && !outcome.status.ok()) return false;
      }
    }
    for (const Tenant& tenant : scenario_.tenants()) {
      std::set<uint32_t> awaited;
      for (const Call& call : tenant.calls()) {
        if (call.kind() == CANCEL) return false;
        if (call.kind() == AWAIT || call.kind() == FETCH) {
          awaited.insert(call.of());
        }
      }
      for (const Call& call : tenant.calls()) {
        if (call.kind() == LAUNCH && awaited.count(call.id()) == 0) {
          return false;
        }
      }
    }
    return true;
  }

  // Checks the counts of a run without errors.
  void JudgeCounts() {
    for (const auto& device : run_.stats.devices) {
      if (device.peak_bytes <= device.memory_bytes) continue;
      Wrong(absl::StrCat(device.name, " had ", device.peak_bytes, " of ",
                         device.memory_bytes, " bytes"));
    }
    if (!AllAwaited() || differs_) return;
    if (run_.stats.firings != alone_.stats.firings) {
      Wrong(absl::StrCat(run_.stats.firings, " firings, alone ",
                         alone_.stats.firings));
    }
    if (run_.stats.steps_done != alone_.stats.steps_done) {
      Wrong(absl::StrCat(run_.stats.steps_done, " steps, alone ",
                         alone_.stats.steps_done));
    }
  }

  const Scenario& scenario_;
  const Prepared& prepared_;
  const RunRecord& run_;
  const RunRecord& alone_;
  const Excuses excuses_;
  bool reserves_ = false;  // devices for one alone
  bool differs_ = false;   // which tenant is in whose way, once they are alone
  Verdict verdict_;
};

}  // namespace

Verdict Judge(const Scenario& scenario, const Prepared& prepared,
              const RunRecord& run, const RunRecord& alone) {
  return Judgement(scenario, prepared, run, alone).Run();
}

}  // namespace pathways::simulate
