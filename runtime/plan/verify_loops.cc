//===- verify_loops.cc - Checks of loops ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/expand_loops.h"
#include "runtime/plan/loop_tables.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

// Rule 2, for the iterations of a loop.
constexpr int kIterationOrder = 2;
constexpr int kLoops = 11;
// Messages cut longer circles.
constexpr size_t kMaxShownFirings = 16;

// Checks rule 11, so that the loops can be expanded.
class LoopChecker {
 public:
  explicit LoopChecker(Context* context)
      : context_(*context), plan_(context->plan) {}

  void Run() {
    CheckEntries();
    if (context_.issues.empty()) CheckActions();
    if (context_.issues.empty()) CheckBuffers();
    if (plan_.loops().empty()) return;
    if (context_.issues.empty()) CheckUses();
    if (context_.issues.empty()) CheckSize();
    if (context_.issues.empty()) CheckOrders();
    if (context_.issues.empty()) CheckEdges();
  }

 private:
  template <typename... Parts>
  PlanIssue& Add(Subject::Table table, int64_t index, const Parts&... parts) {
    return context_.Add(kLoops, table, index, parts...);
  }
  const proto::Loop& Loop(uint32_t number) const {
    return plan_.loops(static_cast<int>(number) - 1);
  }
  std::string LoopText(uint32_t number) const {
    return number == 0 ? "no loop"
                       : absl::StrCat("loop ", Quoted(Loop(number).name()));
  }
  bool IsName(uint32_t buffer) const {
    return pathways::IsName(context_.buffer(buffer));
  }

  // Checks names, trips and every reference.
  void CheckEntries();
  // Checks that the actions of a loop follow each other and are of a kind that
  // may be in one.
  void CheckActions();
  void CheckBuffers();
  void CheckName(uint32_t number);
  // Checks that buffers of loops are used inside of them, or by gangs that cut
  // or stack whole arrays.
  void CheckUses();
  void CheckUse(uint32_t number, uint32_t buffer, bool writes);
  void CheckOrders();
  void CheckEdges();
  void CheckSize();

  Context& context_;
  const proto::Plan& plan_;
};

void LoopChecker::CheckEntries() {
  absl::flat_hash_map<absl::string_view, int> names;
  for (int i = 0; i < plan_.loops_size() && !context_.full(); ++i) {
    const proto::Loop& loop = plan_.loops(i);
    const std::string text = LoopText(static_cast<uint32_t>(i) + 1);
    if (loop.name().empty() || !names.try_emplace(loop.name(), i).second)
      Add(Subject::kLoop, i, text,
          " needs a name that no other loop of the plan has");
    if (loop.trips() < 1 || loop.trips() > kMaxTrips)
      Add(Subject::kLoop, i, text, " has ", loop.trips(),
          " trips, expected 1 to ", kMaxTrips);
    for (const proto::OrderRun& run : loop.orders()) {
      if (context_.full()) return;
      if (run.slice() >= static_cast<uint32_t>(plan_.slices_size()))
        Add(Subject::kLoop, i, text, " has an order of slice ", run.slice(),
            ", but the plan has ", plan_.slices_size());
      if (run.gangs_size() != run.iterations_size() || run.gangs_size() == 0)
        Add(Subject::kLoop, i, text, " has an order of ", run.gangs_size(),
            " gangs and ", run.iterations_size(),
            " iterations, expected one iteration for each gang");
      for (uint32_t gang : run.gangs())
        if (gang >= static_cast<uint32_t>(plan_.actions_size()))
          Add(Subject::kLoop, i, text, " has an order of action ", gang,
              ", but the plan has ", plan_.actions_size());
    }
  }
  const uint32_t loops = static_cast<uint32_t>(plan_.loops_size());
  const uint32_t buffers = static_cast<uint32_t>(plan_.buffers_size());
  for (int a = 0; a < plan_.actions_size() && !context_.full(); ++a)
    if (plan_.actions(a).loop() > loops)
      Add(Subject::kAction, a, context_.ActionText(a), " is in loop ",
          plan_.actions(a).loop() - 1, ", but the plan has ", loops);
  for (int b = 0; b < plan_.buffers_size() && !context_.full(); ++b) {
    const proto::Buffer& buffer = plan_.buffers(b);
    if (buffer.loop() > loops)
      Add(Subject::kBuffer, b, context_.BufferText(b), " is in loop ",
          buffer.loop() - 1, ", but the plan has ", loops);
    for (uint32_t other : {buffer.initial(), buffer.next(), buffer.last_of()})
      if (other > buffers)
        Add(Subject::kBuffer, b, context_.BufferText(b), " names buffer ",
            other - 1, ", but the plan has ", buffers);
  }
}

void LoopChecker::CheckActions() {
  uint32_t current = 0;
  std::vector<bool> seen(plan_.loops_size());
  for (int a = 0; a < plan_.actions_size() && !context_.full(); ++a) {
    const proto::Action& action = plan_.actions(a);
    const uint32_t loop = action.loop();
    if (loop != current && loop != 0) {
      if (seen[loop - 1])
        Add(Subject::kAction, a, context_.ActionText(a), " is in ",
            LoopText(loop),
            ", but does not follow the other actions of that loop");
      seen[loop - 1] = true;
    }
    current = loop;
    const bool moves =
        action.kind() == proto::SEND || action.kind() == proto::RECV;
    if (moves && context_.action(action.peer()).loop() != loop)
      Add(Subject::kAction, a, context_.ActionText(a), " is in ",
          LoopText(loop), ", but ", context_.ActionText(action.peer()),
          ", its peer, is in ", LoopText(context_.action(action.peer()).loop()))
          .notes.push_back({{Subject::kAction, action.peer()}, "peer is here"});
    if (loop != 0 && !moves && action.kind() != proto::GANG)
      Add(Subject::kAction, a, context_.ActionText(a), " is in ",
          LoopText(loop), ", expected a gang, a send or a recv");
  }
  for (int i = 0; i < plan_.loops_size() && !context_.full(); ++i)
    if (!seen[i])
      Add(Subject::kLoop, i, LoopText(static_cast<uint32_t>(i) + 1),
          " has no action");
}

void LoopChecker::CheckBuffers() {
  for (int b = 0; b < plan_.buffers_size() && !context_.full(); ++b) {
    const proto::Buffer& buffer = plan_.buffers(b);
    const std::string text = context_.BufferText(b);
    if (IsName(b) || buffer.next() != 0) {
      CheckName(static_cast<uint32_t>(b));
      continue;
    }
    if (buffer.loop() == 0) {
      if (buffer.iteration_slots() != 0 || buffer.iteration_stride() != 0)
        Add(Subject::kBuffer, b, text, " is in no loop, but has ",
            buffer.iteration_slots(), " slots for iterations");
      continue;
    }
    const uint32_t trips = Loop(buffer.loop()).trips();
    const uint32_t slots = buffer.iteration_slots();
    if (slots < 1 || slots > trips) {
      Add(Subject::kBuffer, b, text, " has ", slots,
          " slots for iterations, expected 1 to ", trips, ", the trips of ",
          LoopText(buffer.loop()));
      continue;
    }
    const __int128 last =
        static_cast<__int128>(buffer.iteration_stride()) * (slots - 1) +
        buffer.offset();
    if (last < 0 || last > static_cast<__int128>(kMaxSegmentBytes))
      context_.Add(kLimits, Subject::kBuffer, b, text, " with ", slots,
                   " slots from offset ", buffer.offset(), " by ",
                   buffer.iteration_stride(),
                   " is not within the largest segment, ", kMaxSegmentBytes,
                   " bytes");
  }
}

void LoopChecker::CheckName(uint32_t number) {
  const proto::Buffer& buffer = context_.buffer(number);
  const std::string text = context_.BufferText(number);
  auto add = [&](auto&&... parts) {
    Add(Subject::kBuffer, number, text, parts...);
  };
  if (buffer.iteration_slots() != 0)
    return add(" is another name, but has ", buffer.iteration_slots(),
               " slots for iterations");
  auto check_same = [&](uint32_t other) {
    const proto::Buffer& of = context_.buffer(other);
    if (of.slice() != buffer.slice() || of.layout() != buffer.layout())
      add(" has slice ", buffer.slice(), " and layout ", buffer.layout(),
          ", but is another name of ", context_.BufferText(other),
          " with slice ", of.slice(), " and layout ", of.layout());
  };
  // A name states the place of the buffer of the loop that it is for.
  auto check_place = [&](uint32_t other) {
    check_same(other);
    const proto::Buffer& of = context_.buffer(other);
    if (of.offset() != buffer.offset() || of.bytes() != buffer.bytes() ||
        of.slot_stride() != buffer.slot_stride() ||
        of.credits() != buffer.credits() || of.memory() != buffer.memory())
      add(" is at ", buffer.offset(), " with ", buffer.credits(),
          " credits of ", buffer.bytes(), " bytes by ", buffer.slot_stride(),
          ", but is another name of ", context_.BufferText(other), " at ",
          of.offset(), " with ", of.credits(), " credits of ", of.bytes(),
          " bytes by ", of.slot_stride());
  };
  if (buffer.last_of() != 0) {
    const uint32_t last = buffer.last_of() - 1;
    if (buffer.loop() != 0 || buffer.initial() != 0 || buffer.next() != 0)
      return add(" names the last iteration of ", context_.BufferText(last),
                 ", so it can be in no loop and have no other names");
    if (context_.buffer(last).loop() == 0 || IsName(last))
      return add(" names the last iteration of ", context_.BufferText(last),
                 ", which is not a buffer of a loop");
    return check_place(last);
  }
  if (buffer.loop() == 0 || buffer.initial() == 0 || buffer.next() == 0)
    return add(" is carried, expected a loop, an initial and a next buffer");
  const uint32_t initial = buffer.initial() - 1;
  const uint32_t next = buffer.next() - 1;
  if (context_.buffer(initial).loop() != 0)
    return add(" begins as ", context_.BufferText(initial), " of ",
               LoopText(context_.buffer(initial).loop()),
               ", expected a buffer of no loop");
  if (context_.buffer(next).loop() != buffer.loop() || IsName(next))
    return add(" is carried in ", LoopText(buffer.loop()), " from ",
               context_.BufferText(next),
               ", which is not a buffer of that loop");
  check_same(initial);
  check_place(next);
}

void LoopChecker::CheckUses() {
  for (int a = 0; a < plan_.actions_size() && !context_.full(); ++a) {
    const proto::Action& action = plan_.actions(a);
    const uint32_t number = static_cast<uint32_t>(a);
    for (uint32_t b : action.operands()) CheckUse(number, b, /*writes=*/false);
    for (uint32_t b : action.results()) CheckUse(number, b, /*writes=*/true);
  }
}

void LoopChecker::CheckUse(uint32_t number, uint32_t b, bool writes) {
  if (context_.full()) return;
  const proto::Action& action = context_.action(number);
  const proto::Buffer& buffer = context_.buffer(b);
  const char* what = writes ? " writes " : " reads ";
  auto add = [&](auto&&... parts) {
    Add(Subject::kAction, number, context_.ActionText(number), what,
        context_.BufferText(b), parts...);
  };
  if (IsName(b) && writes) return add(", which is another name");
  if (buffer.loop() == action.loop()) return;
  if (buffer.loop() == 0) {
    // Any iteration may read what is there before the loop.
    if (writes)
      add(", which is not in ", LoopText(action.loop()), ", as the gang is");
    return;
  }
  // A gang without steps cuts a whole array, or stacks it.
  if (action.loop() == 0 && action.kind() == proto::GANG &&
      action.steps().empty() && !IsName(b) &&
      buffer.iteration_slots() == Loop(buffer.loop()).trips())
    return;
  add(" of ", LoopText(buffer.loop()),
      ", expected an action of that loop, or a "
      "gang of no loop and without steps, if the buffer has a slot for each "
      "iteration");
}

void LoopChecker::CheckOrders() {
  std::vector<uint32_t> next(plan_.actions_size());  // iteration, by gang
  for (int i = 0; i < plan_.loops_size() && !context_.full(); ++i) {
    const proto::Loop& loop = plan_.loops(i);
    const uint32_t number = static_cast<uint32_t>(i) + 1;
    const std::string text = LoopText(number);
    for (const proto::OrderRun& run : loop.orders()) {
      if (run.times() > loop.trips() || run.step() > loop.trips() ||
          run.times() == 0) {
        Add(Subject::kLoop, i, text, " has a run of ", run.times(),
            " times by ", run.step(), " iterations, but ", loop.trips(),
            " trips");
        return;
      }
    }
    const bool good = ForEachCell(
        loop, [&](uint32_t slice, uint32_t gang, uint64_t iteration) {
          const proto::Action& action = context_.action(gang);
          if (action.kind() == proto::GANG && action.loop() == number &&
              action.slice() == slice && next[gang] == iteration &&
              iteration < loop.trips()) {
            ++next[gang];
            return true;
          }
          Add(Subject::kLoop, i, text, " has iteration ", iteration, " of ",
              context_.ActionText(gang), " in the order of ",
              context_.SliceText(slice), ", expected iteration ", next[gang],
              " below ", loop.trips(), " of a gang of the loop on that slice");
          return false;
        });
    if (!good) return;
  }
  for (int a = 0; a < plan_.actions_size() && !context_.full(); ++a) {
    const uint32_t loop = plan_.actions(a).loop();
    if (loop != 0 && plan_.actions(a).kind() == proto::GANG &&
        next[a] != Loop(loop).trips())
      Add(Subject::kLoop, loop - 1, LoopText(loop), " has ", next[a],
          " iterations of ", context_.ActionText(a),
          " in its orders, expected ", Loop(loop).trips());
  }
}

void LoopChecker::CheckEdges() {
  for (int e = 0; e < plan_.edges_size() && !context_.full(); ++e) {
    const proto::Edge& edge = plan_.edges(e);
    if (edge.relation() != proto::ALL)
      Add(Subject::kEdge, e, context_.EdgeText(e),
          " is in a plan with loops, where only edges of relation all are "
          "stored");
    else if (context_.action(edge.from()).loop() != 0 ||
             context_.action(edge.to()).loop() != 0)
      Add(Subject::kEdge, e, context_.EdgeText(e),
          " ends in a loop, expected actions of no loop");
  }
}

void LoopChecker::CheckSize() {
  uint64_t entries = 0;
  for (const proto::Action& action : plan_.actions()) {
    const uint64_t uses = 1 + action.operands_size() + action.results_size();
    uint64_t each = uses * (action.loop() ? Loop(action.loop()).trips() : 1);
    if (action.loop() == 0)
      for (const auto* list : {&action.operands(), &action.results()})
        for (uint32_t b : *list)
          if (context_.buffer(b).loop() != 0)
            each += Loop(context_.buffer(b).loop()).trips();
    entries += each;
    if (entries > kMaxExpanded) break;
  }
  if (entries > kMaxExpanded)
    context_.Add(kLimits, Subject::kHeader, 0, "plan ",
                 Quoted(plan_.header().program()), " has at least ", entries,
                 " uses of buffers in all iterations of its loops, at most ",
                 kMaxExpanded, " are accepted");
}

// Reports the firings of a loop that wait for each other.
void AddCircle(Context* context, int loop,
               const std::vector<LoopFiring>& circle) {
  std::string text;
  std::vector<PlanNote> notes;
  auto name = [&](const LoopFiring& firing) {
    return Quoted(absl::StrCat(context->action(firing.action).name(), "[",
                               firing.iteration, "]"));
  };
  for (size_t i = 0; i < circle.size(); ++i) {
    if (i == kMaxShownFirings) {
      absl::StrAppend(&text, "... ", circle.size() - i, " more -> ");
      break;
    }
    absl::StrAppend(&text, name(circle[i]), " -> ");
    notes.push_back({{Subject::kAction, circle[i].action},
                     absl::StrCat(name(circle[i]), " is here")});
  }
  absl::StrAppend(&text, name(circle.front()));
  context
      ->Add(kIterationOrder, Subject::kLoop, loop, "loop ",
            Quoted(context->plan.loops(loop).name()),
            " has iterations that wait for each other: ", text)
      .notes = std::move(notes);
}

}  // namespace

void CheckLoops(Context* context) { LoopChecker(context).Run(); }

std::vector<PlanIssue> VerifyExpanded(Context* context) {
  const std::vector<LoopSequence> sequences = SequenceLoops(context->plan);
  if (!sequences.back().circle.empty()) {
    AddCircle(context, static_cast<int>(sequences.size()) - 1,
              sequences.back().circle);
    return std::move(context->issues);
  }
  if (!context->options.expands_loops) return {};
  const ExpandedPlan expanded = ExpandLoops(context->plan, sequences);
  std::vector<PlanIssue> issues =
      VerifyPlan(expanded.plan, context->blob_bytes, context->options);
  // The edges follow from the tables, so the plan with loops has none of them.
  auto map = [&](Subject* subject) {
    if (subject->table == Subject::kEdge)
      *subject = {Subject::kAction,
                  expanded.plan.edges(static_cast<int>(subject->index)).from()};
    if (subject->table == Subject::kAction)
      subject->index = expanded.actions[subject->index];
    else if (subject->table == Subject::kBuffer)
      subject->index = expanded.buffers[subject->index];
  };
  for (PlanIssue& issue : issues) {
    map(&issue.subject);
    for (PlanNote& note : issue.notes) map(&note.subject);
  }
  return issues;
}

}  // namespace pathways::verify_internal
