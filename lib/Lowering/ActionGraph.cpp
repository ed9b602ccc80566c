//===- ActionGraph.cpp - Actions and the buffers they use -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActionGraph.h"

#include "pathways/Dialect/Pathways/Layouts.h"

using namespace mlir;
using namespace mlir::pathways;

uint32_t ActionGraph::getLayout(ArrayType type) {
  auto nowhere = FlatSymbolRefAttr::get(type.getContext(), "");
  type = type.withSlice(nowhere);
  auto [entry, isNew] = layoutNumbers.try_emplace(type, layouts.size());
  if (isNew)
    layouts.push_back(type);
  return entry->second;
}

uint32_t ActionGraph::addBuffer(StringRef name, uint32_t slice,
                                ArrayType type) {
  Buffer &buffer = buffers.emplace_back();
  buffer.name = bufferNames.get(name);
  buffer.slice = slice;
  buffer.layout = getLayout(type);
  buffer.bytes = getElementBytes(type.getElementType());
  for (int64_t size : getShardShape(type, slices[slice].slice.getMesh()))
    buffer.bytes *= size;
  return buffers.size() - 1;
}

ActionGraph::Action &ActionGraph::addAction(Kind kind, StringRef name,
                                            uint32_t slice, uint64_t costNs,
                                            Location loc) {
  return actions.emplace_back(
      Action{kind, actionNames.get(name), slice, costNs, loc});
}

void ActionGraph::addRead(uint32_t action, uint32_t buffer) {
  // An operand is listed once, even if the code reads it several times.
  if (!reads.insert({action, buffer}).second)
    return;
  actions[action].operands.push_back(buffer);
  Buffer &entry = buffers[buffer];
  // The feed of a carried argument reads a buffer after its own.
  if (entry.writer != action)
    entry.readers.insert(llvm::lower_bound(entry.readers, action), action);
}

void ActionGraph::addWrite(uint32_t action, uint32_t buffer) {
  actions[action].results.push_back(buffer);
  buffers[buffer].writer = action;
}

void ActionGraph::addAlias(uint32_t action, uint32_t operand, uint32_t result) {
  actions[action].aliases.emplace_back(operand, result);
  addSuccessor(operand, result);
}

void ActionGraph::addSuccessor(uint32_t buffer, uint32_t next) {
  buffers[buffer].next = next;
  buffers[next].previous = buffer;
}

uint32_t ActionGraph::getFirst(uint32_t buffer) const {
  while (buffers[buffer].previous != kNone)
    buffer = buffers[buffer].previous;
  return buffer;
}

uint32_t ActionGraph::getLast(uint32_t buffer) const {
  while (buffers[buffer].next != kNone)
    buffer = buffers[buffer].next;
  return buffer;
}

bool ActionGraph::isRing(uint32_t buffer) const {
  uint32_t writer = buffers[getFirst(buffer)].writer;
  return isFeed(writer) &&
         llvm::is_contained(actions[writer].operands, getLast(buffer));
}
