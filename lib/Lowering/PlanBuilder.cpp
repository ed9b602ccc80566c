//===- PlanBuilder.cpp - The tables of a plan under construction ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

std::string UniqueNames::get(StringRef name) {
  auto [entry, isNew] = used.try_emplace(name, 1);
  if (isNew)
    return name.str();
  // "x.1" may be there by itself, so look further; each try moves the number
  // on.
  while (true) {
    std::string candidate = (name + "." + Twine(entry->second++)).str();
    if (!used.contains(candidate)) {
      used.try_emplace(candidate, 1);
      return candidate;
    }
  }
}

uint32_t PlanBuilder::getLayout(const proto::Layout &layout) {
  auto [entry, isNew] =
      layouts.try_emplace(layout.SerializeAsString(), plan.layouts_size());
  if (isNew)
    *plan.add_layouts() = layout;
  return entry->second;
}

uint32_t PlanBuilder::addBuffer(StringRef name, uint32_t slice, uint32_t layout,
                                uint64_t bytes, uint32_t credits) {
  proto::Buffer *buffer = plan.add_buffers();
  buffer->set_name(bufferNames.get(name));
  buffer->set_slice(slice);
  buffer->set_layout(layout);
  buffer->set_bytes(bytes);
  buffer->set_credits(credits);
  usage.emplace_back().bytes = bytes;
  return plan.buffers_size() - 1;
}

proto::Action &PlanBuilder::addAction(proto::ActionKind kind, StringRef name,
                                      uint32_t slice, Location loc) {
  proto::Action *action = plan.add_actions();
  action->set_kind(kind);
  action->set_name(actionNames.get(name));
  action->set_slice(slice);
  locs.push_back(loc);
  return *action;
}

void PlanBuilder::addRead(uint32_t action, uint32_t buffer) {
  SmallVectorImpl<uint32_t> &readers = usage[buffer].readers;
  // Once each, however often the code takes it.
  if (!readers.empty() && readers.back() == action)
    return;
  plan.mutable_actions(action)->add_operands(buffer);
  if (usage[buffer].writer != action)
    readers.push_back(action);
}

void PlanBuilder::addWrite(uint32_t action, uint32_t buffer) {
  plan.mutable_actions(action)->add_results(buffer);
  usage[buffer].writer = action;
}

void PlanBuilder::addAlias(uint32_t action, uint32_t operand, uint32_t result) {
  proto::Alias *alias = plan.mutable_actions(action)->add_aliases();
  alias->set_operand(operand);
  alias->set_result(result);
  usage[operand].result = result;
  usage[result].operand = operand;
}

void PlanBuilder::addEdge(uint32_t from, uint32_t to, uint32_t tokens,
                          proto::EdgeKind kind, proto::Relation relation) {
  uint64_t ends = uint64_t{from} << 32 | to;
  uint64_t what =
      uint64_t{tokens} << 8 | uint64_t(kind) << 4 | uint64_t(relation);
  if (!edges.insert({ends, what}).second)
    return;
  proto::Edge *edge = plan.add_edges();
  edge->set_from(from);
  edge->set_to(to);
  edge->set_tokens(tokens);
  edge->set_kind(kind);
  edge->set_relation(relation);
}

void PlanBuilder::addControl(uint32_t from, uint32_t to) {
  controls.emplace_back(from, to);
}

void PlanBuilder::addBufferEdges() {
  for (uint32_t b = 0; b < usage.size(); ++b) {
    const Usage &use = usage[b];
    uint32_t credits = plan.buffers(b).credits();
    uint32_t entry = getEntry(b);
    proto::Relation back = isMoved(b) ? proto::PIECES : proto::SAME;
    if (isMoved(b)) {
      addEdge(entry, use.writer, 0, proto::DATA, proto::PIECES);
      if (use.readers.empty())
        addEdge(use.writer, entry, credits, proto::CREDIT, back);
    }
    for (uint32_t reader : use.readers) {
      // A feed reads what was written one firing before its own.
      uint32_t lag = isFeed(reader);
      addEdge(use.writer, reader, lag, proto::DATA, proto::SAME);
      addEdge(reader, entry, credits - lag, proto::CREDIT, back);
    }
  }
}

LogicalResult PlanBuilder::finish(Location loc) {
  // The feed of a carried argument comes before whatever else reads.
  for (Usage &use : usage)
    llvm::sort(use.readers);
  equalizeCredits();
  FailureOr<std::vector<Slot>> slots = placeBuffers(loc);
  if (failed(slots))
    return failure();
  addBufferEdges();
  for (const Slot &slot : *slots)
    orderSlot(slot);
  for (auto [from, to] : controls) {
    addEdge(from, to, 0, proto::CONTROL, proto::ALL);
    // The way back keeps the number of open firings bounded; unlike a control
    // edge it carries no poison.
    addEdge(to, from, plan.header().steps_in_flight(), proto::CREDIT,
            proto::ALL);
  }
  for (auto [position, action] : llvm::enumerate(plan.actions())) {
    auto touch = [&, position = position](uint32_t b) {
      proto::Buffer *buffer = plan.mutable_buffers(b);
      const Usage &use = usage[b];
      uint32_t first = use.readers.empty()
                           ? use.writer
                           : std::min(use.writer, use.readers.front());
      buffer->set_first_action(first);
      buffer->set_last_action(position);
    };
    llvm::for_each(action.operands(), touch);
    llvm::for_each(action.results(), touch);
  }
  return success();
}
