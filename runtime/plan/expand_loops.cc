//===- expand_loops.cc - Plans with the iterations of loops ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/expand_loops.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/derive_edges.h"
#include "runtime/plan/loop_graph.h"
#include "runtime/plan/loop_tables.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

//===----------------------------------------------------------------------===//
// Order of the iterations
//===----------------------------------------------------------------------===//

// Returns firings that wait for each other. `left`: how many nodes each node
// still waits for.
std::vector<LoopFiring> FindCircle(const IterationGraph& graph,
                                   const std::vector<uint32_t>& left) {
  // Each node that is left waits for another one that is left.
  constexpr uint32_t kNobody = UINT32_MAX;
  std::vector<uint32_t> before(left.size(), kNobody);
  uint32_t at = kNobody;
  for (uint32_t node = 0; node < left.size(); ++node) {
    if (left[node] == 0) continue;
    if (at == kNobody) at = node;
    for (uint32_t after : graph.Next(node))
      if (left[after] > 0 && before[after] == kNobody) before[after] = node;
  }
  std::vector<bool> seen(left.size());
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::vector<LoopFiring> circle;
  uint32_t node = at;
  do {
    circle.push_back({graph.ActionOf(node), graph.IterationOf(node)});
    node = before[node];
  } while (node != at);
  std::reverse(circle.begin(), circle.end());
  return circle;
}

LoopSequence Sequence(const IterationGraph& graph) {
  std::vector<uint32_t> left = graph.waits();
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t node = 0; node < left.size(); ++node)
    if (left[node] == 0) ready.push(node);
  LoopSequence sequence;
  sequence.order.reserve(left.size());
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    sequence.order.push_back({graph.ActionOf(node), graph.IterationOf(node)});
    for (uint32_t after : graph.Next(node))
      if (--left[after] == 0) ready.push(after);
  }
  if (sequence.order.size() < left.size())
    sequence.circle = FindCircle(graph, left);
  return sequence;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

class Expander {
 public:
  Expander(const proto::Plan& plan, const std::vector<LoopSequence>& sequences)
      : plan_(plan), tables_(plan), sequences_(sequences) {}

  ExpandedPlan Run() {
    proto::Plan& out = out_.plan;
    *out.mutable_header() = plan_.header();
    *out.mutable_slices() = plan_.slices();
    *out.mutable_layouts() = plan_.layouts();
    *out.mutable_kernels() = plan_.kernels();
    AddBuffers();
    NumberActions();
    AddActions();
    *out.mutable_interface() = plan_.interface();
    for (proto::Argument& argument :
         *out.mutable_interface()->mutable_arguments())
      argument.set_action(place_[argument.action()][0]);
    for (proto::Result& result : *out.mutable_interface()->mutable_results())
      result.set_action(place_[result.action()][0]);
    SetEnds();
    DeriveEdges(&out);
    for (const proto::Edge& edge : plan_.edges()) {
      proto::Edge* added = out.add_edges();
      *added = edge;
      added->set_from(place_[edge.from()][0]);
      added->set_to(place_[edge.to()][0]);
    }
    return std::move(out_);
  }

 private:
  void AddBuffers();
  void NumberActions();
  void AddActions();
  void AddAction(uint32_t number, uint32_t iteration);
  void SetEnds();
  uint32_t Trips(uint32_t loop) const {
    return loop == 0 ? 1 : plan_.loops(static_cast<int>(loop) - 1).trips();
  }
  // Returns the new buffer that `buffer` means in this iteration.
  uint32_t BufferIn(uint32_t buffer, uint32_t iteration) const;
  // Calls `add` with each new buffer that `buffer` means for an action: one, or
  // those of all iterations if the action is outside of the loop.
  template <typename F>
  void ForEach(const proto::Action& action, uint32_t buffer, uint32_t iteration,
               F add) const;

  const proto::Plan& plan_;
  const LoopTables tables_;
  const std::vector<LoopSequence>& sequences_;
  std::vector<uint32_t> first_buffer_;        // by buffer
  std::vector<std::vector<uint32_t>> place_;  // by action and iteration
  ExpandedPlan out_;
};

void Expander::AddBuffers() {
  for (int b = 0; b < plan_.buffers_size(); ++b) {
    const proto::Buffer& buffer = plan_.buffers(b);
    first_buffer_.push_back(out_.plan.buffers_size());
    if (IsName(buffer)) continue;
    for (uint32_t i = 0; i < Trips(buffer.loop()); ++i) {
      proto::Buffer* added = out_.plan.add_buffers();
      *added = buffer;
      out_.buffers.push_back(static_cast<uint32_t>(b));
      if (buffer.loop() == 0) continue;
      added->set_name(absl::StrCat(buffer.name(), "[", i, "]"));
      added->set_offset(PlaceOf(buffer, i));
      added->clear_loop();
      added->clear_iteration_slots();
      added->clear_iteration_stride();
    }
  }
}

void Expander::NumberActions() {
  place_.resize(plan_.actions_size());
  uint32_t at = 0;
  for (int a = 0; a < plan_.actions_size();) {
    const uint32_t loop = plan_.actions(a).loop();
    if (loop == 0) {
      place_[a++].push_back(at++);
      continue;
    }
    for (uint32_t n = tables_.NumActions(loop); n-- > 0;)
      place_[a++].resize(Trips(loop));
    for (const LoopFiring& firing : sequences_[loop - 1].order)
      place_[firing.action][firing.iteration] = at++;
  }
}

void Expander::AddActions() {
  for (int a = 0; a < plan_.actions_size();) {
    const uint32_t loop = plan_.actions(a).loop();
    if (loop == 0) {
      AddAction(static_cast<uint32_t>(a++), 0);
      continue;
    }
    for (const LoopFiring& firing : sequences_[loop - 1].order)
      AddAction(firing.action, firing.iteration);
    a += static_cast<int>(tables_.NumActions(loop));
  }
}

uint32_t Expander::BufferIn(uint32_t buffer, uint32_t iteration) const {
  const proto::Buffer* at = &plan_.buffers(static_cast<int>(buffer));
  while (IsName(*at)) {
    if (at->last_of() != 0) {
      buffer = at->last_of() - 1;
      at = &plan_.buffers(static_cast<int>(buffer));
      iteration = Trips(at->loop()) - 1;
    } else {
      buffer = iteration == 0 ? at->initial() - 1 : at->next() - 1;
      iteration = iteration == 0 ? 0 : iteration - 1;
      at = &plan_.buffers(static_cast<int>(buffer));
    }
  }
  return first_buffer_[buffer] + (at->loop() == 0 ? 0 : iteration);
}

template <typename F>
void Expander::ForEach(const proto::Action& action, uint32_t buffer,
                       uint32_t iteration, F add) const {
  const proto::Buffer& of = plan_.buffers(static_cast<int>(buffer));
  if (action.loop() != 0 || of.loop() == 0 || IsName(of))
    return add(BufferIn(buffer, iteration));
  for (uint32_t i = 0; i < Trips(of.loop()); ++i) add(BufferIn(buffer, i));
}

void Expander::AddAction(uint32_t number, uint32_t iteration) {
  const proto::Action& action = plan_.actions(static_cast<int>(number));
  proto::Action* added = out_.plan.add_actions();
  *added = action;
  out_.actions.push_back(number);
  added->clear_loop();
  added->clear_operands();
  added->clear_results();
  added->clear_aliases();
  if (action.loop() != 0)
    added->set_name(absl::StrCat(action.name(), "[", iteration, "]"));
  if (action.kind() == proto::SEND || action.kind() == proto::RECV)
    added->set_peer(place_[action.peer()][iteration]);
  for (uint32_t b : action.operands())
    ForEach(action, b, iteration, [&](uint32_t n) { added->add_operands(n); });
  for (uint32_t b : action.results())
    ForEach(action, b, iteration, [&](uint32_t n) { added->add_results(n); });
  for (const proto::Alias& alias : action.aliases())
    ForEach(action, alias.operand(), iteration, [&](uint32_t operand) {
      ForEach(action, alias.result(), iteration, [&](uint32_t result) {
        proto::Alias* pair = added->add_aliases();
        pair->set_operand(operand);
        pair->set_result(result);
      });
    });
  if (action.has_guard())
    added->mutable_guard()->set_buffer(
        BufferIn(action.guard().buffer(), iteration));
  for (proto::GangStep& step : *added->mutable_steps()) {
    if (step.has_run()) {
      for (uint32_t& b : *step.mutable_run()->mutable_buffers())
        b = BufferIn(b, iteration);
      continue;
    }
    proto::Collective* collective = step.mutable_collective();
    collective->set_source(BufferIn(collective->source(), iteration));
    collective->set_result(BufferIn(collective->result(), iteration));
  }
}

// Sets the first and the last action of each buffer.
void Expander::SetEnds() {
  proto::Plan& out = out_.plan;
  std::vector<bool> seen(out.buffers_size());
  for (int a = 0; a < out.actions_size(); ++a) {
    auto touch = [&](uint32_t b) {
      proto::Buffer* buffer = out.mutable_buffers(static_cast<int>(b));
      if (!seen[b]) buffer->set_first_action(a);
      seen[b] = true;
      buffer->set_last_action(a);
    };
    for (uint32_t b : out.actions(a).operands()) touch(b);
    for (uint32_t b : out.actions(a).results()) touch(b);
  }
}

}  // namespace

std::vector<LoopSequence> SequenceLoops(const proto::Plan& plan) {
  const LoopTables tables(plan);
  std::vector<LoopSequence> sequences;
  for (int loop = 1; loop <= plan.loops_size(); ++loop) {
    sequences.push_back(
        Sequence(IterationGraph(plan, tables, static_cast<uint32_t>(loop))));
    if (!sequences.back().circle.empty()) break;
  }
  return sequences;
}

ExpandedPlan ExpandLoops(const proto::Plan& plan,
                         const std::vector<LoopSequence>& sequences) {
  return Expander(plan, sequences).Run();
}

proto::Plan WithoutLoops(const proto::Plan& plan) {
  return ExpandLoops(plan, SequenceLoops(plan)).plan;
}

}  // namespace pathways
