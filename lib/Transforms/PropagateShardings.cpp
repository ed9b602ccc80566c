//===- PropagateShardings.cpp - Shardings for open dimensions -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineBody.h"
#include "pathways/Analysis/BodySharding.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Support/SourcePlace.h"
#include "pathways/Transforms/Passes.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

/// A function propagates nothing if its calls on one mesh have more
/// combinations of shardings than this.
static constexpr unsigned kMaxSummaries = 64;

namespace {

/// Shardings that calls propagate. Each function is analyzed once for each
/// combination of shardings and round.
class Summaries {
public:
  explicit Summaries(SymbolTable &symbols) : symbols(symbols) {}

  struct Summary {
    SmallVector<ShardingAttr> operands, results;
    /// Origin of each axis that was added to operands, then to results.
    llvm::DenseMap<std::pair<unsigned, Attribute>, BodySharding::Origin>
        origins;
  };

  /// Returns null if the function has too many summaries. Fails, with a
  /// diagnostic, if the function is too large.
  FailureOr<const Summary *> get(func::FuncOp callee, MeshAttr mesh,
                                 ArrayRef<ShardingAttr> operands,
                                 ArrayRef<ShardingAttr> results,
                                 ShardingRound round);

private:
  SymbolTable &symbols;
  llvm::DenseMap<Operation *, OwningOpRef<func::FuncOp>> bodies;
  llvm::DenseMap<std::pair<Attribute, unsigned>, std::unique_ptr<Summary>>
      summaries;
  llvm::DenseMap<std::pair<Operation *, Attribute>, llvm::DenseSet<Attribute>>
      combinations;
};

FailureOr<const Summaries::Summary *>
Summaries::get(func::FuncOp callee, MeshAttr mesh,
               ArrayRef<ShardingAttr> operands, ArrayRef<ShardingAttr> results,
               ShardingRound round) {
  SmallVector<Attribute> parts = {callee.getSymNameAttr(), mesh};
  llvm::append_range(parts, operands);
  llvm::append_range(parts, results);
  Attribute key = ArrayAttr::get(mesh.getContext(), parts);
  auto &summary = summaries[{key, static_cast<unsigned>(round)}];
  if (summary)
    return summary.get();
  auto &known = combinations[{callee, mesh}];
  if (!known.contains(key) && known.size() == kMaxSummaries)
    return nullptr;
  known.insert(key);
  OwningOpRef<func::FuncOp> &body = bodies[callee];
  if (!body) {
    auto inlined = inlineBody(callee, symbols);
    if (failed(inlined))
      return failure();
    body = std::move(*inlined);
  }
  Block &block = body->front();
  BodySharding sharding(block, mesh, operands, results);
  sharding.propagate(round);
  summary = std::make_unique<Summary>();
  auto addOrigins = [&](unsigned number, ShardingAttr layout, auto getOrigin) {
    for (ArrayAttr axes : layout.getDims())
      for (auto axis : axes.getAsRange<StringAttr>())
        if (std::optional<BodySharding::Origin> origin = getOrigin(axis))
          summary->origins[{number, axis}] = *origin;
  };
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    summary->operands.push_back(sharding.get(argument));
    addOrigins(index, summary->operands.back(), [&](StringAttr axis) {
      return sharding.getOrigin(argument, axis);
    });
  }
  for (unsigned index = 0; index < results.size(); ++index) {
    summary->results.push_back(sharding.getResult(index));
    addOrigins(
        operands.size() + index, summary->results.back(),
        [&](StringAttr axis) { return sharding.getResultOrigin(index, axis); });
  }
  return summary.get();
}

/// Arrays of all programs, and the operations that propagate shardings between
/// them.
class Propagation {
public:
  Propagation(ModuleOp module, SymbolTable &symbols)
      : module(module), symbols(symbols), summaries(symbols) {}

  /// Returns true if any dimension is open. Fails, with a diagnostic, at a node
  /// that does not define how it handles open arrays.
  FailureOr<bool> collect();
  LogicalResult run();
  void explain();
  /// Writes the shardings into the types, and reports slices without any.
  void close();

private:
  /// Values that are always cut alike. Some may have leading dimensions that
  /// are not cut: a stepped operand or result of a loop has one more than what
  /// an iteration has of it.
  struct Array {
    ArrayType type; ///< type of a value with the fewest dimensions, as written
    MeshAttr mesh;
    SmallVector<Value, 2> values;
    SmallVector<ArrayAttr> dims;
    /// Source of each axis that was added, and the operation that propagated
    /// it.
    struct Source {
      std::optional<unsigned> array;
      Operation *constraint;
      Operation *through;
    };
    llvm::DenseMap<Attribute, Source> sources;
    SmallVector<unsigned, 2> links;

    unsigned getNumLeadingDims(Value value) const {
      return cast<ArrayType>(value.getType()).getRank() - type.getRank();
    }
    /// Returns the sharding that `value` has now.
    ShardingAttr getSharding(Value value) const {
      unsigned numLeading = getNumLeadingDims(value);
      MLIRContext *context = type.getContext();
      SmallVector<ArrayAttr> all(numLeading, ArrayAttr::get(context, {}));
      llvm::append_range(all, dims);
      ShardingAttr written = cast<ArrayType>(value.getType()).getSharding();
      return ShardingAttr::get(context, all, written.getPartialKind(),
                               written.getPartialAxes(), written.getOpenDims());
    }
  };

  LogicalResult collect(ProgramOp program,
                        llvm::EquivalenceClasses<void *> &same);
  LogicalResult update(Operation *link, ShardingRound round);
  LogicalResult updateCall(CallOp call, ShardingRound round);
  void pass(Value from, Value to, Operation *through);
  /// Returns true if the dimension may get axes; a leading one may not.
  bool isOpenAt(Value value, unsigned dim) const {
    return dim >= arrays[numbers.lookup(value)].getNumLeadingDims(value) &&
           cast<ArrayType>(value.getType()).getSharding().isOpen(dim);
  }
  /// Adds `axes` to the open dimension `dim` of `value`, if that is allowed.
  void extend(Value value, unsigned dim, ArrayRef<Attribute> axes,
              function_ref<Array::Source(Attribute)> getSource);
  void takeSummary(Value value, ShardingAttr found,
                   function_ref<Array::Source(Attribute)> getSource);
  int64_t getNumBlocks(MeshAttr mesh, ArrayRef<Attribute> axes) const;
  std::string describe(unsigned number, Attribute axis) const;
  std::string describe(Value value) const;

  ModuleOp module;
  SymbolTable &symbols;
  Summaries summaries;
  std::vector<Array> arrays;
  llvm::DenseMap<Value, unsigned> numbers;
  SmallVector<Operation *> links;
  std::vector<bool> isQueued;
  std::vector<unsigned> queue;
  llvm::DenseSet<Operation *> givenUp; ///< functions with too many summaries
};

} // namespace

//===----------------------------------------------------------------------===//
// Arrays and links
//===----------------------------------------------------------------------===//

static bool isOpen(Type type) {
  auto array = dyn_cast<ArrayType>(type);
  return array && array.getSharding().hasOpenDims();
}

LogicalResult Propagation::collect(ProgramOp program,
                                   llvm::EquivalenceClasses<void *> &same) {
  auto tie = [&](Value a, Value b) {
    same.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  ReturnOp end = program.getReturn();
  for (BlockArgument argument : program.getBody().getArguments())
    if (std::optional<unsigned> result =
            program.getCarriedResult(argument.getArgNumber()))
      tie(argument, end.getResults()[*result]);
  WalkResult walked = program.walk([&](NodeOpInterface node) -> WalkResult {
    Operation *op = node;
    if (auto copy = dyn_cast<CopyOp>(op)) {
      tie(copy.getSource(), copy.getResult());
    } else if (auto loop = dyn_cast<ForOp>(op)) {
      for (auto [index, init, argument] :
           llvm::enumerate(loop.getInits(), loop.getBody().getArguments())) {
        tie(init, argument);
        if (std::optional<unsigned> result = loop.getCarriedResult(index))
          tie(argument, loop.getOutputs()[*result]);
      }
      for (auto [value, output] :
           llvm::zip_equal(loop.getYield().getValues(), loop.getOutputs()))
        tie(value, output);
    } else if (auto branch = dyn_cast<IfOp>(op)) {
      for (auto [first, second, output] : llvm::zip_equal(
               branch.getThenYield().getValues(),
               branch.getElseYield().getValues(), branch.getOutputs())) {
        tie(first, output);
        tie(second, output);
      }
    } else if (isa<CallOp, ReshardOp, TransferOp>(op)) {
      links.push_back(op);
    } else if (!isa<ReturnOp>(op) &&
               (llvm::any_of(op->getOperandTypes(), isOpen) ||
                llvm::any_of(op->getResultTypes(), isOpen))) {
      op->emitOpError(
          "has an array with an open dimension, but does not define how it "
          "propagates shardings; write which axes cut the array");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<bool> Propagation::collect() {
  llvm::EquivalenceClasses<void *> same;
  SmallVector<Value> values;
  bool isAnyOpen = false;
  for (auto program : module.getOps<ProgramOp>()) {
    program.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::append_range(values, block.getArguments());
      llvm::append_range(values, op->getResults());
    });
    if (failed(collect(program, same)))
      return failure();
  }
  llvm::DenseMap<void *, unsigned> leaders;
  for (Value value : values) {
    auto type = dyn_cast<ArrayType>(value.getType());
    if (!type)
      continue;
    isAnyOpen |= type.getSharding().hasOpenDims();
    void *leader = value.getAsOpaquePointer();
    if (auto it = same.findLeader(leader); it != same.member_end())
      leader = *it;
    auto [it, isNew] = leaders.try_emplace(leader, arrays.size());
    if (isNew) {
      Array array;
      array.type = type;
      array.mesh = symbols.lookup<SliceOp>(type.getSlice().getAttr()).getMesh();
      array.dims.assign(type.getSharding().getDims().begin(),
                        type.getSharding().getDims().end());
      arrays.push_back(std::move(array));
    }
    Array &array = arrays[it->second];
    if (type.getRank() < array.type.getRank()) {
      array.type = type;
      array.dims.assign(type.getSharding().getDims().begin(),
                        type.getSharding().getDims().end());
    }
    array.values.push_back(value);
    numbers[value] = it->second;
  }
  for (auto [number, link] : llvm::enumerate(links))
    for (Value value : llvm::concat<Value>(llvm::to_vector(link->getOperands()),
                                           llvm::to_vector(link->getResults())))
      arrays[numbers[value]].links.push_back(number);
  return isAnyOpen;
}

int64_t Propagation::getNumBlocks(MeshAttr mesh,
                                  ArrayRef<Attribute> axes) const {
  return *mesh.getGroupSize(ArrayAttr::get(mesh.getContext(), axes));
}

void Propagation::extend(Value value, unsigned dim, ArrayRef<Attribute> axes,
                         function_ref<Array::Source(Attribute)> getSource) {
  Array &array = arrays[numbers[value]];
  dim -= array.getNumLeadingDims(value);
  SmallVector<Attribute> all(array.dims[dim].begin(), array.dims[dim].end());
  for (Attribute axis : axes) {
    bool isUsed = llvm::any_of(array.dims, [&](ArrayAttr others) {
      return llvm::is_contained(others, axis);
    });
    if (isUsed)
      return;
    all.push_back(axis);
  }
  if (countEmptyBlocks(array.type.getShape()[dim],
                       getNumBlocks(array.mesh, all)) > 0)
    return;
  for (Attribute axis : axes)
    array.sources.try_emplace(axis, getSource(axis));
  array.dims[dim] = ArrayAttr::get(module.getContext(), all);
  for (unsigned link : array.links)
    if (!isQueued[link]) {
      isQueued[link] = true;
      queue.push_back(link);
    }
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// Returns the axes of `from` that `mesh` has, too, and that have a size above
/// 1 there.
static SmallVector<Attribute> getCommonAxes(ArrayAttr from, MeshAttr mesh) {
  SmallVector<Attribute> axes;
  for (auto axis : from.getAsRange<StringAttr>()) {
    int64_t index = mesh.getAxisIndex(axis);
    if (index < 0)
      break;
    if (mesh.getSizes()[index] > 1)
      axes.push_back(axis);
  }
  return axes;
}

void Propagation::pass(Value from, Value to, Operation *through) {
  unsigned source = numbers[from], target = numbers[to];
  if (source == target)
    return;
  ArrayRef<ArrayAttr> given = arrays[source].getSharding(from).getDims();
  for (unsigned dim = 0; dim < given.size(); ++dim) {
    if (!isOpenAt(to, dim))
      continue;
    const Array &array = arrays[target];
    SmallVector<Attribute> goal = getCommonAxes(given[dim], array.mesh);
    SmallVector<Attribute> there =
        getCommonAxes(array.getSharding(to).getDims()[dim], array.mesh);
    if (goal.size() > there.size() &&
        ArrayRef(goal).take_front(there.size()) == ArrayRef(there))
      extend(to, dim, ArrayRef(goal).drop_front(there.size()), [&](Attribute) {
        return Array::Source{source, nullptr, through};
      });
  }
}

/// Appends axes that a function added to those of an array.
void Propagation::takeSummary(
    Value value, ShardingAttr found,
    function_ref<Array::Source(Attribute)> getSource) {
  for (auto [dim, axes] : llvm::enumerate(found.getDims())) {
    const Array &array = arrays[numbers[value]];
    if (!isOpenAt(value, dim))
      continue;
    size_t there =
        getCommonAxes(array.getSharding(value).getDims()[dim], array.mesh)
            .size();
    if (axes.size() > there)
      extend(value, dim, axes.getValue().drop_front(there), getSource);
  }
}

LogicalResult Propagation::updateCall(CallOp call, ShardingRound round) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  MeshAttr mesh = symbols.lookup<SliceOp>(call.getSlice().getAttr()).getMesh();
  if (callee->hasAttr(PathwaysDialect::kLocalViewAttrName) ||
      mesh.getNumShards() == 1)
    return success();
  SmallVector<ShardingAttr> operands, results;
  for (Value operand : call.getInputs())
    operands.push_back(arrays[numbers[operand]].getSharding(operand));
  for (Value result : call.getOutputs())
    results.push_back(arrays[numbers[result]].getSharding(result));
  auto summary = summaries.get(callee, mesh, operands, results, round);
  if (failed(summary))
    return failure();
  if (!*summary) {
    if (givenUp.insert(callee).second)
      call.emitRemark() << "'" << call.getCallee() << "' is called with more "
                        << "than " << kMaxSummaries
                        << " combinations of shardings; this call and calls "
                           "with other combinations propagate none";
    return success();
  }
  auto take = [&](unsigned index, Value value, ShardingAttr found) {
    takeSummary(value, found, [&](Attribute axis) {
      auto it = (*summary)->origins.find({index, axis});
      if (it == (*summary)->origins.end())
        return Array::Source{std::nullopt, nullptr, call};
      const BodySharding::Origin &origin = it->second;
      switch (origin.kind) {
      case BodySharding::Origin::Operand:
        return Array::Source{numbers[call.getInputs()[origin.index]], nullptr,
                             call};
      case BodySharding::Origin::Result:
        return Array::Source{numbers[call.getOutputs()[origin.index]], nullptr,
                             call};
      case BodySharding::Origin::Constraint:
        return Array::Source{std::nullopt, origin.constraint, call};
      }
      llvm_unreachable("unknown origin");
    });
  };
  for (auto [index, operand] : llvm::enumerate(call.getInputs()))
    take(index, operand, (*summary)->operands[index]);
  for (auto [index, result] : llvm::enumerate(call.getOutputs()))
    take(operands.size() + index, result, (*summary)->results[index]);
  return success();
}

LogicalResult Propagation::update(Operation *link, ShardingRound round) {
  if (auto call = dyn_cast<CallOp>(link))
    return updateCall(call, round);
  // Moving costs nothing between equal layouts.
  pass(link->getOperand(0), link->getResult(0), link);
  pass(link->getResult(0), link->getOperand(0), link);
  return success();
}

LogicalResult Propagation::run() {
  isQueued.resize(links.size());
  for (unsigned round = 0; round < kNumShardingRounds; ++round) {
    queue.clear();
    for (unsigned link = 0; link < links.size(); ++link) {
      queue.push_back(link);
      isQueued[link] = true;
    }
    for (size_t next = 0; next < queue.size(); ++next) {
      unsigned link = queue[next];
      isQueued[link] = false;
      if (failed(update(links[link], static_cast<ShardingRound>(round))))
        return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::string at(Location loc) {
  std::string place = getSourcePlace(loc);
  return place.empty() ? "" : " at " + place;
}

/// Describes `value` for people.
std::string Propagation::describe(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto program = dyn_cast<ProgramOp>(argument.getOwner()->getParentOp());
    if (program)
      return "argument '" + program.getArgumentName(argument.getArgNumber()) +
             "' of program '" + program.getSymName().str() + "'";
    return "argument " + std::to_string(argument.getArgNumber()) + " of '" +
           argument.getOwner()->getParentOp()->getName().getStringRef().str() +
           "'";
  }
  Operation *op = value.getDefiningOp();
  std::string text = "result " +
                     std::to_string(cast<OpResult>(value).getResultNumber()) +
                     " of '" + op->getName().getStringRef().str() + "'";
  if (auto call = dyn_cast<CallOp>(op))
    text += " of '" + call.getCallee().str() + "'";
  return text;
}

/// Describes the origin of `axis` of an array.
std::string Propagation::describe(unsigned number, Attribute axis) const {
  Operation *through = nullptr;
  std::string from;
  // There is no cycle, because axes come from arrays that had them before.
  while (from.empty()) {
    const Array &array = arrays[number];
    auto source = array.sources.find(axis);
    if (source == array.sources.end()) {
      from = describe(array.values[0]) + at(array.values[0].getLoc());
      break;
    }
    if (!through)
      through = source->second.through;
    if (Operation *constraint = source->second.constraint)
      from = "'" + constraint->getName().getStringRef().str() + "'" +
             at(constraint->getLoc());
    else if (source->second.array)
      number = *source->second.array;
    else
      from = "what is computed";
  }
  if (through) {
    from += ", through '" + through->getName().getStringRef().str() + "'";
    if (auto call = dyn_cast<CallOp>(through))
      from += " of '" + call.getCallee().str() + "'";
    from += at(through->getLoc());
  }
  return from;
}

void Propagation::explain() {
  for (auto [number, array] : llvm::enumerate(arrays)) {
    if (!array.type.getSharding().hasOpenDims())
      continue;
    std::string reasons;
    llvm::raw_string_ostream os(reasons);
    for (ArrayAttr axes : array.dims)
      for (Attribute axis : axes)
        os << "; " << axis << " is "
           << (array.sources.contains(axis) ? "from " + describe(number, axis)
                                            : std::string("written there"));
    Value value = array.values[0];
    ArrayType type = cast<ArrayType>(value.getType())
                         .withSharding(array.getSharding(value).getClosed());
    mlir::emitRemark(value.getLoc())
        << describe(value) << " is " << type
        << (reasons.empty() ? "; no sharding reaches it" : reasons);
  }
}

void Propagation::close() {
  llvm::MapVector<Attribute, bool> isCut; // slices with open arrays
  for (Array &array : arrays) {
    for (Value value : array.values)
      value.setType(cast<ArrayType>(value.getType())
                        .withSharding(array.getSharding(value).getClosed()));
    bool &flag = isCut[array.type.getSlice()];
    flag |= !array.type.getSharding().hasOpenDims() ||
            llvm::any_of(array.dims, [&](ArrayAttr axes) {
              return getNumBlocks(array.mesh, axes.getValue()) > 1;
            });
  }
  for (auto program : module.getOps<ProgramOp>())
    program.setFunctionType(FunctionType::get(
        module.getContext(), program.getBody().getArgumentTypes(),
        program.getReturn().getResults().getTypes()));
  for (auto [name, flag] : isCut) {
    auto slice =
        symbols.lookup<SliceOp>(cast<FlatSymbolRefAttr>(name).getAttr());
    int64_t shards = slice.getMesh().getNumShards();
    if (!flag && shards > 1)
      slice.emitRemark() << "no sharding cuts the arrays on slice '"
                         << slice.getSymName() << "', so each of its " << shards
                         << " devices computes everything";
  }
}

namespace {
class PropagateShardingsPass
    : public mlir::pathways::impl::PropagateShardingsBase<
          PropagateShardingsPass> {
public:
  using PropagateShardingsBase::PropagateShardingsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    Propagation propagation(getOperation(), symbols);
    FailureOr<bool> isAnyOpen = propagation.collect();
    if (failed(isAnyOpen))
      return signalPassFailure();
    if (!*isAnyOpen)
      return;
    if (failed(propagation.run()))
      return signalPassFailure();
    if (explain)
      propagation.explain();
    propagation.close();
  }
};
} // namespace
