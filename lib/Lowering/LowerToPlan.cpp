//===- LowerToPlan.cpp - From placed programs to plans --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "PlanBuilder.h"

#include "mlir/IR/Builders.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Plan/PlanTables.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Support/ElementTypes.h"
#include "pathways/Support/SourcePlace.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "pathways/Lowering/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

/// Bytes that a movement takes, at eight a nanosecond, per shard.
static uint64_t estimateMovement(uint64_t bytes) { return 1 + bytes / 8; }

namespace {

/// Slices of a module with their bindings; layouts of types.
struct PlacedModule {
  SymbolTable symbols;
  DenseMap<StringAttr, BindOp> bindings;

  explicit PlacedModule(ModuleOp module) : symbols(module) {
    for (auto bind : module.getOps<BindOp>())
      bindings[bind.getSliceAttr().getAttr()] = bind;
  }
};

/// Lowers one program.
class ProgramLowering {
public:
  ProgramLowering(ProgramOp program, PlacedModule &module,
                  const LowerToPlanOptions &options)
      : program(program), module(module), builder(options.stepsInFlight),
        kernels(builder),
        credits(options.credits
                    ? std::min(options.credits, options.stepsInFlight)
                    : options.stepsInFlight) {}

  FailureOr<plan::ProgramOp> run();

private:
  /// What the plan says about an array type.
  struct ArrayInfo {
    uint32_t slice = 0;
    uint32_t layout = 0;
    uint64_t bytes = 0;
    RankedTensorType shard;
  };
  FailureOr<uint32_t> getSlice(FlatSymbolRefAttr name, Location loc);
  FailureOr<ArrayInfo> getInfo(Value value);
  uint32_t chooseCredits(Value value);

  /// A buffer for `value`, that `action` writes.
  LogicalResult define(Value value, uint32_t action, StringRef name);
  LogicalResult checkBody();
  LogicalResult addFeeds();
  LogicalResult addCall(CallOp call);
  LogicalResult addMovement(Operation *op, Value source, Value result);
  LogicalResult addFetches();
  LogicalResult addSteps(CallOp call, const PlanKernel &kernel, uint32_t gang);
  /// Arguments whose memory a result may take, with the results.
  FailureOr<SmallVector<std::pair<unsigned, SmallVector<unsigned>>>>
  getDonations(CallOp call);
  proto::Action &addAction(proto::ActionKind kind, StringRef name,
                           uint32_t slice, uint64_t cost, Location loc);
  uint32_t lastAction() { return builder.plan.actions_size() - 1; }
  FailureOr<plan::ProgramOp> emit();

  ProgramOp program;
  PlacedModule &module;
  PlanBuilder builder;
  KernelTable kernels;
  uint32_t credits;
  DenseMap<StringAttr, uint32_t> slices;
  SmallVector<SliceOp> sliceOps;
  DenseMap<Type, ArrayInfo> infos;
  DenseMap<Value, uint32_t> buffers;
  DenseMap<Value, std::string> baseNames; // without the numbers
  llvm::SmallDenseSet<Value> carriedResults;
};

} // namespace

FailureOr<uint32_t> ProgramLowering::getSlice(FlatSymbolRefAttr name,
                                              Location loc) {
  auto [entry, isNew] =
      slices.try_emplace(name.getAttr(), builder.plan.slices_size());
  if (!isNew)
    return entry->second;
  auto slice = module.symbols.lookup<SliceOp>(name.getAttr());
  if (!slice)
    return mlir::emitError(loc)
           << "slice '" << name.getValue() << "' is not declared";
  BindOp bind = module.bindings.lookup(name.getAttr());
  if (!bind) {
    InFlightDiagnostic error =
        mlir::emitError(loc) << "slice '" << name.getValue()
                             << "' is not bound to devices; run pw-place first";
    error.attachNote(slice.getLoc()) << "slice is declared here";
    return error;
  }
  proto::Slice *out = builder.plan.add_slices();
  sliceOps.push_back(slice);
  ::pathways::SetMesh(toMesh(slice.getMesh()), out);
  out->set_name(name.getValue().str());
  out->set_kind(slice.getDeviceKind().str());
  out->mutable_binding()->set_island(bind.getIsland());
  if (bind.isAffine()) {
    proto::AffineDevices *affine = out->mutable_binding()->mutable_affine();
    affine->set_base(bind.getBase().value_or(0));
    affine->set_span(bind.getSpan().value_or(0));
    ArrayRef<int64_t> strides = bind.getStrides().value_or(ArrayRef<int64_t>());
    affine->mutable_strides()->Add(strides.begin(), strides.end());
  } else {
    ArrayRef<int64_t> devices = *bind.getDevices();
    out->mutable_binding()->mutable_list()->mutable_devices()->Add(
        devices.begin(), devices.end());
  }
  return entry->second;
}

FailureOr<ProgramLowering::ArrayInfo> ProgramLowering::getInfo(Value value) {
  auto known = infos.find(value.getType());
  if (known != infos.end())
    return known->second;
  auto type = cast<ArrayType>(value.getType());
  FailureOr<uint32_t> slice = getSlice(type.getSlice(), value.getLoc());
  if (failed(slice))
    return failure();
  ArrayInfo info;
  info.slice = *slice;
  info.shard = getShardTensorType(type, sliceOps[*slice].getMesh());
  info.layout = builder.getLayout(::pathways::ToProto(
      toLayout(type), getElementType(type.getElementType())));
  info.bytes = ::pathways::ShardBytes(builder.plan.layouts(info.layout),
                                      builder.plan.slices(info.slice));
  infos[value.getType()] = info;
  return info;
}

/// Gangs of one slice follow each other, so an array that only they touch needs
/// one slot: it is written again after it was read. Other ends run beside
/// the gangs, and with one slot for each step in flight neither waits for the
/// other.
uint32_t ProgramLowering::chooseCredits(Value value) {
  if (!value.getDefiningOp<CallOp>())
    return credits;
  for (Operation *user : value.getUsers())
    if (!isa<CallOp>(user))
      return credits;
  return 1;
}

proto::Action &ProgramLowering::addAction(proto::ActionKind kind,
                                          StringRef name, uint32_t slice,
                                          uint64_t cost, Location loc) {
  proto::Action &action = builder.addAction(kind, name, slice, loc);
  action.set_cost_ns(cost);
  action.set_location(getSourcePlace(loc));
  return action;
}

LogicalResult ProgramLowering::define(Value value, uint32_t action,
                                      StringRef name) {
  FailureOr<ArrayInfo> info = getInfo(value);
  if (failed(info))
    return failure();
  uint32_t buffer = builder.addBuffer(name, info->slice, info->layout,
                                      info->bytes, chooseCredits(value));
  builder.addWrite(action, buffer);
  buffers[value] = buffer;
  baseNames[value] = name.str();
  return success();
}

LogicalResult ProgramLowering::checkBody() {
  for (Operation &op : program.getBody().front()) {
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return reshard.emitOpError("is not explicit movement yet; run "
                                 "pw-insert-transfers first");
    if (!isa<CallOp, TransferOp, CopyOp, ReturnOp>(op))
      return op.emitOpError("cannot become an action of a plan");
  }
  return success();
}

LogicalResult ProgramLowering::addFeeds() {
  for (BlockArgument argument : program.getBody().getArguments()) {
    std::string name = program.getArgumentName(argument.getArgNumber());
    FailureOr<ArrayInfo> info = getInfo(argument);
    if (failed(info))
      return failure();
    proto::Action &feed =
        addAction(proto::FEED, name + ".feed", info->slice,
                  estimateMovement(info->bytes), argument.getLoc());
    feed.set_interface(argument.getArgNumber());
    if (failed(define(argument, lastAction(), name)))
      return failure();
    proto::Argument *entry = builder.plan.mutable_interface()->add_arguments();
    entry->set_name(name);
    entry->set_action(lastAction());
    entry->set_stepped(program.isArgumentStepped(argument.getArgNumber()));
  }
  return success();
}

FailureOr<SmallVector<std::pair<unsigned, SmallVector<unsigned>>>>
ProgramLowering::getDonations(CallOp call) {
  SmallVector<std::pair<unsigned, SmallVector<unsigned>>> wanted;
  for (int64_t index : call.getDonated()) {
    Value operand = call.getInputs()[index];
    // The feed of a carried argument reads one firing late.
    if (llvm::count(call.getInputs(), operand) != 1 ||
        carriedResults.contains(operand))
      continue;
    // Donations were resolved to last uses; without that there is no alias.
    bool last = llvm::all_of(operand.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == call)
        return true;
      auto other = dyn_cast<CallOp>(user);
      bool waits = other && use.getOperandNumber() >= other.getInputs().size();
      return waits || user->isBeforeInBlock(call);
    });
    if (!last)
      continue;
    FailureOr<ArrayInfo> have = getInfo(operand);
    if (failed(have))
      return failure();
    SmallVector<unsigned> results;
    for (OpResult result : call->getResults()) {
      FailureOr<ArrayInfo> info = getInfo(result);
      if (failed(info))
        return failure();
      if (info->shard == have->shard && !carriedResults.contains(result))
        results.push_back(result.getResultNumber());
    }
    if (!results.empty())
      wanted.push_back({static_cast<unsigned>(index), results});
  }
  return wanted;
}

LogicalResult ProgramLowering::addCall(CallOp call) {
  auto callee =
      module.symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  if (!callee || callee.isExternal())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which has no body";
  FailureOr<uint32_t> slice = getSlice(call.getSlice(), call.getLoc());
  if (failed(slice))
    return failure();

  // Segments work on shards, so that is what the body must be written for.
  auto check = [&](ValueRange values, TypeRange types, StringRef what) {
    for (auto [index, value, type] : llvm::enumerate(values, types)) {
      FailureOr<ArrayInfo> info = getInfo(value);
      if (failed(info))
        return failure();
      if (info->shard == type)
        continue;
      InFlightDiagnostic error =
          call.emitOpError("has shards of ")
          << info->shard << " as " << what << " " << index << " of '"
          << call.getCallee() << "', which is written for " << type
          << "; a global view on several devices is not partitioned";
      error.attachNote(callee.getLoc()) << "callee is here";
      return LogicalResult(error);
    }
    return success();
  };
  if (callee.getNumArguments() != call.getInputs().size() ||
      callee.getNumResults() != call.getOutputs().size())
    return call.emitOpError("does not have the operands and results of '")
           << call.getCallee() << "'";
  if (failed(check(call.getInputs(), callee.getArgumentTypes(), "operand")) ||
      failed(check(call.getOutputs(), callee.getResultTypes(), "result")))
    return failure();

  auto wanted = getDonations(call);
  if (failed(wanted))
    return failure();
  SmallVector<ArrayType> types;
  for (Type type : call.getInputs().getTypes())
    types.push_back(cast<ArrayType>(type));
  PlanKernel *kernel =
      kernels.get(callee, sliceOps[*slice].getMesh(), types, *wanted);
  if (!kernel)
    return failure();

  proto::Action &gang = addAction(proto::GANG, call.getCallee(), *slice,
                                  kernel->costNs, call.getLoc());
  gang.set_kernel(kernel->number);
  std::string name = gang.name();
  uint32_t number = lastAction();
  for (Value operand : call.getInputs())
    builder.addRead(number, buffers.lookup(operand));
  for (auto [index, result] : llvm::enumerate(call.getOutputs()))
    if (failed(define(result, number,
                      call.getNumResults() == 1
                          ? name
                          : name + ".out" + std::to_string(index))))
      return failure();
  for (auto [argument, result] : kernel->aliases)
    builder.addAlias(number, buffers.lookup(call.getInputs()[argument]),
                     buffers.lookup(call.getOutputs()[result]));
  if (failed(addSteps(call, *kernel, number)))
    return failure();
  for (Value before : call.getAfter())
    builder.addControl(builder.getWriter(buffers.lookup(before)), number);
  return success();
}

/// The collective `op` as a step, but for its buffers.
static LogicalResult setCollective(Operation *op, proto::Collective *step) {
  for (StringAttr axis :
       cast<CollectiveOpInterface>(op).getAxes().getAsRange<StringAttr>())
    step->add_axes(axis.getValue().str());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AllReduceOp op) {
        step->set_kind(proto::ALL_REDUCE);
        step->set_reduction(static_cast<proto::ReductionKind>(op.getKind()));
        return success();
      })
      .Case([&](AllGatherOp op) {
        step->set_kind(proto::ALL_GATHER);
        step->set_dim(op.getDim());
        return success();
      })
      .Case([&](ReduceScatterOp op) {
        step->set_kind(proto::REDUCE_SCATTER);
        step->set_reduction(static_cast<proto::ReductionKind>(op.getKind()));
        step->set_dim(op.getDim());
        return success();
      })
      .Case([&](AllToAllOp op) {
        step->set_kind(proto::ALL_TO_ALL);
        step->set_dim(op.getSplit());
        step->set_concat_dim(op.getConcat());
        return success();
      })
      .Case([&](PermuteOp op) {
        step->set_kind(proto::PERMUTE);
        step->set_shift(op.getShift());
        step->set_wrap(op.getWrap());
        return success();
      })
      .Default([](Operation *op) {
        return op->emitOpError("is a collective that plans do not have");
      });
}

LogicalResult ProgramLowering::addSteps(CallOp call, const PlanKernel &kernel,
                                        uint32_t gang) {
  const SegmentedBody &body = kernel.body;
  uint32_t slice = builder.plan.actions(gang).slice();
  std::string name = builder.plan.actions(gang).name();
  SmallVector<uint32_t> temps;
  for (RankedTensorType type : body.temps) {
    // What one shard has is what a copy of an array of that shape has.
    proto::Layout layout;
    layout.set_element(getElementType(type.getElementType()));
    for (int64_t size : type.getShape()) {
      layout.add_shape(size);
      layout.add_dims();
    }
    uint32_t number = builder.getLayout(layout);
    uint64_t bytes = ::pathways::ShardBytes(layout, builder.plan.slices(slice));
    temps.push_back(builder.addBuffer(name + ".tmp", slice, number, bytes,
                                      /*credits=*/1));
    builder.addWrite(gang, temps.back());
  }
  auto getBuffer = [&](const SegmentValue &value) {
    switch (value.kind) {
    case SegmentValue::Kind::Argument:
      return buffers.lookup(call.getInputs()[value.index]);
    case SegmentValue::Kind::Result:
      return buffers.lookup(call.getOutputs()[value.index]);
    case SegmentValue::Kind::Temp:
      return temps[value.index];
    }
    llvm_unreachable("unknown kind of value");
  };
  llvm::StringMap<uint32_t> segments;
  for (auto [index, function] : llvm::enumerate(body.segments))
    segments[SymbolTable::getSymbolName(function)] = index;
  proto::Action *action = builder.plan.mutable_actions(gang);
  for (const SegmentStep &step : body.steps) {
    if (step.isCollective()) {
      proto::Collective *collective = action->add_steps()->mutable_collective();
      collective->set_source(getBuffer(step.source));
      collective->set_result(getBuffer(step.result));
      if (failed(setCollective(step.collective, collective)))
        return failure();
      continue;
    }
    proto::GangStep::Run *run = action->add_steps()->mutable_run();
    run->set_segment(segments.lookup(step.segment));
    for (const SegmentValue &value : step.inputs)
      run->add_buffers(getBuffer(value));
    for (const SegmentValue &value : step.outputs)
      run->add_buffers(getBuffer(value));
  }
  return success();
}

LogicalResult ProgramLowering::addMovement(Operation *op, Value source,
                                           Value result) {
  FailureOr<ArrayInfo> from = getInfo(source), to = getInfo(result);
  if (failed(from) || failed(to))
    return failure();
  // Copies of copies keep the name of what they are copies of.
  std::string name = baseNames.lookup(source);
  uint32_t send = builder.plan.actions_size();
  addAction(proto::SEND, name + ".send", from->slice,
            estimateMovement(from->bytes), op->getLoc())
      .set_peer(send + 1);
  builder.addRead(send, buffers.lookup(source));
  addAction(proto::RECV, name + ".recv", to->slice, estimateMovement(to->bytes),
            op->getLoc())
      .set_peer(send);
  return define(result, send + 1, name);
}

LogicalResult ProgramLowering::addFetches() {
  ReturnOp ret = program.getReturn();
  for (auto [index, value] : llvm::enumerate(ret.getResults())) {
    std::string name = program.getResultName(index);
    FailureOr<ArrayInfo> info = getInfo(value);
    if (failed(info))
      return failure();
    proto::Action &fetch =
        addAction(proto::FETCH, name + ".fetch", info->slice,
                  estimateMovement(info->bytes), ret.getLoc());
    fetch.set_interface(index);
    builder.addRead(lastAction(), buffers.lookup(value));
    proto::Result *entry = builder.plan.mutable_interface()->add_results();
    entry->set_name(name);
    entry->set_action(lastAction());
    entry->set_stepped(program.isResultStepped(index));
  }
  return success();
}

FailureOr<plan::ProgramOp> ProgramLowering::run() {
  if (failed(checkBody()))
    return failure();
  ReturnOp ret = program.getReturn();
  // A feed may not read what a feed writes in the same firing: an argument that
  // is carried into an argument goes through a copy.
  OpBuilder b(ret);
  for (BlockArgument argument : program.getBody().getArguments()) {
    std::optional<unsigned> from =
        program.getCarriedResult(argument.getArgNumber());
    if (!from)
      continue;
    Value value = ret.getResults()[*from];
    if (isa<BlockArgument>(value)) {
      value = CopyOp::create(b, ret.getLoc(), value);
      ret->setOperand(*from, value);
    }
    carriedResults.insert(value);
  }

  if (failed(addFeeds()))
    return failure();
  for (Operation &op : program.getBody().front()) {
    LogicalResult added =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](CallOp call) { return addCall(call); })
            .Case<TransferOp, CopyOp>([&](auto move) {
              return addMovement(move, move.getSource(), move.getResult());
            })
            .Default([](Operation *) { return success(); });
    if (failed(added))
      return failure();
  }
  if (failed(addFetches()))
    return failure();
  for (BlockArgument argument : program.getBody().getArguments()) {
    unsigned index = argument.getArgNumber();
    std::optional<unsigned> from = program.getCarriedResult(index);
    if (!from)
      continue;
    proto::Argument *entry =
        builder.plan.mutable_interface()->mutable_arguments(index);
    entry->set_carried(true);
    entry->set_from(*from);
    builder.addRead(entry->action(), buffers.lookup(ret.getResults()[*from]));
  }
  if (failed(builder.finish(program.getLoc())))
    return failure();
  return emit();
}

FailureOr<plan::ProgramOp> ProgramLowering::emit() {
  proto::Header *header = builder.plan.mutable_header();
  header->set_program(program.getSymName().str());
  if (FileLineColRange place = findSourcePlace(program.getLoc()))
    header->set_source(place.getFilename().str());
  header->set_producer("pathways " PATHWAYS_VERSION);
  OpBuilder b(program);
  FailureOr<plan::ProgramOp> result =
      plan::importTables(b, program.getLoc(), builder.plan, {});
  if (failed(result))
    return failure();
  Block &body = result->getBody().front();
  for (auto [entry, kernel] :
       llvm::zip(body.getOps<plan::KernelOp>(), kernels.getKernels())) {
    Block &code = entry.getBody().front();
    code.getOperations().splice(code.end(),
                                kernel->holder->getBody()->getOperations());
  }
  // Diagnostics of later stages point into the program.
  uint32_t action = 0, slice = 0;
  for (Operation &op : body) {
    if (plan::getTable(&op) == plan::Table::Action)
      op.setLoc(builder.getLoc(action++));
    else if (plan::getTable(&op) == plan::Table::Slice)
      op.setLoc(sliceOps[slice++].getLoc());
  }
  return result;
}

namespace {

struct LowerToPlan
    : public ::mlir::pathways::impl::LowerToPlanBase<LowerToPlan> {
  using LowerToPlanBase::LowerToPlanBase;

  void runOnOperation() override {
    ModuleOp root = getOperation();
    LowerToPlanOptions options;
    options.stepsInFlight = stepsInFlight;
    options.credits = credits;
    if (stepsInFlight < 1 || stepsInFlight > ::pathways::kMaxStepsInFlight) {
      root.emitError("expected between 1 and ")
          << ::pathways::kMaxStepsInFlight << " steps in flight, got "
          << stepsInFlight.getValue();
      return signalPassFailure();
    }
    SmallVector<ProgramOp> programs(root.getOps<ProgramOp>());
    if (programs.empty())
      return;
    PlacedModule module(root);
    SetVector<Operation *> dead;
    for (ProgramOp program : programs) {
      for (auto call : program.getBody().getOps<CallOp>())
        if (Operation *callee =
                module.symbols.lookup(call.getCalleeAttr().getAttr()))
          dead.insert(callee);
      if (failed(ProgramLowering(program, module, options).run()))
        return signalPassFailure();
      program.erase();
    }
    // What programs run, however indirectly, lives on in kernels; what other
    // functions call as well stays too.
    auto calls = [&](Operation *function, auto use) {
      function->walk([&](func::CallOp call) {
        if (Operation *callee =
                module.symbols.lookup(call.getCalleeAttr().getAttr()))
          use(callee);
      });
    };
    for (unsigned i = 0; i < dead.size(); ++i)
      calls(dead[i], [&](Operation *callee) { dead.insert(callee); });
    SetVector<Operation *> alive;
    for (auto function : root.getOps<func::FuncOp>())
      if (!dead.contains(function))
        alive.insert(function);
    for (unsigned i = 0; i < alive.size(); ++i)
      calls(alive[i], [&](Operation *callee) { alive.insert(callee); });
    for (Operation &op : llvm::make_early_inc_range(*root.getBody()))
      if (isa<SliceOp, BindOp>(op) ||
          (dead.contains(&op) && !alive.contains(&op)))
        op.erase();
  }
};

} // namespace
