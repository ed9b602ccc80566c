//===- loops_test.cc - Loops of plans -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/expand_loops.h"
#include "runtime/plan/least_slots.h"
#include "runtime/plan/loop_graph.h"
#include "runtime/plan/loop_tables.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "unittests/runtime/plan/plan_edit.h"
#include "unittests/runtime/plan/token_machine.h"

namespace pathways::testing {
namespace {

constexpr uint64_t kRow = 128;

// A pipeline of stages, each on a slice of its own: `x` is cut into rows, each
// goes through all stages, the last one adds it to `sum` and puts it into `y`.
// A stage that remembers reads in its backward gang what its forward gang
// wrote; the backward gangs run from the last stage to the first.
class Pipeline {
 public:
  Pipeline(uint32_t stages, uint32_t trips, bool backward)
      : stages_(stages), backward_(backward) {
    plan_.mutable_header()->set_program("pipeline");
    plan_.mutable_header()->set_steps_in_flight(1);
    AddLayout({trips, 32});
    AddLayout({32});
    proto::Loop* loop = plan_.add_loops();
    loop->set_name("rows");
    loop->set_trips(trips);
    for (uint32_t s = 0; s < stages; ++s) {
      proto::Slice* slice = plan_.add_slices();
      slice->set_name(absl::StrCat("s", s));
      slice->mutable_binding()->mutable_affine()->set_base(s);
    }
    used_.resize(stages);
    AddArguments();
    AddBody();
    AddResults();
    SetOrder(std::vector<std::vector<std::string>>());
  }

  const proto::Plan& plan() const { return plan_; }
  proto::Plan* mutable_plan() { return &plan_; }

  // Gives each stage the order of `cells`, "F3" or "B0", one run for each; all
  // forward and backward gangs in turn if there are none.
  void SetOrder(const std::vector<std::vector<std::string>>& cells) {
    proto::Loop* loop = plan_.mutable_loops(0);
    loop->clear_orders();
    for (uint32_t s = 0; s < stages_; ++s) {
      if (cells.empty()) {
        proto::OrderRun* run = AddRun(s, loop->trips());
        AddCell(s, 'F', 0, run);
        if (backward_) AddCell(s, 'B', 0, run);
        run->set_step(1);
        continue;
      }
      for (const std::string& cell : cells[s])
        AddCell(s, cell[0], std::stoi(cell.substr(1)), AddRun(s, 1));
    }
  }
  void SetSlots(const std::string& buffer, uint32_t slots) {
    Edit(&plan_).Buffer(buffer.c_str())->set_iteration_slots(slots);
  }

 private:
  void AddLayout(const std::vector<int64_t>& shape) {
    proto::Layout* layout = plan_.add_layouts();
    layout->set_element(proto::F32);
    for (int64_t size : shape) {
      layout->add_shape(size);
      layout->add_dims();
    }
  }
  proto::OrderRun* AddRun(uint32_t slice, uint32_t times) {
    proto::OrderRun* run = plan_.mutable_loops(0)->add_orders();
    run->set_slice(slice);
    run->set_times(times);
    return run;
  }
  void AddCell(uint32_t stage, char kind, uint32_t iteration,
               proto::OrderRun* run) {
    run->add_gangs(
        Edit(&plan_).A(absl::StrCat(std::string(1, kind), stage).c_str()));
    run->add_iterations(iteration);
  }
  // Adds a buffer of `rows` rows, or one of the loop with `slots` places.
  uint32_t AddBuffer(const std::string& name, uint32_t slice, uint32_t rows,
                     uint32_t slots = 0) {
    proto::Buffer* buffer = plan_.add_buffers();
    buffer->set_name(name);
    buffer->set_slice(slice);
    buffer->set_layout(rows == 1 ? 1 : 0);
    buffer->set_bytes(rows * kRow);
    buffer->set_credits(1);
    buffer->set_offset(used_[slice]);
    used_[slice] += std::max(slots, rows) * kRow;
    if (slots > 0) {
      buffer->set_loop(1);
      buffer->set_iteration_slots(slots);
      buffer->set_iteration_stride(kRow);
    }
    return static_cast<uint32_t>(plan_.buffers_size()) - 1;
  }
  proto::Action* AddAction(const std::string& name, proto::ActionKind kind,
                           uint32_t slice, bool in_loop,
                           const std::vector<uint32_t>& reads,
                           const std::vector<uint32_t>& writes) {
    proto::Action* action = plan_.add_actions();
    action->set_name(name);
    action->set_kind(kind);
    action->set_slice(slice);
    action->set_loop(in_loop ? 1 : 0);
    for (uint32_t b : reads) action->add_operands(b);
    for (uint32_t b : writes) action->add_results(b);
    return action;
  }
  static void AddAlias(uint32_t operand, uint32_t result,
                       proto::Action* action) {
    proto::Alias* alias = action->add_aliases();
    alias->set_operand(operand);
    alias->set_result(result);
  }
  // Adds another buffer in the memory of `buffer`.
  uint32_t AddThere(const std::string& name, uint32_t buffer) {
    *plan_.add_buffers() = plan_.buffers(static_cast<int>(buffer));
    plan_.mutable_buffers(plan_.buffers_size() - 1)->set_name(name);
    return static_cast<uint32_t>(plan_.buffers_size()) - 1;
  }
  void AddFeed(const std::string& name, uint32_t slice, uint32_t buffer) {
    proto::Argument* argument = plan_.mutable_interface()->add_arguments();
    argument->set_name(name);
    argument->set_action(static_cast<uint32_t>(plan_.actions_size()));
    AddAction(name + ".feed", proto::FEED, slice, false, {}, {buffer})
        ->set_interface(plan_.interface().arguments_size() - 1);
  }
  void AddFetch(const std::string& name, uint32_t slice, uint32_t buffer) {
    proto::Result* result = plan_.mutable_interface()->add_results();
    result->set_name(name);
    result->set_action(static_cast<uint32_t>(plan_.actions_size()));
    AddAction(name + ".fetch", proto::FETCH, slice, false, {buffer}, {})
        ->set_interface(plan_.interface().results_size() - 1);
  }
  uint32_t Move(const std::string& name, uint32_t from, uint32_t to,
                uint32_t buffer) {
    const uint32_t got = AddBuffer(name, to, 1, 1);
    const uint32_t at = static_cast<uint32_t>(plan_.actions_size());
    AddAction(name + ".send", proto::SEND, from, true, {buffer}, {})
        ->set_peer(at + 1);
    AddAction(name + ".recv", proto::RECV, to, true, {}, {got})->set_peer(at);
    return got;
  }

  void AddArguments() {
    const uint32_t trips = plan_.loops(0).trips();
    const uint32_t x = AddBuffer("x", 0, trips);
    AddFeed("x", 0, x);
    rows_ = AddThere("x.parts", x);
    proto::Buffer* rows = plan_.mutable_buffers(static_cast<int>(rows_));
    rows->set_layout(1);
    rows->set_bytes(kRow);
    rows->set_loop(1);
    rows->set_iteration_slots(trips);
    rows->set_iteration_stride(kRow);
    AddAlias(x, rows_, AddAction("split", proto::GANG, 0, false, {x}, {rows_}));
    zero_ = AddBuffer("zero", stages_ - 1, 1);
    AddFeed("zero", stages_ - 1, zero_);
  }

  void AddBody() {
    const uint32_t last = stages_ - 1, trips = plan_.loops(0).trips();
    std::vector<uint32_t> kept;
    uint32_t value = rows_;
    for (uint32_t s = 0; s < stages_; ++s) {
      if (s > 0) value = Move(absl::StrCat("to", s), s - 1, s, value);
      const uint32_t out = AddBuffer(absl::StrCat("out", s), s, 1, 1);
      kept.push_back(AddBuffer(absl::StrCat("kept", s), s, 1, trips));
      proto::Action* gang = AddAction(absl::StrCat("F", s), proto::GANG, s,
                                      true, {value}, {out, kept.back()});
      value = out;
      if (s < last) continue;
      const uint32_t sum = AddThere("sum", zero_);
      plan_.mutable_buffers(static_cast<int>(sum))->set_loop(1);
      plan_.mutable_buffers(static_cast<int>(sum))->set_iteration_slots(1);
      const uint32_t before = AddThere("before", zero_);
      proto::Buffer* name = plan_.mutable_buffers(static_cast<int>(before));
      name->set_loop(1);
      name->set_initial(zero_ + 1);
      name->set_next(sum + 1);
      total_ = AddThere("total", zero_);
      plan_.mutable_buffers(static_cast<int>(total_))->set_last_of(sum + 1);
      parts_ = AddBuffer("y.parts", s, 1, trips);
      gang->add_operands(before);
      gang->add_results(sum);
      gang->add_results(parts_);
      AddAlias(before, sum, gang);
    }
    if (!backward_) return;
    for (uint32_t s = stages_; s-- > 0;) {
      if (s < last) value = Move(absl::StrCat("back", s), s + 1, s, value);
      const uint32_t out = AddBuffer(absl::StrCat("grad", s), s, 1, 1);
      AddAction(absl::StrCat("B", s), proto::GANG, s, true, {value, kept[s]},
                {out});
      value = out;
    }
  }

  void AddResults() {
    const uint32_t last = stages_ - 1;
    const uint32_t y = AddThere("y", parts_);
    proto::Buffer* buffer = plan_.mutable_buffers(static_cast<int>(y));
    buffer->set_layout(0);
    buffer->set_bytes(plan_.loops(0).trips() * kRow);
    buffer->clear_loop();
    buffer->clear_iteration_slots();
    buffer->clear_iteration_stride();
    AddAlias(parts_, y,
             AddAction("stack", proto::GANG, last, false, {parts_}, {y}));
    AddFetch("total", last, total_);
    AddFetch("y", last, y);
  }

  const uint32_t stages_;
  const bool backward_;
  proto::Plan plan_;
  std::vector<uint64_t> used_;  // bytes, by slice
  uint32_t rows_ = 0, zero_ = 0, total_ = 0, parts_ = 0;
};

std::string Issues(const proto::Plan& plan) {
  std::string text;
  for (const PlanIssue& issue : VerifyPlan(plan, /*blob_bytes=*/0))
    absl::StrAppend(&text, "rule ", issue.rule, ": ", issue.message, "\n");
  return text;
}

TEST(LoopsTest, APlanHasOneActionForAllIterations) {
  Pipeline pipeline(3, 5, /*backward=*/true);
  EXPECT_EQ(Issues(pipeline.plan()), "");
  const proto::Plan run = WithoutLoops(pipeline.plan());
  EXPECT_EQ(run.loops_size(), 0);
  EXPECT_EQ(Issues(run), "");
  // Three outer gangs, feeds and fetches; then 6 gangs and 4 movements.
  EXPECT_EQ(run.actions_size(), 6 + 5 * (6 + 8));
  EXPECT_EQ(PlayPlan(run, /*steps=*/4, /*seed=*/1), "");
}

TEST(LoopsTest, ACarriedArrayStaysInItsPlace) {
  const proto::Plan plan = Pipeline(1, 3, /*backward=*/false).plan();
  proto::Plan run = WithoutLoops(plan);
  Edit edit(&run);
  EXPECT_EQ(run.actions(edit.A("F0[0]")).operands(1), edit.B("zero"));
  EXPECT_EQ(run.actions(edit.A("F0[2]")).operands(1), edit.B("sum[1]"));
  EXPECT_EQ(run.actions(edit.A("total.fetch")).operands(0), edit.B("sum[2]"));
  EXPECT_EQ(edit.Buffer("sum[2]")->offset(), edit.Buffer("zero")->offset());
  EXPECT_EQ(edit.Buffer("x.parts[2]")->offset(),
            edit.Buffer("x")->offset() + 2 * kRow);
}

TEST(LoopsTest, SizeDoesNotDependOnTrips) {
  const size_t small = SerializePlan(Pipeline(4, 8, true).plan(), {}).size();
  const size_t large = SerializePlan(Pipeline(4, 4096, true).plan(), {}).size();
  EXPECT_LT(large, small + small / 20);
}

TEST(LoopsTest, FilesKeepLoops) {
  const proto::Plan plan = Pipeline(2, 4, true).plan();
  const std::vector<uint8_t> blobs(64, 7);
  const std::string bytes = SerializePlan(plan, blobs);
  absl::StatusOr<PlanData> read = ParsePlan(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tables.SerializeAsString(), plan.SerializeAsString());
  EXPECT_EQ(read->blobs.size(), blobs.size());
  EXPECT_EQ(SerializePlan(read->tables, read->blobs), bytes);
}

// Orders that go forward and backward in turn, with random lags: the plan runs,
// or is refused for a circle.
TEST(LoopsTest, RandomOrdersRunOrHaveACircle) {
  int runs = 0, circles = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    const uint32_t stages = 1 + random() % 4, trips = 1 + random() % 7;
    Pipeline pipeline(stages, trips, /*backward=*/true);
    std::vector<std::vector<std::string>> order(stages);
    for (uint32_t s = 0; s < stages; ++s) {
      uint32_t forward = 0, backward = 0;
      const uint32_t warm =
          random() % 3 == 0 ? random() % trips : std::min(stages - s, trips);
      while (backward < trips) {
        if (forward < trips && forward < backward + std::max(warm, 1u))
          order[s].push_back(absl::StrCat("F", forward++));
        else
          order[s].push_back(absl::StrCat("B", backward++));
      }
      for (const char* name : {"to", "out", "back", "grad"}) {
        const bool received = name[0] == 't' ? s > 0 : s + 1 < stages;
        if (received || name[0] == 'o' || name[0] == 'g')
          pipeline.SetSlots(absl::StrCat(name, s), 1);
      }
    }
    pipeline.SetOrder(order);
    const std::string issues = Issues(pipeline.plan());
    if (issues.empty()) {
      ++runs;
      EXPECT_EQ(PlayPlan(WithoutLoops(pipeline.plan()), 5, seed), "");
    } else {
      ++circles;
      EXPECT_NE(issues.find("rule 2: loop 'rows' has iterations that wait for "
                            "each other: '"),
                std::string::npos)
          << issues;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(runs, 100);
  EXPECT_GT(circles, 10);
}

// Times and bounds as in a table of closed forms: forward gangs take 1,
// backward gangs 2, and hops `hop` units. A received row is read by the forward
// gang alone, or by the backward gang, too.
struct SlotCase {
  const char* schedule;
  uint32_t hop;
  bool reads_twice;
  std::vector<uint32_t> forward, backward;  // slots of what a stage receives
};

std::vector<std::vector<std::string>> OrderOf(const std::string& schedule,
                                              uint32_t stages, uint32_t trips) {
  std::vector<std::vector<std::string>> order(stages);
  for (uint32_t s = 0; s < stages; ++s) {
    const uint32_t behind = stages - s - 1;
    const uint32_t warm = schedule == "gpipe"        ? trips
                          : schedule == "eager-1f1b" ? 2 * behind
                                                     : behind;
    uint32_t forward = 0, backward = 0;
    while (backward < trips) {
      while (forward < std::min(trips, warm + backward + 1))
        order[s].push_back(absl::StrCat("F", forward++));
      order[s].push_back(absl::StrCat("B", backward++));
    }
  }
  return order;
}

// A pipeline with a slot for each iteration of what stages receive and send.
proto::Plan WithManySlots(const std::string& schedule, uint32_t stages,
                          uint32_t trips, bool reads_twice) {
  Pipeline pipeline(stages, trips, /*backward=*/true);
  pipeline.SetOrder(OrderOf(schedule, stages, trips));
  for (uint32_t s = 0; s < stages; ++s) {
    for (const char* name : {"out", "grad"})
      pipeline.SetSlots(absl::StrCat(name, s), trips);
    if (s > 0) pipeline.SetSlots(absl::StrCat("to", s), trips);
    if (s + 1 < stages) pipeline.SetSlots(absl::StrCat("back", s), trips);
  }
  proto::Plan plan = pipeline.plan();
  Edit edit(&plan);
  if (reads_twice)
    for (uint32_t s = 1; s < stages; ++s)
      edit.Action(absl::StrCat("B", s).c_str())
          ->add_operands(edit.B(absl::StrCat("to", s).c_str()));
  return plan;
}

LoopTimes TimesOf(const proto::Plan& plan, uint64_t hop) {
  LoopTimes times;
  for (const proto::Action& action : plan.actions())
    times.run.push_back(action.kind() == proto::RECV   ? hop
                        : action.kind() != proto::GANG ? 0
                        : action.name()[0] == 'B'      ? 2
                                                       : 1);
  times.credit.resize(times.run.size());
  return times;
}

TEST(LoopsTest, ReceivedRowsHaveTheFewestSlotsThatCostNoTime) {
  const SlotCase cases[] = {
      {"gpipe", 0, false, {1, 1, 1}, {1, 1, 1}},
      {"gpipe", 1, false, {2, 2, 2}, {2, 2, 2}},
      {"1f1b", 0, false, {1, 1, 1}, {1, 1, 1}},
      {"1f1b", 1, false, {1, 1, 1}, {1, 1, 1}},
      {"1f1b", 0, true, {3, 2, 1}, {1, 1, 1}},
      {"1f1b", 1, true, {4, 2, 1}, {1, 1, 1}},
      {"eager-1f1b", 0, true, {5, 3, 1}, {1, 1, 1}},
      {"eager-1f1b", 1, true, {6, 4, 2}, {1, 1, 1}},
  };
  for (const SlotCase& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.schedule, ", hop ", c.hop, ", read twice ",
                              c.reads_twice));
    proto::Plan plan = WithManySlots(c.schedule, 4, 8, c.reads_twice);
    Edit edit(&plan);
    std::vector<uint32_t> buffers;
    for (int s = 1; s < 4; ++s)
      buffers.push_back(edit.B(absl::StrCat("to", s).c_str()));
    for (int s = 0; s < 3; ++s)
      buffers.push_back(edit.B(absl::StrCat("back", s).c_str()));
    const std::vector<SlotBound> bounds = FindLeastSlots(
        plan, 1, buffers, TimesOf(plan, c.hop), /*explains=*/true);
    std::vector<uint32_t> forward, backward;
    for (size_t i = 0; i < bounds.size(); ++i)
      (i < 3 ? forward : backward).push_back(bounds[i].slots);
    EXPECT_EQ(forward, c.forward);
    EXPECT_EQ(backward, c.backward);
  }
}

// Returns when the last gang of each slice ends; nothing if iterations wait for
// each other.
std::vector<uint64_t> EndsOf(const proto::Plan& plan, const LoopTimes& times) {
  const LoopSequence sequence = SequenceLoops(plan).front();
  if (!sequence.circle.empty()) return {};
  const LoopTables tables(plan);
  const IterationGraph graph(plan, tables, 1);
  std::vector<uint64_t> end(graph.size(), 0), ends(plan.slices_size(), 0);
  for (const LoopFiring& firing : sequence.order) {
    const uint32_t node = graph.Node(firing.action, firing.iteration);
    end[node] += times.run[firing.action];
    for (uint32_t after : graph.Next(node))
      end[after] = std::max(end[after], end[node]);
    const proto::Action& action = plan.actions(firing.action);
    if (action.kind() == proto::GANG)
      ends[action.slice()] = std::max(ends[action.slice()], end[node]);
  }
  return ends;
}

// All vectors of slots of 3 stages and 5 iterations are tried.
TEST(LoopsTest, TheFewestSlotsAreThoseOfASearch) {
  for (const char* schedule : {"gpipe", "1f1b", "eager-1f1b"}) {
    for (uint32_t hop = 0; hop < 3; ++hop) {
      SCOPED_TRACE(absl::StrCat(schedule, ", hop ", hop));
      proto::Plan plan =
          WithManySlots(schedule, 3, 5, /*reads_twice=*/hop % 2 == 0);
      Edit edit(&plan);
      const std::vector<uint32_t> buffers = {edit.B("to1"), edit.B("to2"),
                                             edit.B("back0"), edit.B("back1")};
      const LoopTimes times = TimesOf(plan, hop);
      const std::vector<SlotBound> bounds =
          FindLeastSlots(plan, 1, buffers, times, /*explains=*/false);
      const std::vector<uint64_t> ends = EndsOf(plan, times);
      uint32_t least = UINT32_MAX, found = 0;
      for (uint32_t v = 0; v < 5 * 5 * 5 * 5; ++v) {
        uint32_t sum = 0, rest = v;
        bool is_found = true;
        for (size_t i = 0; i < buffers.size(); ++i, rest /= 5) {
          const uint32_t slots = 1 + rest % 5;
          plan.mutable_buffers(static_cast<int>(buffers[i]))
              ->set_iteration_slots(slots);
          sum += slots;
          is_found &= slots == bounds[i].slots;
        }
        const bool is_as_early = EndsOf(plan, times) == ends;
        if (is_as_early) least = std::min(least, sum);
        if (!is_found) continue;
        EXPECT_TRUE(is_as_early);
        found = sum;
      }
      EXPECT_EQ(found, least);
    }
  }
}

// With random times, slices end as early as with a slot for each iteration, and
// one of them later, or none, with one slot less.
TEST(LoopsTest, NoneOfTheFewestSlotsCanBeLowered) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    const uint32_t stages = 2 + random() % 3, trips = 2 + random() % 7;
    const char* schedules[] = {"gpipe", "1f1b", "eager-1f1b"};
    proto::Plan plan =
        WithManySlots(schedules[random() % 3], stages, trips, random() % 2);
    Edit edit(&plan);
    std::vector<uint32_t> buffers;
    for (uint32_t s = 0; s < stages; ++s) {
      buffers.push_back(edit.B(absl::StrCat("out", s).c_str()));
      buffers.push_back(edit.B(absl::StrCat("grad", s).c_str()));
      if (s > 0) buffers.push_back(edit.B(absl::StrCat("to", s).c_str()));
      if (s + 1 < stages)
        buffers.push_back(edit.B(absl::StrCat("back", s).c_str()));
    }
    LoopTimes times = TimesOf(plan, 0);
    for (size_t a = 0; a < times.run.size(); ++a) {
      const bool is_gang = plan.actions(a).kind() == proto::GANG;
      times.run[a] = is_gang ? 1 + random() % 9 : random() % 4;
    }
    const std::vector<uint64_t> ends = EndsOf(plan, times);
    const std::vector<SlotBound> bounds =
        FindLeastSlots(plan, 1, buffers, times, /*explains=*/true);
    auto set = [&](size_t i, uint32_t slots) {
      plan.mutable_buffers(buffers[i])->set_iteration_slots(slots);
    };
    for (size_t i = 0; i < buffers.size(); ++i) set(i, bounds[i].slots);
    EXPECT_EQ(EndsOf(plan, times), ends);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (bounds[i].slots == 1) continue;
      set(i, bounds[i].slots - 1);
      const std::vector<uint64_t> later = EndsOf(plan, times);
      EXPECT_NE(later, ends) << plan.buffers(buffers[i]).name();
      EXPECT_EQ(later.empty(), bounds[i].reason == SlotBound::kDeadlock);
      set(i, bounds[i].slots);
    }
    if (HasFailure()) break;
  }
}

struct LoopFault {
  const char* name;
  int rule;
  const char* says;
  void (*plant)(proto::Plan*);
  // Only the plan that hosts run shows it.
  bool in_expansion = false;
};

// Each of these is found.
const LoopFault kFaults[] = {
    {"NoTrips", 11, "loop 'rows' has 0 trips, expected 1 to 1048576",
     [](proto::Plan* p) { p->mutable_loops(0)->set_trips(0); }},
    {"TooManyTrips", 11, "has 4294967295 trips",
     [](proto::Plan* p) { p->mutable_loops(0)->set_trips(UINT32_MAX); }},
    {"TwoNames", 11, "needs a name that no other loop of the plan has",
     [](proto::Plan* p) { *p->add_loops() = p->loops(0); }},
    {"NoAction", 11, "loop 'empty' has no action",
     [](proto::Plan* p) {
       proto::Loop* loop = p->add_loops();
       loop->set_name("empty");
       loop->set_trips(1);
     }},
    {"ActionOfNoLoop", 11, "gang 'F0' is in loop 8, but the plan has 1",
     [](proto::Plan* p) { Edit(p).Action("F0")->set_loop(9); }},
    {"BufferOfNoLoop", 11, "buffer 'out0' is in loop 8, but the plan has 1",
     [](proto::Plan* p) { Edit(p).Buffer("out0")->set_loop(9); }},
    {"NameOfNoBuffer", 11, "buffer 'total' names buffer 999",
     [](proto::Plan* p) { Edit(p).Buffer("total")->set_last_of(1000); }},
    {"FeedInLoop", 11, "expected a gang, a send or a recv",
     [](proto::Plan* p) { Edit(p).Action("x.feed")->set_loop(1); }},
    {"GapInLoop", 11, "does not follow the other actions of that loop",
     [](proto::Plan* p) { Edit(p).Action("B1")->set_loop(0); }},
    {"PeerOutside", 11, "its peer, is in no loop",
     [](proto::Plan* p) { Edit(p).Action("back0.recv")->set_loop(0); }},
    {"SlotsOutside", 11, "is in no loop, but has 2 slots",
     [](proto::Plan* p) { Edit(p).Buffer("x")->set_iteration_slots(2); }},
    {"NoSlots", 11, "has 0 slots for iterations, expected 1 to 4",
     [](proto::Plan* p) { Edit(p).Buffer("out0")->set_iteration_slots(0); }},
    {"BelowMemory", 9, "is not within the largest segment",
     [](proto::Plan* p) {
       Edit(p).Buffer("kept0")->set_iteration_stride(INT64_MIN / 4);
     }},
    {"NameWithSlots", 11, "is another name, but has 1 slots",
     [](proto::Plan* p) { Edit(p).Buffer("before")->set_iteration_slots(1); }},
    {"NothingNext", 11, "is carried, expected a loop, an initial and a next",
     [](proto::Plan* p) { Edit(p).Buffer("before")->clear_next(); }},
    {"NextOutside", 11, "which is not a buffer of that loop",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Buffer("before")->set_next(edit.B("x") + 1);
     }},
    {"InitialInside", 11, "expected a buffer of no loop",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Buffer("before")->set_initial(edit.B("out1") + 1);
     }},
    {"OtherLayout", 11, "but is another name of buffer 'sum'",
     [](proto::Plan* p) { Edit(p).Buffer("total")->set_layout(0); }},
    {"OtherPlace", 11, "is at 128 with 1 credits of 128 bytes by 0",
     [](proto::Plan* p) { Edit(p).Buffer("total")->set_offset(128); }},
    {"NoCredits", 11, "with 0 credits of 128 bytes by 0, but is another name",
     [](proto::Plan* p) { Edit(p).Buffer("before")->set_credits(0); }},
    {"LastOfOuter", 11, "which is not a buffer of a loop",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Buffer("total")->set_last_of(edit.B("zero") + 1);
     }},
    {"ReadOutside", 11, "fetch 'total.fetch' reads buffer 'out1' of loop",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Action("total.fetch")->set_operands(0, edit.B("out1"));
     }},
    {"WritesName", 11, "writes buffer 'before', which is another name",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Action("F1")->add_results(edit.B("before"));
     }},
    {"WritesOuter", 11, "which is not in loop 'rows', as the gang is",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Action("F0")->add_results(edit.B("x"));
     }},
    {"CellMissing", 11, "has 3 iterations of gang 'F0' in its orders",
     [](proto::Plan* p) {
       // The last order is that of the last slice.
       p->mutable_loops(0)->mutable_orders(0)->set_times(3);
     }},
    {"CellTwice", 11, "expected iteration 1 below 4 of a gang",
     [](proto::Plan* p) {
       p->mutable_loops(0)->mutable_orders(0)->set_step(0);
     }},
    {"CellOnOtherSlice", 11, "in the order of slice 's1'",
     [](proto::Plan* p) {
       p->mutable_loops(0)->mutable_orders(0)->set_slice(1);
     }},
    {"CellOfNoAction", 11, "has an order of action 1000",
     [](proto::Plan* p) {
       p->mutable_loops(0)->mutable_orders(0)->set_gangs(0, 1000);
     }},
    {"CellWithoutIteration", 11, "expected one iteration for each gang",
     [](proto::Plan* p) {
       p->mutable_loops(0)->mutable_orders(0)->clear_iterations();
     }},
    {"RunTooLong", 11, "has a run of 4294967295 times",
     [](proto::Plan* p) {
       p->mutable_loops(0)->mutable_orders(0)->set_times(UINT32_MAX);
     }},
    {"StoredEdge", 11, "where only edges of relation all are stored",
     [](proto::Plan* p) {
       Edit(p).AddEdge("x.feed", "split", 0, proto::DATA, proto::SAME);
     }},
    {"EdgeIntoLoop", 11, "ends in a loop, expected actions of no loop",
     [](proto::Plan* p) {
       Edit(p).AddEdge("x.feed", "F0", 0, proto::CONTROL, proto::ALL);
     }},
    // Found in the plan that hosts run, and reported at what it comes from.
    {"OutOverKept", 2, "edges without tokens form a cycle",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Buffer("out0")->set_offset(edit.Buffer("kept0")->offset());
     },
     /*in_expansion=*/true},
    {"GradientOverKept", 6,
     "reads the first and writes the second without an alias",
     [](proto::Plan* p) {
       Edit edit(p);
       edit.Buffer("grad0")->set_offset(edit.Buffer("kept0")->offset());
     },
     /*in_expansion=*/true},
    {"RowsBesideTheWhole", 7, "expected the same bytes",
     [](proto::Plan* p) { Edit(p).Buffer("x.parts")->set_offset(1 << 20); },
     /*in_expansion=*/true},
    {"NotInPlace", 7, "expected the same bytes",
     [](proto::Plan* p) {
       for (const char* name : {"before", "sum", "total"})
         Edit(p).Buffer(name)->set_offset(1 << 20);
     },
     /*in_expansion=*/true},
};

class LoopFaultTest : public ::testing::TestWithParam<LoopFault> {};

TEST_P(LoopFaultTest, IsFound) {
  proto::Plan plan = Pipeline(2, 4, /*backward=*/true).plan();
  ASSERT_EQ(Issues(plan), "");
  GetParam().plant(&plan);
  for (bool expands : {true, false}) {
    bool found = false;
    std::string all;
    for (const PlanIssue& issue :
         VerifyPlan(plan, /*blob_bytes=*/0, {.expands_loops = expands})) {
      found |= issue.rule == GetParam().rule &&
               issue.message.find(GetParam().says) != std::string::npos;
      absl::StrAppend(&all, "rule ", issue.rule, ": ", issue.message, "\n");
    }
    EXPECT_EQ(found, expands || !GetParam().in_expansion)
        << "expands: " << expands << "\nrule " << GetParam().rule << ": "
        << GetParam().says << "\nfound:\n"
        << all;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, LoopFaultTest, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

// A run of 2^40 cells, of which the second one is wrong.
TEST(LoopsTest, TheCheckOfAnOrderStopsAtTheFirstWrongCell) {
  Pipeline pipeline(1, kMaxTrips, /*backward=*/false);
  proto::OrderRun* run =
      pipeline.mutable_plan()->mutable_loops(0)->mutable_orders(0);
  for (int i = 0; i < 1 << 20; ++i) {
    run->add_gangs(run->gangs(0));
    run->add_iterations(0);
  }
  EXPECT_NE(Issues(pipeline.plan()).find("expected iteration 1 below 1048576"),
            std::string::npos);
}

TEST(LoopsTest, LoopsThatGrowTooLargeAreRefused) {
  Pipeline pipeline(4, kMaxTrips, /*backward=*/true);
  EXPECT_NE(
      Issues(pipeline.plan()).find("rule 9: plan 'pipeline' has at least"),
      std::string::npos);
}

}  // namespace
}  // namespace pathways::testing
