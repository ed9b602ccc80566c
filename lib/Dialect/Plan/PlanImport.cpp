//===- PlanImport.cpp - The tables of a plan as a plan.program ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "pathways/Dialect/Plan/PlanTables.h"
#include "pathways/Support/ElementTypes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pathways::plan;
namespace proto = ::pathways::proto;

namespace {

class Importer {
public:
  Importer(OpBuilder &builder, Location loc, const proto::Plan &plan,
           ArrayRef<char> blobs)
      : b(builder), loc(loc), plan(plan), blobs(blobs) {}

  FailureOr<ProgramOp> run();

private:
  void addSlice(const proto::Slice &slice);
  LogicalResult addLayout(int number, const proto::Layout &layout);
  LogicalResult addKernel(const proto::Kernel &kernel);
  void addBuffer(const proto::Buffer &buffer);
  void addLoops();
  void addAction(const proto::Action &action);
  void addGang(const proto::Action &action);

  /// Builds an operation with the given properties. There are too many simple
  /// entries for a builder each.
  template <typename Op, typename Fill> Op add(Fill fill) {
    OperationState state(loc, Op::getOperationName());
    fill(state.getOrAddProperties<typename Op::Properties>());
    for (unsigned i = 0; i < Op::template hasTrait<OpTrait::OneRegion>(); ++i)
      state.addRegion()->emplaceBlock();
    return cast<Op>(b.create(state));
  }

  StringAttr str(const std::string &text) { return b.getStringAttr(text); }
  /// Attributes with their default value are absent.
  StringAttr textOrNull(const std::string &text) {
    return text.empty() ? StringAttr() : str(text);
  }
  IntegerAttr i64(uint64_t value) {
    return b.getI64IntegerAttr(static_cast<int64_t>(value));
  }
  IntegerAttr countOrNull(uint64_t value) {
    return value ? i64(value) : IntegerAttr();
  }
  UnitAttr flag(bool value) { return value ? b.getUnitAttr() : UnitAttr(); }
  template <typename Strings> ArrayAttr strings(const Strings &values) {
    SmallVector<Attribute> attrs;
    for (const std::string &value : values)
      attrs.push_back(str(value));
    return b.getArrayAttr(attrs);
  }
  template <typename Numbers> ArrayAttr bufferNames(const Numbers &numbers) {
    SmallVector<Attribute> names;
    for (uint32_t number : numbers)
      names.push_back(str(plan.buffers(number).name()));
    return b.getArrayAttr(names);
  }
  template <typename Properties>
  void setGuard(Properties &p, const proto::Action &action) {
    if (action.has_guard())
      (action.guard().unless() ? p.unless : p.guard) =
          bufferName(action.guard().buffer());
  }
  StringAttr bufferName(uint32_t number) {
    return str(plan.buffers(number).name());
  }
  // These take numbers plus one; 0 is none.
  StringAttr bufferOrNull(uint32_t number) {
    return number ? bufferName(number - 1) : nullptr;
  }
  StringAttr loopOrNull(uint32_t number) {
    return number ? str(plan.loops(number - 1).name()) : nullptr;
  }
  StringAttr sliceName(uint32_t number) {
    return str(plan.slices(number).name());
  }
  StringAttr actionName(uint32_t number) {
    return str(plan.actions(number).name());
  }
  template <typename Numbers> DenseI64ArrayAttr numbers(const Numbers &values) {
    return b.getDenseI64ArrayAttr(
        SmallVector<int64_t>(values.begin(), values.end()));
  }
  template <typename Entry> TypeAttr tensor(const Entry &entry) {
    Type element =
        mlir::pathways::getElementType(entry.element(), b.getContext());
    SmallVector<int64_t> shape(entry.shape().begin(), entry.shape().end());
    auto type = element
                    ? RankedTensorType::getChecked(
                          [&] { return mlir::emitError(loc); }, shape, element)
                    : RankedTensorType();
    return type ? TypeAttr::get(type) : TypeAttr();
  }

  OpBuilder &b;
  Location loc;
  const proto::Plan &plan;
  ArrayRef<char> blobs;
};

} // namespace

FailureOr<ProgramOp> Importer::run() {
  auto program = add<ProgramOp>([&](auto &p) {
    p.sym_name = str(plan.header().program());
    p.source = textOrNull(plan.header().source());
    p.producer = textOrNull(plan.header().producer());
    p.fingerprint = textOrNull(plan.header().fingerprint());
    p.in_flight = i64(plan.header().steps_in_flight());
  });
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.getBody().front());
  auto fill = [&]() -> LogicalResult {
    for (const proto::Slice &slice : plan.slices())
      addSlice(slice);
    for (auto [number, layout] : llvm::enumerate(plan.layouts()))
      if (failed(addLayout(number, layout)))
        return failure();
    for (const proto::Kernel &kernel : plan.kernels())
      if (failed(addKernel(kernel)))
        return failure();
    for (const proto::Buffer &buffer : plan.buffers())
      addBuffer(buffer);
    for (const proto::Action &action : plan.actions())
      addAction(action);
    for (const proto::Edge &edge : plan.edges())
      add<EdgeOp>([&](auto &p) {
        p.from = actionName(edge.from());
        p.to = actionName(edge.to());
        p.kind = EdgeKindAttr::get(b.getContext(),
                                   static_cast<EdgeKind>(edge.kind()));
        p.relation = RelationAttr::get(b.getContext(),
                                       static_cast<Relation>(edge.relation()));
        p.tokens = countOrNull(edge.tokens());
      });
    for (const proto::Argument &argument : plan.interface().arguments())
      add<ArgumentOp>([&](auto &p) {
        p.id = str(argument.name());
        p.action = actionName(argument.action());
        p.stepped = flag(argument.stepped());
        if (argument.carried())
          p.carried = str(plan.interface().results(argument.from()).name());
        // The rules of a plan say that the bytes are in the blobs.
        if (argument.has_constant() && !blobs.empty())
          p.constant =
              getCodeAttr(b.getContext(), argument.name(), 0,
                          blobs.slice(argument.constant().blob_offset(),
                                      argument.constant().blob_bytes()));
      });
    for (const proto::Result &result : plan.interface().results())
      add<ResultOp>([&](auto &p) {
        p.id = str(result.name());
        p.action = actionName(result.action());
        p.stepped = flag(result.stepped());
        if (!result.has_expect())
          return;
        const proto::Expectation &expect = result.expect();
        p.expect = ExpectKindAttr::get(b.getContext(),
                                       static_cast<ExpectKind>(expect.kind()));
        p.expected = str(plan.interface().results(expect.result()).name());
        p.min_ulp = countOrNull(expect.min_ulp());
        p.max_ulp = countOrNull(expect.max_ulp());
        if (expect.kind() == proto::Expectation::ALMOST_EQ)
          p.tolerance = b.getF64FloatAttr(expect.tolerance());
      });
    addLoops();
    return success();
  };
  if (succeeded(fill()))
    return program;
  program.erase();
  return failure();
}

void Importer::addSlice(const proto::Slice &slice) {
  add<SliceOp>([&](auto &p) {
    p.id = str(slice.name());
    SmallVector<Attribute> axes;
    SmallVector<int64_t> sizes;
    for (const proto::Axis &axis : slice.axes()) {
      axes.push_back(str(axis.name()));
      sizes.push_back(axis.size());
    }
    p.axes = b.getArrayAttr(axes);
    p.sizes = b.getDenseI64ArrayAttr(sizes);
    p.kind = textOrNull(slice.kind());
    if (!slice.has_binding())
      return;
    const proto::Binding &binding = slice.binding();
    p.island = i64(binding.island());
    if (binding.has_affine()) {
      p.base = countOrNull(binding.affine().base());
      p.strides = numbers(binding.affine().strides());
      p.span = countOrNull(binding.affine().span());
    } else if (binding.has_list()) {
      p.devices = numbers(binding.list().devices());
    }
    if (binding.more().empty())
      return;
    SmallVector<int64_t> islands, bases;
    for (const proto::IslandRun &run : binding.more()) {
      islands.push_back(run.island());
      bases.push_back(run.base());
    }
    p.more_islands = b.getDenseI64ArrayAttr(islands);
    if (binding.has_affine())
      p.more_bases = b.getDenseI64ArrayAttr(bases);
  });
}

LogicalResult Importer::addLayout(int number, const proto::Layout &layout) {
  TypeAttr type = tensor(layout);
  if (!type)
    return mlir::emitError(loc)
           << "layout " << number << " is not a tensor type";
  add<LayoutOp>([&](auto &p) {
    p.number = i64(number);
    p.type = type;
    SmallVector<Attribute> dims;
    for (const proto::DimAxes &axes : layout.dims())
      dims.push_back(strings(axes.axes()));
    p.dims = b.getArrayAttr(dims);
    if (layout.partial_kind() == proto::REDUCTION_UNSPECIFIED)
      return;
    p.reduction = ReductionAttr::get(
        b.getContext(), static_cast<Reduction>(layout.partial_kind()));
    p.partial = strings(layout.partial_axes());
  });
  return success();
}

LogicalResult Importer::addKernel(const proto::Kernel &kernel) {
  auto op = add<KernelOp>([&](auto &p) {
    p.id = str(kernel.name());
    p.coordinates = countOrNull(kernel.coordinates());
    p.hash = textOrNull(kernel.hash());
    if (kernel.rounding() != proto::ROUND_EACH_OP)
      p.rounding = RoundingAttr::get(b.getContext(),
                                     static_cast<Rounding>(kernel.rounding()));
  });
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getBody().front());
  llvm::StringSet<> symbols;
  for (const proto::Segment &segment : kernel.segments()) {
    if (!symbols.insert(segment.symbol()).second)
      return mlir::emitError(loc)
             << "kernel '" << kernel.name() << "' has two segments '"
             << segment.symbol() << "'";
    SmallVector<Attribute> types;
    SmallVector<int64_t> written;
    for (const proto::KernelOperand &operand : segment.operands()) {
      if (operand.written())
        written.push_back(types.size());
      TypeAttr type = tensor(operand);
      if (!type)
        return mlir::emitError(loc)
               << "an operand of segment '" << segment.symbol()
               << "' of kernel '" << kernel.name() << "' is not a tensor type";
      types.push_back(type);
    }
    add<SegmentOp>([&](auto &p) {
      p.id = str(segment.symbol());
      p.operand_types = b.getArrayAttr(types);
      p.written = b.getDenseI64ArrayAttr(written);
      p.scratch = countOrNull(segment.scratch_bytes());
      SmallVector<Attribute> locations;
      for (const proto::Location &location : segment.locations())
        locations.push_back(
            b.getStrArrayAttr({location.where(), location.message()}));
      if (!locations.empty())
        p.locations = b.getArrayAttr(locations);
    });
  }
  for (auto [number, object] : llvm::enumerate(kernel.objects())) {
    if (object.blob_offset() > blobs.size() ||
        object.blob_bytes() > blobs.size() - object.blob_offset())
      return mlir::emitError(loc)
             << "object " << number << " of kernel '" << kernel.name()
             << "' ends at byte " << object.blob_offset() << " + "
             << object.blob_bytes() << " of " << blobs.size();
    ArrayRef<char> code =
        blobs.slice(object.blob_offset(), object.blob_bytes());
    add<ObjectOp>([&](auto &p) {
      if (object.has_target()) {
        p.triple = str(object.target().triple());
        p.cpu = textOrNull(object.target().cpu());
        if (object.target().features_size())
          p.features = strings(object.target().features());
      }
      p.code = getCodeAttr(b.getContext(), kernel.name(), number, code);
    });
  }
  return success();
}

void Importer::addBuffer(const proto::Buffer &buffer) {
  add<BufferOp>([&](auto &p) {
    p.id = str(buffer.name());
    p.slice = sliceName(buffer.slice());
    p.layout = i64(buffer.layout());
    p.host = flag(buffer.memory() == proto::HOST);
    p.offset = i64(buffer.offset());
    p.bytes = i64(buffer.bytes());
    p.stride = i64(buffer.slot_stride());
    p.credits = i64(buffer.credits());
    p.loop = loopOrNull(buffer.loop());
    p.slots = countOrNull(buffer.iteration_slots());
    p.slot_stride = countOrNull(buffer.iteration_stride());
    p.initial = bufferOrNull(buffer.initial());
    p.next = bufferOrNull(buffer.next());
    p.last = bufferOrNull(buffer.last_of());
  });
}

void Importer::addLoops() {
  for (const proto::Loop &loop : plan.loops())
    add<LoopOp>([&](auto &p) {
      p.id = str(loop.name());
      p.trips = i64(loop.trips());
    });
  for (const proto::Loop &loop : plan.loops())
    for (const proto::OrderRun &run : loop.orders())
      add<OrderOp>([&](auto &p) {
        p.loop = str(loop.name());
        p.slice = sliceName(run.slice());
        SmallVector<Attribute> gangs;
        for (uint32_t gang : run.gangs())
          gangs.push_back(actionName(gang));
        p.gangs = b.getArrayAttr(gangs);
        p.iterations = numbers(run.iterations());
        p.times = i64(run.times());
        p.step = countOrNull(run.step());
      });
}

void Importer::addGang(const proto::Action &action) {
  bool runs = llvm::any_of(action.steps(), [](const proto::GangStep &step) {
    return step.has_run();
  });
  auto gang = add<GangOp>([&](auto &p) {
    p.id = str(action.name());
    p.slice = sliceName(action.slice());
    if (runs)
      p.kernel = str(plan.kernels(action.kernel()).name());
    p.reads = bufferNames(action.operands());
    p.writes = bufferNames(action.results());
    setGuard(p, action);
    p.cost = countOrNull(action.cost_ns());
    p.loop = loopOrNull(action.loop());
    p.where = textOrNull(action.location());
  });
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&gang.getBody().front());
  for (const proto::GangStep &step : action.steps()) {
    if (step.has_run()) {
      add<RunOp>([&](auto &p) {
        p.segment = str(plan.kernels(action.kernel())
                            .segments(step.run().segment())
                            .symbol());
        p.buffers = bufferNames(step.run().buffers());
      });
      continue;
    }
    const proto::Collective &collective = step.collective();
    add<CollectiveOp>([&](auto &p) {
      p.kind = CollectiveKindAttr::get(
          b.getContext(), static_cast<CollectiveKind>(collective.kind()));
      p.source = bufferName(collective.source());
      p.result = bufferName(collective.result());
      p.axes = strings(collective.axes());
      if (collective.reduction() != proto::REDUCTION_UNSPECIFIED)
        p.reduction = ReductionAttr::get(
            b.getContext(), static_cast<Reduction>(collective.reduction()));
      p.dim = countOrNull(collective.dim());
      p.concat = countOrNull(collective.concat_dim());
      p.shift = countOrNull(collective.shift());
      p.wrap = flag(collective.wrap());
      p.root = countOrNull(collective.root());
      if (!collective.pairs().empty())
        p.pairs = b.getDenseI64ArrayAttr(SmallVector<int64_t>(
            collective.pairs().begin(), collective.pairs().end()));
    });
  }
  for (const proto::Alias &alias : action.aliases())
    add<AliasOp>([&](auto &p) {
      p.operand = bufferName(alias.operand());
      p.result = bufferName(alias.result());
    });
}

void Importer::addAction(const proto::Action &action) {
  auto common = [&](auto &p) {
    p.id = str(action.name());
    p.slice = sliceName(action.slice());
    p.cost = countOrNull(action.cost_ns());
    p.where = textOrNull(action.location());
  };
  switch (action.kind()) {
  case proto::SEND:
    add<SendOp>([&](auto &p) {
      common(p);
      p.loop = loopOrNull(action.loop());
      p.operand = bufferName(action.operands(0));
      p.peer = actionName(action.peer());
      setGuard(p, action);
    });
    return;
  case proto::RECV:
    add<RecvOp>([&](auto &p) {
      common(p);
      p.loop = loopOrNull(action.loop());
      p.result = bufferName(action.results(0));
      p.peer = actionName(action.peer());
    });
    return;
  case proto::FEED:
    add<FeedOp>([&](auto &p) {
      common(p);
      p.argument = str(plan.interface().arguments(action.interface()).name());
      p.result = bufferName(action.results(0));
      if (action.operands_size())
        p.carried = bufferName(action.operands(0));
    });
    return;
  case proto::FETCH:
    add<FetchOp>([&](auto &p) {
      common(p);
      p.operand = bufferName(action.operands(0));
      p.output = str(plan.interface().results(action.interface()).name());
    });
    return;
  default:
    addGang(action);
  }
}

FailureOr<ProgramOp> mlir::pathways::plan::importTables(OpBuilder &builder,
                                                        Location loc,
                                                        const proto::Plan &plan,
                                                        ArrayRef<char> blobs) {
  return Importer(builder, loc, plan, blobs).run();
}
