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
  buffer.loop = openLoop;
  buffer.slots = openLoop == kNone ? 1 : 0;
  return buffers.size() - 1;
}

void ActionGraph::beginLoop(StringRef name, uint32_t trips) {
  openLoop = loops.size();
  uint32_t first = actions.size();
  loops.push_back({loopNames.get(name), trips, first, first});
}

void ActionGraph::endLoop() {
  loops[openLoop].lastAction = lastAction();
  // A name is read wherever its memory may be.
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    const Buffer &name = buffers[b];
    if (name.loop != openLoop || name.initial == kNone)
      continue;
    const SmallVector<uint32_t, 2> readers = name.readers;
    for (uint32_t reader : readers) {
      addReader(name.carried, reader);
      addReader(getMemory(name.initial), reader);
    }
  }
  openLoop = kNone;
}

void ActionGraph::addReader(uint32_t buffer, uint32_t action) {
  Buffer &entry = buffers[buffer];
  // The feed of a carried argument reads a buffer after its own.
  if (entry.writer != action && !llvm::is_contained(entry.readers, action))
    entry.readers.insert(llvm::lower_bound(entry.readers, action), action);
}

ActionGraph::Action &ActionGraph::addAction(Kind kind, StringRef name,
                                            uint32_t slice, uint64_t costNs,
                                            Location loc) {
  Action &action = actions.emplace_back(
      Action{kind, actionNames.get(name), slice, costNs, loc});
  action.loop = openLoop;
  return action;
}

void ActionGraph::addRead(uint32_t action, uint32_t buffer) {
  // An operand is listed once, even if the code reads it several times.
  if (!reads.insert({action, buffer}).second)
    return;
  actions[action].operands.push_back(buffer);
  addReader(buffers[buffer].lastOf == kNone ? buffer : buffers[buffer].lastOf,
            action);
}

void ActionGraph::addWrite(uint32_t action, uint32_t buffer) {
  actions[action].results.push_back(buffer);
  buffers[buffer].writer = action;
}

void ActionGraph::addAlias(uint32_t action, uint32_t operand, uint32_t result) {
  actions[action].aliases.emplace_back(operand, result);
  const Buffer &name = buffers[operand];
  addSuccessor(getMemory(name.initial == kNone ? operand : name.initial),
               result);
}

void ActionGraph::addSuccessor(uint32_t buffer, uint32_t next) {
  buffers[buffer].next = next;
  buffers[next].previous = buffer;
  // The iterations that take over one place have one.
  if (buffers[next].slots == 0 && buffers[buffer].slots == 1)
    buffers[next].slots = 1;
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
  uint32_t last = getLast(buffer);
  return isFeed(writer) &&
         llvm::any_of(actions[writer].operands, [&](uint32_t operand) {
           return getMemory(operand) == last;
         });
}
