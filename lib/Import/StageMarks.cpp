//===- StageMarks.cpp - Marks of operations with stages -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageMarks.h"
#include "WriteOut.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

namespace {
constexpr StringLiteral kFrontendAttributes = "mhlo.frontend_attributes";
constexpr StringLiteral kSlice = "pw_slice", kLabel = "pw_label";
/// Mark of operations whose call runs again: "true".
constexpr StringLiteral kRecompute = "pw_recompute";
/// Names of functions that JAX makes of named computations begin with this.
constexpr StringLiteral kNamedCall = "partir_named_computation_call_";
/// Attribute of calls: number of a micro-batch, which begins the labels of the
/// operations inside.
constexpr StringLiteral kCounter = "call_counter";

/// Largest number of characters of a slice or a label.
constexpr size_t kMaxName = 64;
/// Largest number of operations of the entry after inlining.
constexpr size_t kMaxInlined = 1 << 18;
} // namespace

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

StageMark mlir::pathways::getStageMark(Operation *op) {
  auto attributes = op->getAttrOfType<DictionaryAttr>(kFrontendAttributes);
  if (!attributes)
    return {};
  return {attributes.getAs<StringAttr>(kSlice),
          attributes.getAs<StringAttr>(kLabel),
          attributes.contains(kRecompute)};
}

void mlir::pathways::setStageMark(Operation *op, StageMark mark) {
  NamedAttrList attributes(
      op->getAttrOfType<DictionaryAttr>(kFrontendAttributes));
  for (auto [name, value] :
       {std::pair(kSlice, mark.slice), std::pair(kLabel, mark.label)}) {
    if (value)
      attributes.set(name, value);
    else
      attributes.erase(name);
  }
  if (mark.recompute)
    attributes.set(kRecompute, StringAttr::get(op->getContext(), "true"));
  else
    attributes.erase(kRecompute);
  if (attributes.empty())
    op->removeAttr(kFrontendAttributes);
  else
    op->setAttr(kFrontendAttributes,
                attributes.getDictionary(op->getContext()));
}

std::string mlir::pathways::describe(StageMark mark) {
  std::string text = "slice '" + mark.slice.str() + "'";
  if (mark.label)
    text += " with label '" + mark.label.str() + "'";
  return text;
}

/// Gives `op` what its own mark lacks from that of the computation around it.
/// `counter` is the number of a call of that computation, or empty; its own
/// label begins with it.
static void inherit(Operation *op, StageMark outer, StringRef counter) {
  StageMark mark = getStageMark(op);
  mark.recompute |= outer.recompute;
  if (!mark.slice)
    mark.slice = outer.slice;
  if (!mark.label && outer.label)
    mark.label = outer.label;
  else if (!counter.empty())
    mark.label = StringAttr::get(
        op->getContext(), counter + (mark.label ? mark.label.getValue() : ""));
  setStageMark(op, mark);
}

/// Returns the number of a micro-batch that `call` has, or "".
static std::string getCounter(func::CallOp call) {
  auto number = call->getAttrOfType<IntegerAttr>(kCounter);
  return number ? llvm::toString(number.getValue(), 10, /*Signed=*/false) : "";
}

/// Returns "; the nearest is 'x'" for the name that is most like `name`, or "".
template <typename Names>
static std::string getNearest(StringRef name, const Names &names) {
  StringRef nearest;
  unsigned least = ~0u;
  for (StringRef candidate : names) {
    unsigned distance = name.edit_distance(candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return least == ~0u ? "" : "; the nearest is '" + nearest.str() + "'";
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult StageMarks::checkName(Location loc, StringRef what,
                                    StringRef name) {
  bool isName = !name.empty() && name.size() <= kMaxName &&
                llvm::all_of(name, [](char c) {
                  return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
                });
  if (isName)
    return success();
  return emitError(loc) << "expected " << what << " to have 1 to " << kMaxName
                        << " letters, digits, '_', '-' or '.', got '" << name
                        << "'" << Tag(ErrorId::kStages);
}

LogicalResult StageMarks::checkSlice(Location loc, StringAttr slice) {
  if (declared.empty() ||
      llvm::is_contained(
          llvm::map_range(declared, [](Slice s) { return s.name; }), slice))
    return success();
  return emitError(loc)
         << "slice '" << slice.getValue() << "' is not declared"
         << getNearest(slice.getValue(),
                       llvm::map_range(
                           declared, [](Slice s) { return s.name.getValue(); }))
         << Tag(ErrorId::kStages);
}

IntegerAttr StageMarks::Slice::getSpans() const {
  return numIslands == 1
             ? IntegerAttr()
             : Builder(name.getContext()).getI64IntegerAttr(numIslands);
}

bool StageMarks::Slice::overlaps(const Slice &other) const {
  return island && other.island && *island < *other.island + other.numIslands &&
         *other.island < *island + numIslands;
}

LogicalResult StageMarks::readIslands(StringRef text, Slice &slice) {
  auto [first, last] = text.split('-');
  unsigned low = 0, high = 0;
  bool isRange = first.size() != text.size();
  if (first.getAsInteger(10, low) ||
      (isRange && (last.getAsInteger(10, high) || high < low)))
    return emitError(place) << "expected slice '" << slice.name.getValue()
                            << "' in the option 'slices' to have the number of "
                               "an island, or FIRST-LAST, got '"
                            << text << "'" << Tag(ErrorId::kStages);
  slice.island = low;
  if (isRange)
    slice.numIslands = high - low + 1;
  return checkIslands(slice);
}

LogicalResult StageMarks::checkIslands(const Slice &slice) {
  auto describeIslands = [](const Slice &slice) {
    std::string text = std::to_string(*slice.island);
    if (slice.numIslands > 1)
      text += "-" + std::to_string(*slice.island + slice.numIslands - 1);
    return text;
  };
  for (const Slice &other : declared)
    if (slice.overlaps(other) &&
        (slice.island != other.island || slice.numIslands != other.numIslands))
      return emitError(place)
             << "slices '" << other.name.getValue() << "' and '"
             << slice.name.getValue()
             << "' in the option 'slices' have the islands "
             << describeIslands(other) << " and " << describeIslands(slice)
             << ", expected the same ones or no common one"
             << Tag(ErrorId::kStages);
  return success();
}

LogicalResult StageMarks::readSlices(StringRef text) {
  SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/true);
  for (StringRef item : items) {
    auto [name, islands] = item.split(':');
    if (failed(checkName(place, "a slice in the option 'slices'", name)))
      return failure();
    Slice slice{StringAttr::get(module.getContext(), name)};
    if (name.size() != item.size() && failed(readIslands(islands, slice)))
      return failure();
    if (llvm::is_contained(
            llvm::map_range(declared, [](Slice s) { return s.name; }),
            slice.name))
      return emitError(place) << "slice '" << name << "' is declared twice"
                              << Tag(ErrorId::kStages);
    declared.push_back(slice);
  }
  return success();
}

LogicalResult StageMarks::readAssign(StringRef text) {
  SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/true);
  MLIRContext *context = module.getContext();
  for (StringRef item : items) {
    auto [name, stage] = item.split('=');
    auto [slice, label] = stage.split(':');
    bool hasLabel = slice.size() != stage.size();
    if (name.empty() || slice.empty() || (hasLabel && label.empty()))
      return emitError(place)
             << "expected NAME=SLICE or NAME=SLICE:LABEL in the option "
                "'assign', got '"
             << item << "'" << Tag(ErrorId::kStages);
    if (failed(checkName(place, "a slice in the option 'assign'", slice)) ||
        (hasLabel &&
         failed(checkName(place, "a label in the option 'assign'", label))))
      return failure();
    StageMark mark{StringAttr::get(context, slice),
                   hasLabel ? StringAttr::get(context, label) : StringAttr()};
    if (failed(checkSlice(place, mark.slice)))
      return failure();
    for (const Assignment &other : assignments)
      if (other.name == name)
        return emitError(place)
               << "the option 'assign' has '" << name << "' twice, for "
               << describe(other.mark) << " and " << describe(mark)
               << Tag(ErrorId::kStages);
    assignments.push_back({name.str(), mark});
  }
  return success();
}

LogicalResult StageMarks::checkMarks() {
  WalkResult walked = module.walk([&](Operation *op) -> WalkResult {
    auto attributes = op->getAttrOfType<DictionaryAttr>(kFrontendAttributes);
    if (!attributes)
      return WalkResult::advance();
    for (NamedAttribute attribute : attributes) {
      StringRef name = attribute.getName();
      if (!name.starts_with("pw_"))
        continue;
      auto text = dyn_cast<StringAttr>(attribute.getValue());
      if (name == kRecompute) {
        if (text && text == "true")
          continue;
        return op->emitOpError("has the mark '")
               << name << " = " << attribute.getValue()
               << "'; expected \"true\"" << Tag(ErrorId::kStages);
      }
      if ((name != kSlice && name != kLabel) || !text)
        return op->emitOpError("has the mark '")
               << name << " = " << attribute.getValue()
               << "'; expected 'pw_slice' or 'pw_label' with a string"
               << Tag(ErrorId::kStages);
      if (failed(checkName(op->getLoc(), "'" + name.str() + "'", text)) ||
          (name == kSlice && failed(checkSlice(op->getLoc(), text))))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

void StageMarks::assign(Operation *op, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    known.insert(StringAttr::get(op->getContext(), name));
  // The first name is the most exact one.
  for (const std::string &name : names)
    for (Assignment &assignment : assignments) {
      if (assignment.name != name)
        continue;
      assignment.isUsed = true;
      setStageMark(op, assignment.mark);
      return;
    }
}

LogicalResult StageMarks::checkAssignments() {
  for (const Assignment &assignment : assignments) {
    if (assignment.isUsed ||
        known.contains(StringAttr::get(module.getContext(), assignment.name)))
      continue;
    return emitError(place)
           << "the option 'assign' names '" << assignment.name
           << "', but no function that is called, named computation or named "
              "tensor has this name"
           << getNearest(
                  assignment.name,
                  llvm::map_range(
                      known, [](StringAttr name) { return name.getValue(); }))
           << Tag(ErrorId::kStages);
  }
  return success();
}

/// Returns the names of a function in the option `assign`: its own, and those
/// without what JAX adds to it.
static SmallVector<std::string> getNames(StringRef function) {
  SmallVector<std::string> names = {function.str()};
  StringRef name = function;
  if (name.consume_front(kNamedCall))
    names.push_back(name.str());
  StringRef stem = name.rtrim("0123456789");
  if (stem.size() != name.size() && stem.consume_back("_") && !stem.empty())
    names.push_back(stem.str());
  return names;
}

LogicalResult StageMarks::read(StringRef assign, StringRef slices) {
  if ((!slices.empty() && failed(readSlices(slices))) ||
      (!assign.empty() && failed(readAssign(assign))) || failed(checkMarks()))
    return failure();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      this->assign(call, getNames(call.getCallee()));
    } else if (auto call = dyn_cast<mpmd::CallOp>(op)) {
      this->assign(call, getNames(call.getCallee()));
    } else if (auto tensor = dyn_cast<mpmd::NamedTensorOp>(op)) {
      this->assign(tensor, tensor.getName().str());
    } else if (auto computation = dyn_cast<mpmd::NamedComputationOp>(op)) {
      std::string name = computation.getOrigin().getName().str();
      int64_t count = computation.getOrigin().getTransposeCount();
      if (count == 0)
        this->assign(computation, name);
      else
        this->assign(computation,
                     {name + "(" + std::to_string(count) + ")", name});
    }
  });
  if (failed(checkAssignments()))
    return failure();
  return lowerMpmd();
}

//===----------------------------------------------------------------------===//
// Operations of mpmd
//===----------------------------------------------------------------------===//

void StageMarks::inlineComputation(mpmd::NamedComputationOp op) {
  Block &block = op.getRegion().front();
  StageMark mark = getStageMark(op);
  for (Operation &inner : block.without_terminator())
    inherit(&inner, mark, "");
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), op.getTensors()))
    argument.replaceAllUsesWith(operand);
  op.replaceAllUsesWith(block.getTerminator()->getOperands());
  block.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  op.erase();
}

LogicalResult StageMarks::lowerMpmd() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<mpmd::CallOp, mpmd::NamedComputationOp>(op))
      ops.push_back(op);
  });
  // Inner computations come first.
  for (Operation *op : ops) {
    if (auto computation = dyn_cast<mpmd::NamedComputationOp>(op)) {
      inlineComputation(computation);
      continue;
    }
    auto call = cast<mpmd::CallOp>(op);
    OpBuilder b(call);
    auto made = func::CallOp::create(b, call.getLoc(), call.getCallee(),
                                     call.getResultTypes(), call.getTensors());
    made->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    if (StageMark mark = getStageMark(made); mark.slice || mark.label)
      inherit(made, {}, getCounter(made));
    call.replaceAllUsesWith(made);
    call.erase();
  }
  return success();
}

void StageMarks::takeNamedTensors(func::FuncOp entry) {
  SmallVector<mpmd::NamedTensorOp> tensors;
  module.walk([&](mpmd::NamedTensorOp op) { tensors.push_back(op); });
  for (mpmd::NamedTensorOp op : tensors) {
    Value value = op.getTensor();
    StageMark mark = getStageMark(op);
    Operation *producer = value.getDefiningOp();
    if (mark.slice && op->getBlock() == &entry.front()) {
      if (!producer)
        homes.try_emplace(value, mark.slice);
      else if (!getStageMark(producer).slice)
        setStageMark(producer, mark);
    }
    op.getResult().replaceAllUsesWith(value);
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Calls and regions
//===----------------------------------------------------------------------===//

const StageMarks::Marks &StageMarks::getMarks(func::FuncOp function) {
  auto known = marksOf.find(function);
  if (known != marksOf.end())
    return known->second;
  Marks marks;
  for (Operation &op : function.getOps()) {
    StageMark own = getStageMark(&op);
    if (own.slice || own.label)
      marks.insert({own.slice, own.label});
    Marks inner = getInnerMarks(&op);
    marks.insert_range(inner);
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (callee)
      marks.insert_range(Marks(getMarks(callee)));
  }
  return marksOf[function] = std::move(marks);
}

StageMarks::Marks StageMarks::getInnerMarks(Operation *op) {
  Marks marks;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      StageMark own = getStageMark(inner);
      if (own.slice || own.label)
        marks.insert({own.slice, own.label});
      auto call = dyn_cast<func::CallOp>(inner);
      auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee())
                         : func::FuncOp();
      if (callee)
        marks.insert_range(Marks(getMarks(callee)));
    });
  return marks;
}

LogicalResult StageMarks::inlineCall(func::CallOp call, func::FuncOp callee) {
  if (callee.isExternal() || !callee.getBody().hasOneBlock())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which has no body of one block"
           << Tag(ErrorId::kNotCompilable);
  StageMark mark = getStageMark(call);
  std::string counter = getCounter(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : callee.front().without_terminator())
    inherit(builder.clone(op, mapping), mark, counter);
  for (auto [result, value] : llvm::zip_equal(
           call.getResults(), callee.front().getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  call.erase();
  return success();
}

/// Returns an error if `entry` has become too large.
static LogicalResult checkSize(func::FuncOp entry) {
  if (entry.front().getOperations().size() <= kMaxInlined)
    return success();
  return entry.emitOpError("has more than ")
         << kMaxInlined << " operations after inlining functions with stages"
         << Tag(ErrorId::kNotCompilable);
}

FailureOr<bool> StageMarks::inlineCalls(func::FuncOp entry) {
  SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
  for (auto call : entry.front().getOps<func::CallOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && !loops.contains(call) && !getMarks(callee).empty())
      calls.emplace_back(call, callee);
  }
  for (auto [call, callee] : calls)
    if (failed(inlineCall(call, callee)) || failed(checkSize(entry)))
      return failure();
  return !calls.empty();
}

FailureOr<bool> StageMarks::resolveRegions(func::FuncOp entry) {
  SmallVector<Spanning> spanning;
  for (Operation &op : entry.front()) {
    Marks inner = getInnerMarks(&op);
    if (inner.empty())
      continue;
    StageMark mark = getStageMark(&op);
    llvm::SetVector<Attribute> slices, labels;
    if (mark.slice)
      slices.insert(mark.slice);
    for (auto [slice, label] : inner) {
      if (slice)
        slices.insert(slice);
      if (label)
        labels.insert(label);
    }
    if (slices.size() <= 1) {
      if (!slices.empty())
        mark.slice = cast<StringAttr>(slices.front());
      if (!mark.label && labels.size() == 1)
        mark.label = cast<StringAttr>(labels.front());
      setStageMark(&op, mark);
      continue;
    }
    auto loop = dyn_cast<stablehlo::WhileOp>(op);
    std::optional<int64_t> trips = loop ? getTripCount(loop) : std::nullopt;
    if (!trips)
      return op.emitOpError("contains operations on the slices ")
             << slices[0] << " and " << slices[1]
             << "; expected one slice, unless it is a loop with a constant "
                "number of iterations"
             << Tag(ErrorId::kStages);
    spanning.push_back({loop, *trips, slices[0], slices[1]});
  }
  for (const Spanning &loop : spanning)
    if (failed(replaceLoop(loop)) || failed(checkSize(entry)))
      return failure();
  return !spanning.empty();
}

LogicalResult StageMarks::flattenBody(Operation *loop, func::FuncOp body) {
  if (StageMark mark = getStageMark(loop); mark != StageMark())
    for (Operation &op : body.front().without_terminator())
      inherit(&op, mark, "");
  return flattenOps(body);
}

LogicalResult StageMarks::replaceLoop(const Spanning &spanning) {
  stablehlo::WhileOp loop = spanning.loop;
  StageMark mark = getStageMark(loop);
  WhileToFor toFor(loop, spanning.trips);
  func::FuncOp body = toFor.outline(symbols);
  if (failed(flattenBody(loop, body)))
    return failure();
  if (toFor.replace(loops))
    return success();
  eraseBody(body);
  if (int64_t size = getWrittenOutSize(loop, spanning.trips); size > maxOps)
    return loop.emitOpError("contains operations on the slices ")
           << spanning.first << " and " << spanning.second << ", and its "
           << spanning.trips << " iterations have " << size
           << " operations; expected at most " << maxOps
           << " (max-ops), since it cannot become a pw.for: "
           << toFor.getReason() << Tag(ErrorId::kStages);
  if (spanning.trips > 0)
    loop.emitRemark("is written out, since it cannot become a pw.for: ")
        << toFor.getReason();
  for (Operation *op : writeOut(loop, spanning.trips))
    inherit(op, mark, "");
  return success();
}

void StageMarks::eraseBody(func::FuncOp body) {
  for (auto call : body.front().getOps<func::CallOp>())
    if (auto inner = loops.find(call); inner != loops.end()) {
      func::FuncOp innerBody = inner->second.body;
      loops.erase(inner);
      eraseBody(innerBody);
    }
  symbols.erase(body);
}

LogicalResult StageMarks::flattenOps(func::FuncOp function) {
  // Inlined functions and written out loops may contain further ones.
  for (bool isChanged = true; isChanged;) {
    FailureOr<bool> inlined = inlineCalls(function);
    if (failed(inlined))
      return failure();
    isChanged = *inlined;
    if (isChanged)
      continue;
    FailureOr<bool> replaced = resolveRegions(function);
    if (failed(replaced))
      return failure();
    isChanged = *replaced;
  }
  auto flatten = [&](Operation *loop, func::FuncOp body) {
    return flattenBody(loop, body);
  };
  return loopCalls.replaceIn(function, symbols, flatten, loops);
}

void StageMarks::findUsed(func::FuncOp function) {
  for (Operation &op : function.front()) {
    if (StringAttr slice = getStageMark(&op).slice)
      used.insert(slice);
    if (auto loop = loops.find(&op); loop != loops.end())
      findUsed(loop->second.body);
  }
}

LogicalResult StageMarks::flatten(func::FuncOp entry) {
  if (failed(flattenOps(entry)))
    return failure();
  loopCalls.eraseBodies(module, symbols);
  takeNamedTensors(entry);
  module.walk([](func::CallOp call) { call->removeAttr(kCounter); });
  findUsed(entry);
  for (BlockArgument argument : entry.getArguments())
    if (StringAttr home = homes.lookup(argument))
      used.insert(home);
  return success();
}

SmallVector<StageMarks::Slice> StageMarks::getSlices() const {
  SmallVector<Slice> slices;
  for (const Slice &slice : declared)
    if (used.contains(slice.name))
      slices.push_back(slice);
  if (declared.empty())
    for (StringAttr name : used)
      slices.push_back({name});
  return slices;
}

StageMarks::Slice StageMarks::getOnlySlice(StringAttr name) const {
  return declared.size() == 1 ? declared.front() : Slice{name};
}
