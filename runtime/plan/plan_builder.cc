//===- plan_builder.cc - Builder of plans by hand -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_builder.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/tables.h"

namespace pathways {

PlanBuilder::PlanBuilder(const std::string& program, uint32_t steps_in_flight) {
  plan_.mutable_header()->set_program(program);
  plan_.mutable_header()->set_producer("plan_builder");
  plan_.mutable_header()->set_steps_in_flight(steps_in_flight);
}

uint32_t PlanBuilder::AddSlice(const std::string& name,
                               const layout::Mesh& mesh, uint32_t island,
                               int64_t base, int64_t span) {
  proto::Slice* slice = plan_.add_slices();
  slice->set_name(name);
  SetMesh(mesh, slice);
  slice->mutable_binding()->set_island(island);
  proto::AffineDevices* affine = slice->mutable_binding()->mutable_affine();
  affine->set_base(base);
  affine->set_span(span);
  for (size_t i = 0; i < mesh.size(); ++i) {
    int64_t stride = 1;
    for (size_t k = i + 1; k < mesh.size(); ++k) stride *= mesh[k].size;
    affine->add_strides(stride);
  }
  return plan_.slices_size() - 1;
}

uint32_t PlanBuilder::AddLayout(const layout::Layout& layout,
                                proto::ElementType element) {
  for (int i = 0; i < plan_.layouts_size(); ++i) {
    if (plan_.layouts(i).element() == element &&
        LayoutOf(plan_.layouts(i)) == layout)
      return i;
  }
  *plan_.add_layouts() = ToProto(layout, element);
  return plan_.layouts_size() - 1;
}

uint32_t PlanBuilder::AddBuffer(const std::string& name, uint32_t slice,
                                const layout::Layout& layout, uint32_t credits,
                                proto::ElementType element) {
  uint32_t layout_index = AddLayout(layout, element);
  proto::Buffer* buffer = plan_.add_buffers();
  buffer->set_name(name);
  buffer->set_slice(slice);
  buffer->set_layout(layout_index);
  buffer->set_credits(credits);
  return plan_.buffers_size() - 1;
}

uint32_t PlanBuilder::AddGang(const std::string& name, uint32_t slice,
                              const std::vector<uint32_t>& operands,
                              const std::vector<uint32_t>& results,
                              uint64_t cost_ns) {
  proto::Action* action = plan_.add_actions();
  action->set_name(name);
  action->set_kind(proto::GANG);
  action->set_slice(slice);
  for (uint32_t b : operands) action->add_operands(b);
  for (uint32_t b : results) action->add_results(b);
  action->set_cost_ns(cost_ns);
  return plan_.actions_size() - 1;
}

std::pair<uint32_t, uint32_t> PlanBuilder::AddMove(const std::string& name,
                                                   uint32_t source,
                                                   uint32_t destination) {
  uint32_t first = plan_.actions_size();
  proto::Action* send = plan_.add_actions();
  send->set_name(name + ".send");
  send->set_kind(proto::SEND);
  send->set_slice(plan_.buffers(source).slice());
  send->add_operands(source);
  send->set_peer(first + 1);
  proto::Action* recv = plan_.add_actions();
  recv->set_name(name + ".recv");
  recv->set_kind(proto::RECV);
  recv->set_slice(plan_.buffers(destination).slice());
  recv->add_results(destination);
  recv->set_peer(first);
  return {first, first + 1};
}

uint32_t PlanBuilder::AddFeed(const std::string& name, uint32_t buffer,
                              bool stepped) {
  uint32_t index = plan_.actions_size();
  proto::Action* feed = plan_.add_actions();
  feed->set_name(name + ".feed");
  feed->set_kind(proto::FEED);
  feed->set_slice(plan_.buffers(buffer).slice());
  feed->add_results(buffer);
  feed->set_interface(plan_.interface().arguments_size());
  proto::Argument* argument = plan_.mutable_interface()->add_arguments();
  argument->set_name(name);
  argument->set_action(index);
  argument->set_stepped(stepped);
  return index;
}

uint32_t PlanBuilder::AddFetch(const std::string& name, uint32_t buffer,
                               bool stepped) {
  uint32_t index = plan_.actions_size();
  proto::Action* fetch = plan_.add_actions();
  fetch->set_name(name + ".fetch");
  fetch->set_kind(proto::FETCH);
  fetch->set_slice(plan_.buffers(buffer).slice());
  fetch->add_operands(buffer);
  fetch->set_interface(plan_.interface().results_size());
  proto::Result* result = plan_.mutable_interface()->add_results();
  result->set_name(name);
  result->set_action(index);
  result->set_stepped(stepped);
  return index;
}

void PlanBuilder::Carry(uint32_t feed, uint32_t fetch) {
  uint32_t from = plan_.actions(fetch).interface();
  proto::Argument* argument = plan_.mutable_interface()->mutable_arguments(
      plan_.actions(feed).interface());
  argument->set_carried(true);
  argument->set_from(from);
  plan_.mutable_actions(feed)->add_operands(plan_.actions(fetch).operands(0));
}

void PlanBuilder::AddControl(uint32_t from, uint32_t to) {
  AddEdge(from, to, 0, proto::CONTROL, proto::ALL);
  AddEdge(to, from, plan_.header().steps_in_flight(), proto::CREDIT,
          proto::ALL);
}

void PlanBuilder::AddEdge(uint32_t from, uint32_t to, uint32_t tokens,
                          proto::EdgeKind kind, proto::Relation relation) {
  proto::Edge* edge = plan_.add_edges();
  edge->set_from(from);
  edge->set_to(to);
  edge->set_tokens(tokens);
  edge->set_kind(kind);
  edge->set_relation(relation);
}

void PlanBuilder::ShareMemory(const std::vector<uint32_t>& buffers) {
  groups_.push_back(buffers);
}

void PlanBuilder::AddAlias(uint32_t gang, uint32_t operand, uint32_t result) {
  proto::Alias* alias = plan_.mutable_actions(gang)->add_aliases();
  alias->set_operand(operand);
  alias->set_result(result);
}

void PlanBuilder::AddGuard(uint32_t action, uint32_t buffer, bool unless) {
  proto::Action* guarded = plan_.mutable_actions(action);
  const auto& operands = guarded->operands();
  if (std::find(operands.begin(), operands.end(), buffer) == operands.end()) {
    guarded->add_operands(buffer);
  }
  guarded->mutable_guard()->set_buffer(buffer);
  guarded->mutable_guard()->set_unless(unless);
}

void PlanBuilder::AddFlow() {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, int, int>;
  std::set<Key> seen;
  for (const proto::Edge& edge : plan_.edges())
    seen.insert(
        {edge.from(), edge.to(), edge.tokens(), edge.kind(), edge.relation()});
  auto add = [&](uint32_t from, uint32_t to, uint32_t tokens,
                 proto::EdgeKind kind, proto::Relation relation) {
    if (seen.insert({from, to, tokens, kind, relation}).second)
      AddEdge(from, to, tokens, kind, relation);
  };
  std::vector<std::vector<uint32_t>> readers(plan_.buffers_size());
  std::vector<uint32_t> writer(plan_.buffers_size());
  for (int a = 0; a < plan_.actions_size(); ++a) {
    for (uint32_t b : plan_.actions(a).results()) writer[b] = a;
    for (uint32_t b : plan_.actions(a).operands()) readers[b].push_back(a);
  }
  for (int b = 0; b < plan_.buffers_size(); ++b) {
    proto::Buffer* buffer = plan_.mutable_buffers(b);
    uint32_t first = writer[b];
    uint32_t last = writer[b];
    uint32_t entry = EntryOf(plan_, writer[b]);
    bool moved = entry != writer[b];
    proto::Relation back = moved ? proto::PIECES : proto::SAME;
    if (moved) add(entry, writer[b], 0, proto::DATA, proto::PIECES);
    for (uint32_t reader : readers[b]) {
      first = std::min(first, reader);
      last = std::max(last, reader);
      if (reader == writer[b]) continue;
      uint32_t lag = plan_.actions(reader).kind() == proto::FEED ? 1 : 0;
      add(writer[b], reader, lag, proto::DATA, proto::SAME);
      add(reader, entry, buffer->credits() - lag, proto::CREDIT, back);
    }
    if (moved && readers[b].empty())
      add(writer[b], entry, buffer->credits(), proto::CREDIT, back);
    buffer->set_first_action(first);
    buffer->set_last_action(last);
  }
}

void PlanBuilder::PlaceBuffers() {
  std::vector<bool> placed(plan_.buffers_size());
  std::vector<uint64_t> end(plan_.slices_size());
  auto place = [&](const std::vector<uint32_t>& group) {
    uint64_t stride = 0;
    for (uint32_t b : group) {
      proto::Buffer* buffer = plan_.mutable_buffers(b);
      buffer->set_bytes(ShardBytes(plan_, *buffer));
      stride = std::max(stride, AlignBuffer(buffer->bytes()));
    }
    uint64_t& at = end[plan_.buffers(group[0]).slice()];
    for (uint32_t b : group) {
      placed[b] = true;
      plan_.mutable_buffers(b)->set_offset(at);
      plan_.mutable_buffers(b)->set_slot_stride(stride);
    }
    at += stride * plan_.buffers(group[0]).credits();
  };
  for (const std::vector<uint32_t>& group : groups_) place(group);
  for (int b = 0; b < plan_.buffers_size(); ++b) {
    if (!placed[b]) place({static_cast<uint32_t>(b)});
  }
}

proto::Plan PlanBuilder::Finish() {
  AddFlow();
  PlaceBuffers();
  return std::move(plan_);
}

}  // namespace pathways
