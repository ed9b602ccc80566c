//===- draw_scenario.cc - Scenarios at random -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/draw_scenario.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/world/mix.h"
#include "unittests/runtime/simulate/draw_faults.h"
#include "unittests/runtime/simulate/programs.h"
#include "unittests/runtime/simulate/run_scenario.h"

namespace pathways::simulate {
namespace {

// Below, seeds keep the programs with which docs/simulation.md says that they
// found something.
constexpr uint64_t kFirstSpanning = 10'000, kFirstMoving = 30'000;

constexpr const char* kClusters[] = {"1x1x2", "1x2x1", "1x2x2", "2x1x2",
                                     "2x2x1", "2x2x2", "1x3x2", "3x1x2"};

class Drawing {
 public:
  explicit Drawing(uint64_t seed)
      : random_(Mix(seed, 6)),
        share_random_(Mix(seed, 7)),
        span_random_(Mix(seed, 8)),
        move_random_(Mix(seed, 9)),
        slice_random_(Mix(seed, 10)),
        link_random_(Mix(seed, 11)),
        number_random_(Mix(seed, 12)),
        reserves_(seed >= kFirstReserving && slice_random_.UpTo(1) == 0),
        moves_(seed >= kFirstMoving && move_random_.UpTo(1) == 0),
        shares_(share_random_.UpTo(2) == 0) {
    scenario_.set_seed(seed);
  }

  Scenario Run() {
    scenario_.set_cluster(kClusters[Below(std::size(kClusters))]);
    if (shares_) {
      // Programs cross islands, and each other, on these clusters.
      scenario_.set_cluster(share_random_.UpTo(1) == 0 ? "2x1x2" : "3x1x2");
    }
    scenario_.set_apart(Below(4) != 0);
    scenario_.set_workers(static_cast<int32_t>(Below(3)));
    scenario_.set_sequential(OneIn(6));
    for (uint64_t n = 1 + Below(4); n > 0; --n) {
      Program* program = scenario_.add_programs();
      program->set_plan(random_.Next() >> 40);
      program->set_actions(static_cast<uint32_t>(6 + Below(14)));
      program->set_slices(static_cast<uint32_t>(1 + Below(3)));
      program->set_fails(OneIn(6));
      program->set_spanning(scenario_.seed() >= kFirstSpanning &&
                            span_random_.UpTo(2) > 0);
      if (!HasNumbers()) continue;
      program->set_even(true);
      program->set_counts(number_random_.UpTo(1) == 0);
      program->set_contributions(number_random_.UpTo(1) == 0);
    }
    const auto prepared = Prepare(scenario_);
    if (!prepared.ok()) return scenario_;
    topology_ = &prepared->topology;
    plans_ = &prepared->plans;
    vague_ = &prepared->vague;
    hosts_ = &prepared->hosts;
    uint64_t tenants = 2 + Below(2);
    if (OneIn(6)) tenants = 4 + Below(3);
    for (uint64_t t = 0; t < tenants; ++t) {
      tenant_ = scenario_.add_tenants();
      tenant_->set_name(absl::StrCat("tenant", t));
      if (shares_) {
        tenant_->set_weight(share_random_.UpTo(1) == 0 ? 0.5 : 4);
        tenant_->set_priority(static_cast<int32_t>(share_random_.UpTo(4)) - 2);
      }
      arrays_.clear();
      if (OneIn(3)) Add(WAIT)->set_ns(Below(400'000));
      if (OneIn(8)) {
        Storm();
      } else {
        for (uint64_t n = 1 + Below(2); n > 0; --n) Round();
      }
    }
    DrawFaults(prepared->topology, &random_, &scenario_);
    // All that nobody uses leaves memory.
    if (scenario_.seed() % 5 == 0) scenario_.set_spill_above(1e-9);
    if (scenario_.seed() < kFirstOfLinks) return scenario_;
    if (scenario_.seed() % 10 == 5) {
      DrawDiskFaults(prepared->topology, &link_random_, &scenario_);
    }
    if (scenario_.seed() >= kFirstOfDeaths && scenario_.seed() % 8 == 1) {
      const uint64_t tenant = link_random_.UpTo(
          static_cast<uint64_t>(scenario_.tenants_size()) - 1);
      AddDeath(prepared->topology,
               scenario_.tenants(static_cast<int>(tenant)).name(),
               link_random_.UpTo(300), &link_random_, &scenario_);
    }
    if (scenario_.seed() % 4 == 0) {
      scenario_.set_clients_apart(true);
      DrawClientFaults(prepared->topology, &link_random_, &scenario_);
    }
    return scenario_;
  }

 private:
  // A result that a client keeps.
  struct Kept {
    uint32_t call = 0;
    ArrayType type;
  };

  uint64_t Below(uint64_t bound) { return random_.UpTo(bound - 1); }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  Call* Add(Kind kind, uint32_t of = 0) {
    Call* call = tenant_->add_calls();
    call->set_id(static_cast<uint32_t>(tenant_->calls_size()));
    call->set_kind(kind);
    call->set_of(of);
    return call;
  }

  uint32_t ProgramBelow() {
    return static_cast<uint32_t>(
        Below(static_cast<uint64_t>(scenario_.programs_size())));
  }

  bool Coin() { return slice_random_.UpTo(1) == 0; }

  // Reserves as many devices of as many islands as the program has in the whole
  // cluster.
  uint32_t Reserve(uint32_t program) {
    std::set<int> islands;
    for (int32_t host : (*hosts_)[program]) {
      islands.insert(topology_->island_of_host(host));
    }
    Call* slice = Add(RESERVE);
    slice->set_islands(static_cast<uint32_t>(islands.size()));
    slice->set_devices(slice->islands() *
                       static_cast<uint32_t>(topology_->num_devices(0)));
    slice->set_whole(Coin());
    return slice->id();
  }

  // Draws where a load goes, and with which options.
  void Place(Call* load, uint32_t slice) {
    if (slice != 0 && slice_random_.UpTo(3) > 0) return load->set_of(slice);
    load->set_anywhere(Coin());
    for (uint64_t n = slice_random_.UpTo(2); n > 0; --n) {
      load->add_also(static_cast<uint32_t>(
          slice_random_.UpTo(scenario_.programs_size() - 1)));
    }
  }

  void Storm() {
    for (uint64_t n = 4 + Below(8); n > 0; --n) {
      const uint32_t program = ProgramBelow();
      Call* load = Add(LOAD);
      load->set_program(program);
      if (reserves_) Place(load, /*slice=*/0);
      Add(UNLOAD, load->id());
    }
  }

  uint32_t Launch(uint32_t load, const proto::Plan& plan,
                  const std::set<int>& vague) {
    const uint32_t steps = static_cast<uint32_t>(1 + Below(6));
    std::vector<uint32_t> arguments;
    for (int i = 0; i < plan.interface().arguments_size(); ++i) {
      const ArrayType type = ArgumentType(plan, i, steps);
      uint32_t from = 0;
      for (const Kept& kept : arrays_) {
        if (kept.type.element == type.element &&
            kept.type.shape == type.shape && !OneIn(3)) {
          from = kept.call;
        }
      }
      arguments.push_back(from);
    }
    Call* launch = Add(LAUNCH, load);
    launch->set_steps(steps);
    launch->set_first_step(FirstStep());
    for (uint32_t from : arguments) launch->add_arguments(from);
    const int results = plan.interface().results_size();
    if (results > 0 && !OneIn(3)) {
      const uint32_t id = launch->id();
      const uint32_t result =
          static_cast<uint32_t>(Below(static_cast<uint64_t>(results)));
      Call* keep = Add(KEEP, id);
      keep->set_result(result);
      if (vague.count(static_cast<int>(result)) > 0) return id;
      arrays_.push_back(
          {keep->id(), ResultType(plan, static_cast<int>(result), steps)});
      return id;
    }
    return launch->id();
  }

  bool HasNumbers() const { return scenario_.seed() >= kFirstOfNumbers; }
  uint32_t FirstStep() {
    if (!HasNumbers() || number_random_.UpTo(2) > 0) return 0;
    return static_cast<uint32_t>(number_random_.UpTo(1'000'000));
  }
  void MakeRun(uint32_t load) {
    Call* run = Add(RUN, load);
    run->set_steps(static_cast<uint32_t>(1 + move_random_.UpTo(6)));
    run->set_first_step(FirstStep());
  }

  // While launches of the program may be under way.
  void MoveAbout(uint32_t load) {
    for (uint64_t n = 1 + move_random_.UpTo(2); n > 0; --n) {
      switch (move_random_.UpTo(3)) {
        case 0:
          Add(SUSPEND);
          break;
        case 1:
          MakeRun(load);
          break;
        default:
          Add(REBIND, load)
              ->set_avoid(topology_->HostName(static_cast<int32_t>(
                  move_random_.UpTo(topology_->num_hosts() - 1))));
      }
    }
  }

  void Round() {
    const uint32_t program = ProgramBelow();
    const bool reserves = reserves_ && Coin();
    const uint32_t slice = reserves ? Reserve(program) : 0;
    Call* load = Add(LOAD);
    const uint32_t id = load->id();
    load->set_program(program);
    if (reserves_) Place(load, slice);
    const proto::Plan& plan = (*plans_)[program];
    std::vector<uint32_t> runs;
    for (uint64_t n = 1 + Below(3); n > 0; --n) {
      runs.push_back(Launch(id, plan, (*vague_)[program]));
      if (OneIn(4)) Add(WAIT)->set_ns(Below(100'000));
    }
    if (shares_ && share_random_.UpTo(1) == 0) {
      Add(CANCEL, runs[share_random_.UpTo(runs.size() - 1)]);
    }
    if (moves_) MoveAbout(id);
    for (uint32_t run : runs) {
      if (OneIn(10)) continue;
      Add(AWAIT, run);
      for (int r = 0; r < plan.interface().results_size(); ++r) {
        if (!OneIn(3)) {
          Add(FETCH, run)->set_result(static_cast<uint32_t>(r));
        }
      }
    }
    for (const Kept& kept : arrays_) {
      if (OneIn(2)) Add(GET, kept.call);
    }
    for (size_t i = arrays_.size(); i-- > 0;) {
      if (OneIn(2)) continue;
      Add(RELEASE, arrays_[i].call);
      arrays_.erase(arrays_.begin() + static_cast<ptrdiff_t>(i));
    }
    for (uint32_t run : runs) {
      if (!OneIn(4)) Add(RELEASE, run);
    }
    if (!OneIn(5)) Add(OneIn(4) ? DISCARD : UNLOAD, id);
    if (slice != 0 && slice_random_.UpTo(3) > 0) Add(GIVE_BACK, slice);
  }

  SplitMix random_, share_random_, span_random_, move_random_, slice_random_,
      link_random_, number_random_;
  // They reserve slices, leave the choice of devices open, and load several
  // programs in one act.
  const bool reserves_;
  // True if the tenants' programs move to other devices, and give way.
  const bool moves_;
  // Tenants have weights and priorities of their own, and cancel launches.
  const bool shares_;
  Scenario scenario_;
  const Topology* topology_ = nullptr;
  const std::vector<proto::Plan>* plans_ = nullptr;
  const std::vector<std::set<int>>* vague_ = nullptr;
  const std::vector<std::set<int32_t>>* hosts_ = nullptr;  // by program
  Tenant* tenant_ = nullptr;
  std::vector<Kept> arrays_;  // that the tenant keeps
};

}  // namespace

Scenario DrawScenario(uint64_t seed) { return Drawing(seed).Run(); }

}  // namespace pathways::simulate
