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
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/plan/derive_edges.h"
#include "runtime/plan/loop_tables.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

//===----------------------------------------------------------------------===//
// Order of the iterations
//===----------------------------------------------------------------------===//

// A graph of the iterations of a loop, and of what each waits for.
class Sequencer {
 public:
  Sequencer(const proto::Plan& plan, const LoopTables& tables, int loop)
      : plan_(plan),
        tables_(tables),
        loop_(plan.loops(loop)),
        number_(static_cast<uint32_t>(loop) + 1),
        first_(tables_.FirstAction(number_)),
        width_(tables_.NumActions(number_)),
        waits_(size_t{width_} * loop_.trips()) {}

  LoopSequence Run() {
    AddData();
    AddTurns();
    AddOrder();
    SortEdges();
    return Sort();
  }

 private:
  uint32_t Node(uint32_t action, uint32_t iteration) const {
    return iteration * width_ + (action - first_);
  }
  LoopFiring FiringOf(uint32_t node) const {
    return {first_ + node % width_, node / width_};
  }
  // Makes `after` wait, in each iteration, for `before` of `lag` iterations
  // earlier, or later if that is negative.
  void Wait(uint32_t before, uint32_t after, int64_t lag) {
    for (int64_t i = std::max<int64_t>(lag, 0);
         i < std::min<int64_t>(loop_.trips(), loop_.trips() + lag); ++i)
      WaitOnce(Node(before, static_cast<uint32_t>(i - lag)),
               Node(after, static_cast<uint32_t>(i)));
  }
  void WaitOnce(uint32_t before, uint32_t after) {
    edges_.emplace_back(before, after);
    ++waits_[after];
  }
  // Returns the nodes that wait for `node`.
  absl::Span<const uint32_t> Next(uint32_t node) const {
    return absl::MakeConstSpan(next_).subspan(
        first_next_[node], first_next_[node + 1] - first_next_[node]);
  }

  void AddData();
  void AddTurns();
  void AddOrder();
  void SortEdges();
  LoopSequence Sort() const;
  std::vector<LoopFiring> FindCircle(const std::vector<uint32_t>& left) const;

  const proto::Plan& plan_;
  const LoopTables& tables_;
  const proto::Loop& loop_;
  const uint32_t number_;
  const uint32_t first_;
  const uint32_t width_;
  std::vector<uint32_t> waits_;                       // by node
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // before and after
  std::vector<uint32_t> next_;                        // ends of edges, by node
  std::vector<size_t> first_next_;                    // by node
};

void Sequencer::AddData() {
  for (uint32_t a = first_; a < first_ + width_; ++a) {
    const proto::Action& action = plan_.actions(static_cast<int>(a));
    for (uint32_t b : action.operands()) {
      const LoopTables::Content content = tables_.ContentOf(b);
      if (content.loop == number_ && tables_.IsInside(content.writer))
        Wait(content.writer, a, content.lag);
    }
    if (action.kind() == proto::RECV) Wait(action.peer(), a, 0);
  }
}

// Adds what waits until the users of a place have left it.
void Sequencer::AddTurns() {
  for (uint32_t number : tables_.BuffersOf(number_)) {
    const proto::Buffer& buffer = plan_.buffers(static_cast<int>(number));
    if (!tables_.IsInside(tables_.WriterOf(number))) continue;
    // An action that takes the memory of an operand waits for the other readers
    // of the operand.
    const LoopTables::Alias* alias = tables_.AliasOf(number);
    if (alias != nullptr) {
      const LoopTables::Content content = tables_.ContentOf(alias->operand);
      const uint32_t writer = tables_.WriterOf(number);
      if (content.loop != number_) continue;
      for (const LoopTables::Read& read : tables_.ReadsOf(content.buffer))
        if (tables_.IsInside(read.action) && read.action != writer)
          Wait(read.action, writer, int64_t{content.lag} - read.lag);
      continue;
    }
    if (buffer.iteration_slots() >= loop_.trips()) continue;
    const uint32_t entry = EntryOf(plan_, tables_.WriterOf(number));
    for (uint32_t member : tables_.ChainOf(number)) {
      Wait(tables_.WriterOf(member), entry, buffer.iteration_slots());
      for (const LoopTables::Read& read : tables_.ReadsOf(member))
        if (tables_.IsInside(read.action))
          Wait(read.action, entry,
               int64_t{buffer.iteration_slots()} - read.lag);
    }
  }
}

void Sequencer::AddOrder() {
  std::map<uint32_t, uint32_t> last;  // node, by slice
  ForEachCell(loop_, [&](uint32_t slice, uint32_t gang, uint64_t iteration) {
    const uint32_t node = Node(gang, static_cast<uint32_t>(iteration));
    auto [it, is_first] = last.try_emplace(slice, node);
    if (!is_first) WaitOnce(std::exchange(it->second, node), node);
    return true;
  });
}

void Sequencer::SortEdges() {
  first_next_.assign(waits_.size() + 1, 0);
  for (const auto& [before, after] : edges_) ++first_next_[before + 1];
  std::partial_sum(first_next_.begin(), first_next_.end(), first_next_.begin());
  next_.resize(edges_.size());
  std::vector<size_t> at(first_next_.begin(), first_next_.end() - 1);
  for (const auto& [before, after] : edges_) next_[at[before]++] = after;
}

LoopSequence Sequencer::Sort() const {
  std::vector<uint32_t> left = waits_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t node = 0; node < left.size(); ++node)
    if (left[node] == 0) ready.push(node);
  LoopSequence sequence;
  sequence.order.reserve(left.size());
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    sequence.order.push_back(FiringOf(node));
    for (uint32_t after : Next(node))
      if (--left[after] == 0) ready.push(after);
  }
  if (sequence.order.size() < left.size()) sequence.circle = FindCircle(left);
  return sequence;
}

// `left`: how many each node still waits for.
std::vector<LoopFiring> Sequencer::FindCircle(
    const std::vector<uint32_t>& left) const {
  // Each node that is left waits for another one that is left.
  constexpr uint32_t kNobody = UINT32_MAX;
  std::vector<uint32_t> before(left.size(), kNobody);
  uint32_t at = kNobody;
  for (uint32_t node = 0; node < left.size(); ++node) {
    if (left[node] == 0) continue;
    if (at == kNobody) at = node;
    for (uint32_t after : Next(node))
      if (left[after] > 0 && before[after] == kNobody) before[after] = node;
  }
  std::vector<bool> seen(left.size());
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::vector<LoopFiring> circle;
  uint32_t node = at;
  do {
    circle.push_back(FiringOf(node));
    node = before[node];
  } while (node != at);
  std::reverse(circle.begin(), circle.end());
  return circle;
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
  for (int loop = 0; loop < plan.loops_size(); ++loop) {
    sequences.push_back(Sequencer(plan, tables, loop).Run());
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
