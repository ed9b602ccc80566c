//===- UnifyShardings.cpp - One mesh for all shardings of a module --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnifyShardings.h"
#include "GspmdShardings.h"
#include "ShardyStrings.h"
#include "StageMarks.h"
#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "pathways/Support/SourcePlace.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_UNIFYSHARDINGS
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

namespace {

/// A mesh that the module declares, or that a sharding has inside.
struct OldMesh {
  Grid grid;
  sdy::MeshOp op; ///< null for a mesh inside of a sharding
};

class ShardingUnifier {
public:
  ShardingUnifier(ModuleOp module, Location place)
      : module(module), place(place), context(module.getContext()),
        strings(module) {}

  LogicalResult run();

private:
  void simplify();
  void inlineNamed(sdy::NamedComputationOp op);
  LogicalResult collect();
  OldMesh &add(sdy::MeshAttr mesh, const Twine &what, Location loc);
  LogicalResult orderDevices();
  FailureOr<int64_t> getNumPartitions();
  LogicalResult refine();
  LogicalResult addGroups();
  void makeMesh();
  LogicalResult rewrite();
  void rewriteAxes(sdy::ManualComputationOp op);
  /// Rewrites numbers of partitions as positions of the new mesh.
  void renumber(Operation *op);
  DenseIntElementsAttr renumber(DenseIntElementsAttr numbers);
  void inlineManual();

  ModuleOp module;
  Location place;
  MLIRContext *context;
  GspmdShardings strings;
  llvm::MapVector<sdy::MeshAttr, OldMesh> meshes;
  /// Positions of the partitions in the new mesh; empty: the same numbers.
  SmallVector<int64_t> positions;
  /// Stands for all partitions if no sharding cuts anything.
  std::optional<Grid> all;
  MeshRefinement refinement;
  std::optional<UnifiedMesh> unified;
  bool hasShardings = false;
};

/// Returns the groups of partitions of a collective, or null. Groups of
/// replicas are none.
DenseIntElementsAttr getPartitionGroups(Operation *op) {
  return llvm::TypeSwitch<Operation *, DenseIntElementsAttr>(op)
      .Case<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
            stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp,
            stablehlo::ReduceScatterOp>([](auto collective) {
        auto channel = collective.getChannelHandleAttr();
        return channel && channel.getHandle() > 0 ? collective.getGroups()
                                                  : DenseIntElementsAttr();
      })
      .Default(DenseIntElementsAttr());
}

SmallVector<int64_t> getPartitions(DenseIntElementsAttr attribute) {
  return llvm::map_to_vector(
      attribute.getValues<APInt>(),
      [](const APInt &number) { return number.getSExtValue(); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Operations that are others in disguise
//===----------------------------------------------------------------------===//

/// Returns `value` with `sharding`.
static Value emitConstraint(OpBuilder &b, Location loc, Value value,
                            sdy::TensorShardingAttr sharding) {
  return sdy::ShardingConstraintOp::create(b, loc, value.getType(), value,
                                           sharding);
}

void ShardingUnifier::inlineNamed(sdy::NamedComputationOp op) {
  OpBuilder b(op);
  Block &body = op.getBody().front();
  auto in = op.getInShardings(), out = op.getOutShardings();
  for (auto [index, operand] : llvm::enumerate(op.getOperands()))
    body.getArgument(index).replaceAllUsesWith(
        in ? emitConstraint(b, op.getLoc(), operand, in->getShardings()[index])
           : operand);
  Operation *end = body.getTerminator();
  for (Operation &inner : llvm::make_early_inc_range(body.without_terminator()))
    inner.moveBefore(op);
  for (auto [index, value] : llvm::enumerate(end->getOperands()))
    op.getResult(index).replaceAllUsesWith(
        out ? emitConstraint(b, op.getLoc(), value, out->getShardings()[index])
            : value);
  op.erase();
}

/// Replaces operations that are constraints and regions with names. The
/// shardings of other operations are only hints, and are removed.
void ShardingUnifier::simplify() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (!isa<func::FuncOp>(op))
      op->removeDiscardableAttr(sdy::kShardingAttrName);
    if (isa<sdy::NamedComputationOp, sdy::ReshardOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto named = dyn_cast<sdy::NamedComputationOp>(op)) {
      inlineNamed(named);
      continue;
    }
    auto reshard = cast<sdy::ReshardOp>(op);
    OpBuilder b(op);
    Value constrained = emitConstraint(b, op->getLoc(), reshard.getInput(),
                                       reshard.getSharding());
    setStageMark(constrained.getDefiningOp(), getStageMark(op));
    reshard.replaceAllUsesWith(constrained);
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

OldMesh &ShardingUnifier::add(sdy::MeshAttr mesh, const Twine &what,
                              Location loc) {
  auto found = meshes.find(mesh);
  if (found != meshes.end())
    return found->second;
  Grid grid{{}, {}, {}, what.str(), loc};
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    grid.sizes.push_back(axis.getSize());
  return meshes.insert({mesh, OldMesh{std::move(grid), {}}}).first->second;
}

/// Finds all meshes, and which parts of axes shardings name.
LogicalResult ShardingUnifier::collect() {
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!op.getMesh().getAxes().empty()) {
      OldMesh &mesh =
          add(op.getMesh(), "mesh '" + op.getSymName() + "'", op.getLoc());
      if (!mesh.op)
        mesh.op = op;
    }
  return rewriteShardings(
      module,
      [&](Operation *op, Type type, sdy::TensorShardingAttr sharding)
          -> FailureOr<sdy::TensorShardingAttr> {
        if (failed(sdy::verifySharding(op, sharding, type)))
          return failure();
        hasShardings = true;
        sdy::MeshAttr mesh = sharding.getMesh(op);
        if (mesh.getAxes().empty())
          return sharding;
        OldMesh &old = add(mesh, "the mesh of a sharding", op->getLoc());
        auto addCuts = [&](ArrayRef<sdy::AxisRefAttr> axes) {
          for (sdy::AxisRefAttr axis : axes) {
            if (axis.isWholeAxis())
              continue;
            auto [low, high] = getRange(mesh, old.grid, axis);
            old.grid.cuts.append({low, high});
          }
        };
        for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
          addCuts(dim.getAxes());
        addCuts(sharding.getReplicatedAxes());
        addCuts(sharding.getUnreducedAxes());
        return sharding;
      });
}

/// Finds the digits by which each mesh counts partitions. If the first mesh
/// has none, partitions are numbered in the order in which it has them.
LogicalResult ShardingUnifier::orderDevices() {
  for (auto &[mesh, old] : meshes) {
    int64_t number = mesh.getNumDevices();
    SmallVector<int64_t> devices(mesh.getDeviceIds());
    if (devices.empty() && positions.empty()) {
      old.grid.order = {{1, number}};
      continue;
    }
    if (devices.empty())
      llvm::append_range(devices, llvm::seq<int64_t>(0, number));
    if (!positions.empty())
      for (int64_t &device : devices)
        device = positions[device];
    std::optional<Digits> order = findDigits(devices);
    const OldMesh &first = meshes.front().second;
    if (!order && &old == &first) {
      positions.resize(number);
      for (auto [position, device] : llvm::enumerate(devices))
        positions[device] = position;
      order = {{1, number}};
    }
    if (!order) {
      InFlightDiagnostic error =
          emitError(old.grid.loc)
          << old.grid.what << " has its devices in an order that no finer mesh "
          << "has in common with " << first.grid.what
          << Tag(ErrorId::kPartitioned);
      error.attachNote(first.grid.loc) << first.grid.what << " is here";
      return error;
    }
    old.grid.order = *order;
  }
  return success();
}

/// Returns the number of partitions, which all meshes have.
FailureOr<int64_t> ShardingUnifier::getNumPartitions() {
  SmallVector<const Grid *> grids;
  for (auto &[mesh, old] : meshes)
    grids.push_back(&old.grid);
  grids.append(strings.getGrids());
  for (const Grid *grid : grids) {
    if (grid->getNumPartitions() == grids.front()->getNumPartitions())
      continue;
    InFlightDiagnostic error =
        emitError(grid->loc)
        << grid->what << " has " << grid->getNumPartitions() << " devices, but "
        << grids.front()->what << " has " << grids.front()->getNumPartitions()
        << "; expected the same number everywhere"
        << Tag(ErrorId::kPartitioned);
    error.attachNote(grids.front()->loc) << grids.front()->what << " is here";
    return error;
  }
  auto getCount = [&](StringRef name) {
    auto count = module->getAttrOfType<IntegerAttr>(name);
    return count ? count.getInt() : 1;
  };
  auto refuse = [&](StringRef name, int64_t expected) {
    return emitError(place) << "the module is partitioned: '" << name << "' is "
                            << getCount(name) << ", expected " << expected
                            << (expected > 1 ? ", the devices of its mesh" : "")
                            << Tag(ErrorId::kPartitioned);
  };
  if (getCount("mhlo.num_replicas") > 1)
    return refuse("mhlo.num_replicas", 1);
  int64_t count = getCount("mhlo.num_partitions");
  constexpr int64_t kMaxPartitions = 1 << 24;
  if (grids.empty() && count > kMaxPartitions)
    return refuse("mhlo.num_partitions", kMaxPartitions);
  if (grids.empty())
    return std::max<int64_t>(count, 1);
  int64_t number = grids.front()->getNumPartitions();
  if (count > 1 && count != number)
    return refuse("mhlo.num_partitions", number);
  return number;
}

/// Adds the groups of partitions of collectives. Groups that are no digits are
/// reported when the collectives are lowered.
LogicalResult ShardingUnifier::addGroups() {
  WalkResult walked = module.walk([&](Operation *op) {
    DenseIntElementsAttr groups = getPartitionGroups(op);
    if (!groups || groups.getType().getRank() != 2 ||
        groups.getNumElements() == 0)
      return WalkResult::advance();
    int64_t size = groups.getType().getDimSize(1);
    SmallVector<int64_t> numbers = getPartitions(renumber(groups));
    SmallVector<int64_t> group(ArrayRef<int64_t>(numbers).take_front(size));
    for (int64_t &number : group) {
      if (number < 0 || number >= groups.getNumElements())
        return WalkResult::advance();
      if (&number != group.begin())
        number -= group.front();
    }
    group.front() = 0;
    std::optional<Digits> digits = findDigits(group);
    if (!digits || succeeded(refinement.add(*digits)))
      return WalkResult::advance();
    op->emitOpError("has groups that are no axes of the mesh, nor of a finer "
                    "one")
        << Tag(ErrorId::kPartitioned);
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ShardingUnifier::refine() {
  FailureOr<int64_t> number = getNumPartitions();
  if (failed(number) || failed(orderDevices()))
    return failure();
  SmallVector<const Grid *> grids = strings.getGrids();
  if (meshes.empty() && grids.empty()) {
    all = Grid{{*number}, {{1, *number}}, {}, "the module", place};
    grids.push_back(&*all);
  }
  if (!positions.empty() && !grids.empty())
    return emitError(grids.front()->loc)
           << grids.front()->what << " and " << meshes.front().second.grid.what
           << " have their devices in orders that no finer mesh has in common"
           << Tag(ErrorId::kPartitioned);
  for (auto &[mesh, old] : meshes)
    if (failed(refinement.add(old.grid)))
      return failure();
  for (const Grid *grid : grids)
    if (failed(refinement.add(*grid)))
      return failure();
  if (*number > 1 && failed(addGroups()))
    return failure();
  refinement.finish();
  return success();
}

/// Puts the new mesh into the module, with the name of the first one.
void ShardingUnifier::makeMesh() {
  std::string name = "mesh";
  SymbolTable symbols(module);
  sdy::MeshAttr first;
  const Grid *grid = nullptr;
  if (!meshes.empty()) {
    first = meshes.front().first;
    grid = &meshes.front().second.grid;
  }
  for (auto &[mesh, old] : meshes)
    if (old.op) {
      name = old.op.getSymName().str();
      break;
    }
  while (Operation *other = symbols.lookup(name)) {
    if (isa<sdy::MeshOp>(other))
      break;
    name += "_";
  }
  unified.emplace(context, refinement, first, grid,
                  StringAttr::get(context, name));
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Expresses the manual axes of `op`, whose shardings are still over an old
/// mesh, by those of the new one.
void ShardingUnifier::rewriteAxes(sdy::ManualComputationOp op) {
  SmallVector<sdy::TensorShardingAttr> shardings(
      op.getInShardings().getShardings());
  llvm::append_range(shardings, op.getOutShardings().getShardings());
  SmallVector<StringAttr> names;
  for (StringAttr axis : op.getManualAxes().getAxes()) {
    auto ref = sdy::AxisRefAttr::get(context, axis.getValue(), 0, 0);
    sdy::MeshAttr mesh;
    // A computation without operands and results does not say its mesh.
    if (!shardings.empty())
      mesh = shardings.front().getMesh(op);
    else
      for (auto &[other, old] : meshes)
        if (!mesh && other.getAxisSize(axis.getValue()) > 0)
          mesh = other;
    auto found = mesh ? meshes.find(mesh) : meshes.end();
    if (found == meshes.end())
      continue;
    for (sdy::AxisRefAttr part :
         unified->getAxes(mesh, found->second.grid, ref))
      names.push_back(StringAttr::get(context, part.getName()));
  }
  op.setManualAxesAttr(sdy::ManualAxesAttr::get(context, names));
}

DenseIntElementsAttr ShardingUnifier::renumber(DenseIntElementsAttr numbers) {
  if (positions.empty())
    return numbers;
  SmallVector<APInt> renumbered;
  for (const APInt &number : numbers.getValues<APInt>()) {
    int64_t partition = number.getSExtValue();
    bool isValid =
        partition >= 0 && partition < static_cast<int64_t>(positions.size());
    renumbered.push_back(
        isValid ? APInt(number.getBitWidth(), positions[partition]) : number);
  }
  return DenseIntElementsAttr::get(numbers.getType(), renumbered);
}

void ShardingUnifier::renumber(Operation *op) {
  if (DenseIntElementsAttr groups = getPartitionGroups(op)) {
    op->setAttr("replica_groups", renumber(groups));
    return;
  }
  if (auto permute = dyn_cast<stablehlo::CollectivePermuteOp>(op)) {
    permute.setSourceTargetPairsAttr(renumber(permute.getSourceTargetPairs()));
    return;
  }
  auto id = dyn_cast<stablehlo::PartitionIdOp>(op);
  if (!id)
    return;
  // The partition at each position.
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(id.getType());
  SmallVector<APInt> partitions(positions.size(), APInt(32, 0));
  for (auto [partition, position] : llvm::enumerate(positions))
    partitions[position] = APInt(32, partition);
  auto listType = type.clone({static_cast<int64_t>(positions.size())});
  Value list = stablehlo::ConstantOp::create(
      b, loc, listType, DenseIntElementsAttr::get(listType, partitions));
  auto slice = stablehlo::DynamicSliceOp::create(b, loc, type.clone({1}), list,
                                                 ValueRange{id.getResult()},
                                                 b.getDenseI64ArrayAttr({1}));
  Value number = stablehlo::ReshapeOp::create(b, loc, type, slice);
  id.getResult().replaceAllUsesExcept(number, slice);
}

LogicalResult ShardingUnifier::rewrite() {
  // Regions are manual over axes of the mesh that their shardings name.
  module.walk([&](sdy::ManualComputationOp op) { rewriteAxes(op); });
  LogicalResult rewritten = rewriteShardings(
      module,
      [&](Operation *op, Type type, sdy::TensorShardingAttr sharding)
          -> FailureOr<sdy::TensorShardingAttr> {
        sdy::MeshAttr mesh = sharding.getMesh(op);
        if (mesh.isMaximal()) {
          // It says where the value is, and the program has one place.
          if (!isa<sdy::ManualComputationOp>(op))
            return sdy::TensorShardingAttr();
          auto tensor = dyn_cast<RankedTensorType>(type);
          return unified->getSharding(SmallVector<sdy::DimensionShardingAttr>(
              tensor ? tensor.getRank() : 0,
              sdy::DimensionShardingAttr::get(context, {}, true, -1)));
        }
        auto found = meshes.find(mesh);
        return unified->convert(sharding, mesh,
                                found == meshes.end() ? nullptr
                                                      : &found->second.grid);
      });
  if (failed(rewritten))
    return failure();
  if (!positions.empty())
    module.walk([&](Operation *op) { renumber(op); });
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  // Shardings name the mesh even if it has no axes.
  if (!unified->getMesh().getAxes().empty() || hasShardings ||
      !strings.isEmpty()) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    sdy::MeshOp::create(b, place, unified->getSymbol(), StringAttr(),
                        unified->getMesh());
  }
  return strings.rewrite(*unified);
}

/// Replaces manual computations on one device, whose shards are whole arrays,
/// by their operations.
void ShardingUnifier::inlineManual() {
  SmallVector<sdy::ManualComputationOp> ops;
  module.walk([&](sdy::ManualComputationOp op) { ops.push_back(op); });
  for (sdy::ManualComputationOp op : ops) {
    Block &body = op.getBody().front();
    for (auto [argument, operand] :
         llvm::zip_equal(body.getArguments(), op.getOperands()))
      argument.replaceAllUsesWith(operand);
    Operation *end = body.getTerminator();
    for (Operation &inner :
         llvm::make_early_inc_range(body.without_terminator()))
      inner.moveBefore(op);
    op->replaceAllUsesWith(end->getOperands());
    op.erase();
  }
}

LogicalResult ShardingUnifier::run() {
  if (failed(readShardyStrings(module)))
    return failure();
  simplify();
  if (failed(strings.read()) || failed(collect()) || failed(refine()))
    return failure();
  makeMesh();
  if (failed(rewrite()))
    return failure();
  if (unified->getMesh().getNumDevices() <= 1)
    inlineManual();
  return success();
}

LogicalResult mlir::pathways::unifyShardings(ModuleOp module) {
  // A text need not name its module.
  FileLineColRange range = findSourcePlace(module.getLoc());
  bool isNamed = range && range.getStartLine() > 0;
  Location place = isNamed || module.getBody()->empty()
                       ? module.getLoc()
                       : module.getBody()->front().getLoc();
  return ShardingUnifier(module, place).run();
}

namespace {
struct UnifyShardingsPass
    : mlir::pathways::impl::UnifyShardingsBase<UnifyShardingsPass> {
  void runOnOperation() override {
    if (failed(unifyShardings(getOperation())))
      signalPassFailure();
  }
};
} // namespace
