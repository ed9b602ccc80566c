//===- BodySharding.cpp - Propagation of shardings in a body --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/BodySharding.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Support/SourcePlace.h"

using namespace mlir;
using namespace mlir::pathways;

bool mlir::pathways::isMadeAnywhere(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      !isCommunicable(type.getElementType()))
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getInputs()[0].getType() == type.getElementType();
  DenseElementsAttr constant;
  return isa<tensor::EmptyOp, tensor::SplatOp>(op) ||
         (matchPattern(op, m_Constant(&constant)) && constant.isSplat());
}

/// Returns the first round in which `op` with `rule` propagates shardings.
static ShardingRound getRound(Operation *op, const ShardingRule &rule) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return ShardingRound::Alike;
  if (llvm::any_of(rule.factors,
                   [](const auto &factor) { return factor.isReduced; }))
    return linalgOp.getNumDpsInputs() > 1 ? ShardingRound::Contractions
                                          : ShardingRound::All;
  // An operation that reads a tensor of lower rank broadcasts it.
  bool isAlike = llvm::all_of(op->getOperandTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor ||
           tensor.getRank() == static_cast<int64_t>(rule.factors.size());
  });
  return isAlike ? ShardingRound::Alike : ShardingRound::All;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t BodySharding::getNumBlocks(ArrayRef<unsigned> axes) const {
  int64_t blocks = 1;
  for (unsigned axis : axes)
    blocks *= mesh.getSizes()[axis];
  return blocks;
}

unsigned BodySharding::addTensor(RankedTensorType type) {
  Tensor tensor;
  tensor.type = type;
  tensor.dims.resize(type.getRank());
  tensor.isOpen.assign(type.getRank(), true);
  tensors.push_back(std::move(tensor));
  return tensors.size() - 1;
}

std::optional<unsigned> BodySharding::lookup(Value value) const {
  auto it = numbers.find(value);
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

/// Returns the numbers of those `axes` that have a size above 1.
AxisList BodySharding::getNumbers(ArrayAttr axes) const {
  AxisList list;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (unsigned index = mesh.getAxisIndex(axis); mesh.getSizes()[index] > 1)
      list.push_back(index);
  return list;
}

void BodySharding::write(unsigned number, ShardingAttr sharding,
                         Origin origin) {
  Tensor &tensor = tensors[number];
  tensor.origin = origin;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    tensor.isOpen[dim] = sharding.isOpen(dim);
    tensor.dims[dim] = getNumbers(axes);
  }
}

ShardingAttr BodySharding::toAttr(const Tensor &tensor) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<ArrayAttr> dims;
  for (const AxisList &axes : tensor.dims) {
    SmallVector<Attribute> names;
    for (unsigned axis : axes)
      names.push_back(mesh.getNames()[axis]);
    dims.push_back(ArrayAttr::get(context, names));
  }
  return ShardingAttr::get(
      context, dims, ReductionKindAttr(), ArrayRef<StringAttr>(),
      llvm::is_contained(tensor.isOpen, true) ? ArrayRef<bool>(tensor.isOpen)
                                              : ArrayRef<bool>());
}

ShardingAttr BodySharding::get(Value value) const {
  std::optional<unsigned> number = lookup(value);
  return number ? toAttr(tensors[*number]) : ShardingAttr();
}

ShardingAttr BodySharding::getResult(unsigned index) const {
  return toAttr(tensors[resultTensors[index]]);
}

std::optional<BodySharding::Origin>
BodySharding::findOrigin(unsigned number, StringAttr name) const {
  int64_t axis = mesh.getAxisIndex(name);
  Operation *through = nullptr;
  while (axis >= 0) {
    const Tensor &tensor = tensors[number];
    auto source = tensor.sources.find(axis);
    if (source != tensor.sources.end()) {
      if (!through)
        through = links[source->second.second].op;
      number = source->second.first;
      continue;
    }
    // The region of a `pw.manual` gives its operands axes that it lacks itself.
    if (!through && llvm::none_of(tensor.dims, [&](const AxisList &axes) {
          return llvm::is_contained(axes, axis);
        }))
      break;
    Origin origin = tensor.origin;
    origin.through = through;
    return origin;
  }
  return std::nullopt;
}

std::optional<BodySharding::Origin>
BodySharding::getOrigin(Value value, StringAttr axis) const {
  std::optional<unsigned> number = lookup(value);
  return number ? findOrigin(*number, axis) : std::nullopt;
}

std::optional<BodySharding::Origin>
BodySharding::getResultOrigin(unsigned index, StringAttr axis) const {
  return findOrigin(resultTensors[index], axis);
}

ShardingAttr mlir::pathways::getInsideSharding(ManualOp op, MeshAttr mesh,
                                               RankedTensorType local,
                                               ShardingAttr sharding) {
  MLIRContext *context = mesh.getContext();
  SmallVector<ArrayAttr> dims;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    ArrayRef<Attribute> others = axes.getValue().drop_while(
        [&](Attribute axis) { return op.isManual(axis); });
    others =
        others.take_until([&](Attribute axis) { return op.isManual(axis); });
    auto isUneven = [&] {
      return local.getDimSize(dim) %
                 *mesh.getGroupSize(ArrayAttr::get(context, others)) !=
             0;
    };
    bool isCutOutside = !axes.empty() && op.isManual(axes[0]);
    while (isCutOutside && isUneven())
      others = others.drop_back();
    dims.push_back(ArrayAttr::get(context, others));
  }
  return ShardingAttr::get(context, dims, ReductionKindAttr(),
                           ArrayRef<StringAttr>(), sharding.getOpenDims());
}

ShardingAttr mlir::pathways::getOutsideSharding(ManualOp op,
                                                ShardingAttr sharding,
                                                ShardingAttr inside) {
  MLIRContext *context = op.getContext();
  SmallVector<ArrayAttr> dims;
  for (auto [axes, others] :
       llvm::zip_equal(sharding.getDims(), inside.getDims())) {
    SmallVector<Attribute> all(axes.getValue().take_while(
        [&](Attribute axis) { return op.isManual(axis); }));
    llvm::append_range(all, others);
    dims.push_back(ArrayAttr::get(context, all));
  }
  return ShardingAttr::get(context, dims, sharding.getPartialKind(),
                           sharding.getPartialAxes());
}

bool mlir::pathways::containsManual(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<ManualOp, CollectiveOpInterface>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

std::string mlir::pathways::describe(const BodySharding::Origin &origin) {
  auto at = [](Operation *op) {
    std::string place = getSourcePlace(op->getLoc());
    return "'" + op->getName().getStringRef().str() + "'" +
           (place.empty() ? "" : " at " + place);
  };
  std::string text;
  switch (origin.kind) {
  case BodySharding::Origin::Operand:
    text = "argument " + std::to_string(origin.index);
    break;
  case BodySharding::Origin::Result:
    text = "result " + std::to_string(origin.index);
    break;
  case BodySharding::Origin::Constraint:
    text = at(origin.constraint);
    break;
  }
  return origin.through ? text + ", through " + at(origin.through) : text;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

BodySharding::BodySharding(Block &body, MeshAttr mesh,
                           ArrayRef<ShardingAttr> operands,
                           ArrayRef<ShardingAttr> results)
    : mesh(mesh) {
  for (auto [index, argument, sharding] :
       llvm::enumerate(body.getArguments(), operands)) {
    unsigned number = addTensor(cast<RankedTensorType>(argument.getType()));
    numbers[argument] = number;
    write(number, sharding,
          {Origin::Operand, static_cast<unsigned>(index), nullptr, nullptr});
  }
  addBlock(body);
  Operation *end = body.getTerminator();
  for (auto [index, value, sharding] :
       llvm::enumerate(end->getOperands(), results)) {
    unsigned number = addTensor(cast<RankedTensorType>(value.getType()));
    resultTensors.push_back(number);
    write(number, sharding,
          {Origin::Result, static_cast<unsigned>(index), nullptr, nullptr});
    addIdentity(end, value, number);
  }
}

void BodySharding::addLink(Link link) {
  for (auto &[number, dims] : link.tensors)
    tensors[number].links.push_back(links.size());
  links.push_back(std::move(link));
}

/// Links `a` and `b`, which should be cut alike unless something prevents it.
void BodySharding::addIdentity(Operation *op, unsigned a, unsigned b) {
  Link link{op, ShardingRound::Alike, {}, {}};
  ArrayRef<int64_t> shape = tensors[a].type.getShape();
  for (int64_t size : shape)
    link.factors.push_back({size, /*isCuttable=*/true, /*allowsPadding=*/true});
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  link.tensors = {{a, dims}, {b, dims}};
  link.isIdentity = true;
  addLink(std::move(link));
}

void BodySharding::addIdentity(Operation *op, Value a, unsigned b) {
  std::optional<unsigned> number = lookup(a);
  if (number && !tensors[*number].isFree)
    addIdentity(op, *number, b);
}

/// Links `inside`, a tensor in the region of `op`, to `outside`, the operand or
/// result that is cut as `sharding`.
void BodySharding::addManualLink(ManualOp op, ShardingAttr sharding,
                                 Value outside, Value inside) {
  std::optional<unsigned> out = lookup(outside), in = lookup(inside);
  if (!out || !in || tensors[*out].isFree || tensors[*in].isFree)
    return;
  Link link{op, ShardingRound::Alike, {}, {}};
  ArrayRef<int64_t> shape = tensors[*out].type.getShape();
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDims())) {
    AxisList manual;
    for (unsigned axis : getNumbers(axes))
      if (op.isManual(mesh.getNames()[axis]))
        manual.push_back(axis);
    // Blocks are the same inside and outside if they are equal.
    link.factors.push_back({size, /*isCuttable=*/true,
                            /*allowsPadding=*/manual.empty()});
    link.manual.push_back(manual);
  }
  link.barred = getNumbers(op.getAxes());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  link.tensors = {{*out, dims}, {*in, dims}};
  link.isIdentity = true;
  addLink(std::move(link));
}

void BodySharding::addManual(ManualOp op) {
  Block &block = op.getBody().front();
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    unsigned number = numbers[argument] = addTensor(type);
    write(number, getInsideSharding(op, mesh, type, op.getInSharding(index)),
          {Origin::Constraint, 0, op, nullptr});
    addManualLink(op, op.getInSharding(index), op.getInputs()[index], argument);
  }
  addBlock(block);
  for (auto [index, result] : llvm::enumerate(op.getOutputs())) {
    write(numbers[result], op.getOutSharding(index),
          {Origin::Constraint, 0, op, nullptr});
    addManualLink(op, op.getOutSharding(index), result,
                  op.getYield().getValues()[index]);
  }
}

void BodySharding::addBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    addOp(op);
}

void BodySharding::addOp(Operation &op) {
  for (Value result : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape())
      continue;
    unsigned number = numbers[result] = addTensor(type);
    tensors[number].isFree = isMadeAnywhere(&op);
  }
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    unsigned number = numbers[constrain.getResult()];
    write(number, constrain.getSharding(),
          {Origin::Constraint, 0, constrain, nullptr});
    return addIdentity(&op, constrain.getSource(), number);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // Carried values are cut alike in all iterations.
    for (auto [result, argument] :
         llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (std::optional<unsigned> number = lookup(result))
        numbers[argument] = *number;
    addBlock(*loop.getBody());
    for (auto [result, init, next] : llvm::zip_equal(
             loop.getResults(), loop.getInits(), loop.getYieldedValues()))
      if (std::optional<unsigned> number = lookup(result)) {
        addIdentity(&op, init, *number);
        addIdentity(&op, next, *number);
      }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : branch.getRegions()) {
      if (region->empty())
        continue;
      addBlock(region->front());
      Operation *yield = region->front().getTerminator();
      for (auto [result, value] :
           llvm::zip_equal(branch.getResults(), yield->getOperands()))
        if (std::optional<unsigned> number = lookup(result))
          addIdentity(&op, value, *number);
    }
    return;
  }
  if (auto manual = dyn_cast<ManualOp>(op))
    return addManual(manual);
  if (isa<scf::IndexSwitchOp, scf::WhileOp>(op) && containsManual(&op)) {
    // The results of these operations stay whole.
    for (Region &region : op.getRegions())
      addBlock(region.front());
    return;
  }
  std::optional<ShardingRule> rule;
  if (!isMadeAnywhere(&op))
    rule = getShardingRule(&op);
  if (!rule)
    return;
  Link link{&op, getRound(&op, *rule), rule->factors, {}};
  auto add = [&](Value value, ArrayRef<int64_t> dims) {
    std::optional<unsigned> number = lookup(value);
    if (number && !tensors[*number].isFree)
      link.tensors.push_back({*number, SmallVector<int64_t>(dims)});
  };
  for (auto [operand, dims] : llvm::zip_equal(op.getOperands(), rule->operands))
    add(operand, dims);
  for (auto [result, dims] : llvm::zip_equal(op.getResults(), rule->results))
    add(result, dims);
  addLink(std::move(link));
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// Returns the axes that cut dimension `dim` of the tensor with this index in
/// `link`, as the first of its tensors has them.
AxisList BodySharding::getAxes(const Link &link, unsigned index,
                               unsigned dim) const {
  AxisList axes;
  if (index == 1 && !link.manual.empty())
    axes = link.manual[dim];
  llvm::append_range(axes, tensors[link.tensors[index].first].dims[dim]);
  return axes;
}

/// Returns the axes of each factor, preferring those for which the fewest bytes
/// have another layout.
SmallVector<AxisList> BodySharding::chooseCut(const Link &link) const {
  struct Candidate {
    unsigned factor;
    AxisList axes;
    uint64_t bytes = 0; ///< size of the tensors that already have this layout
  };
  SmallVector<Candidate, 8> candidates;
  auto forEachDim = [&](auto visit) {
    for (auto [index, entry] : llvm::enumerate(link.tensors))
      for (auto [dim, factor] : llvm::enumerate(entry.second))
        if (factor != ShardingRule::kWhole && link.factors[factor].isCuttable)
          if (AxisList axes = getAxes(link, index, dim); !axes.empty())
            visit(tensors[entry.first], static_cast<unsigned>(factor), axes);
  };
  forEachDim([&](const Tensor &, unsigned factor, const AxisList &axes) {
    const ShardingRule::Factor &cut = link.factors[factor];
    // Only explicit shardings may leave shards without elements; propagation
    // does not.
    if (cut.isCuttableInto(getNumBlocks(axes)) &&
        countEmptyBlocks(cut.size, getNumBlocks(axes)) == 0 &&
        llvm::none_of(candidates, [&](const Candidate &other) {
          return other.factor == factor && other.axes == axes;
        }))
      candidates.push_back({factor, axes});
  });
  if (candidates.size() > 1)
    forEachDim([&](const Tensor &tensor, unsigned factor,
                   const AxisList &axes) {
      uint64_t bytes = tensor.type.getNumElements() *
                       getElementBytes(tensor.type.getElementType());
      // A tensor cut by a prefix of the axes gets its block at no cost.
      for (Candidate &candidate : candidates)
        if (candidate.factor == factor &&
            ArrayRef(candidate.axes).take_front(axes.size()) == ArrayRef(axes))
          candidate.bytes += bytes;
    });
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.bytes > b.bytes;
  });
  SmallVector<AxisList> cut(link.factors.size());
  SmallVector<bool> isUsed(mesh.getSizes().size(), false);
  for (Candidate &candidate : candidates) {
    if (!cut[candidate.factor].empty() ||
        llvm::any_of(candidate.axes,
                     [&](unsigned axis) { return isUsed[axis]; }))
      continue;
    for (unsigned axis : candidate.axes)
      isUsed[axis] = true;
    cut[candidate.factor] = candidate.axes;
  }
  return cut;
}

void BodySharding::update(unsigned number) {
  Link &link = links[number];
  SmallVector<AxisList> cut = chooseCut(link);
  for (unsigned index = 0; index < link.tensors.size(); ++index) {
    unsigned target = link.tensors[index].first;
    bool isInside = index == 1 && !link.manual.empty();
    ArrayRef<int64_t> dims = link.tensors[index].second;
    Tensor &tensor = tensors[target];
    bool hasChanged = false;
    for (auto [dim, factor] : llvm::enumerate(dims)) {
      if (factor == ShardingRule::kWhole || !tensor.isOpen[dim])
        continue;
      AxisList axes = getAxes(link, index, dim);
      ArrayRef<unsigned> goal = cut[factor];
      if (goal.size() <= axes.size() ||
          goal.take_front(axes.size()) != ArrayRef(axes))
        continue;
      ArrayRef<unsigned> more = goal.drop_front(axes.size());
      if (isInside)
        more = more.take_until([&](unsigned axis) {
          return llvm::is_contained(link.barred, axis);
        });
      AxisList goalHere = tensor.dims[dim];
      llvm::append_range(goalHere, more);
      if (more.empty() || countEmptyBlocks(tensor.type.getDimSize(dim),
                                           getNumBlocks(goalHere)) > 0)
        continue;
      // A tensor names each axis at most once.
      if (llvm::any_of(tensor.dims, [&](const AxisList &others) {
            return llvm::any_of(more, [&](unsigned axis) {
              return llvm::is_contained(others, axis);
            });
          }))
        continue;
      for (unsigned axis : more) {
        // A manual axis comes from the `pw.manual`, as does the tensor inside.
        if (!isInside && !link.manual.empty() &&
            llvm::is_contained(link.manual[dim], axis))
          tensor.sources.try_emplace(axis, link.tensors[1].first, number);
        for (auto &[source, sourceDims] : link.tensors)
          if (source != target &&
              llvm::any_of(llvm::enumerate(sourceDims), [&](auto entry) {
                return entry.value() == factor &&
                       llvm::is_contained(tensors[source].dims[entry.index()],
                                          axis);
              })) {
            tensor.sources.try_emplace(axis, source, number);
            break;
          }
      }
      tensor.dims[dim] = goalHere;
      hasChanged = true;
    }
    if (!hasChanged)
      continue;
    for (unsigned next : tensor.links)
      if (!std::exchange(links[next].isQueued, true))
        queue.push_back(next);
  }
}

void BodySharding::propagate(ShardingRound last) {
  for (unsigned round = 0; round <= static_cast<unsigned>(last); ++round) {
    // Links of returned, constrained and carried values come first: they
    // connect to explicit shardings.
    for (bool isIdentity : {true, false})
      for (auto [number, link] : llvm::enumerate(links))
        if (link.isIdentity == isIdentity &&
            static_cast<unsigned>(link.round) == round &&
            !std::exchange(link.isQueued, true))
          queue.push_back(number);
    // Links of later rounds stay in the queue.
    std::vector<unsigned> later;
    for (size_t next = 0; next < queue.size(); ++next) {
      unsigned number = queue[next];
      if (static_cast<unsigned>(links[number].round) > round) {
        later.push_back(number);
        continue;
      }
      links[number].isQueued = false;
      update(number);
    }
    queue = std::move(later);
  }
}
