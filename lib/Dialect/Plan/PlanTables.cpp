//===- PlanTables.cpp - Conversion of a plan.program to tables ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Plan/PlanTables.h"

#include "mlir/IR/Builders.h"
#include "pathways/Support/ElementTypes.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_hash.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::pathways::plan;
namespace proto = ::pathways::proto;

std::optional<Table> mlir::pathways::plan::getTable(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Table>>(op)
      .Case<SliceOp>([](auto) { return Table::Slice; })
      .Case<LayoutOp>([](auto) { return Table::Layout; })
      .Case<KernelOp>([](auto) { return Table::Kernel; })
      .Case<BufferOp>([](auto) { return Table::Buffer; })
      .Case<GangOp, SendOp, RecvOp, FeedOp, FetchOp>(
          [](auto) { return Table::Action; })
      .Case<EdgeOp>([](auto) { return Table::Edge; })
      .Case<ArgumentOp>([](auto) { return Table::Argument; })
      .Case<ResultOp>([](auto) { return Table::Result; })
      .Case<LoopOp>([](auto) { return Table::Loop; })
      .Case<OrderOp>([](auto) { return Table::Order; })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {

const char *const kTableNames[kNumTables] = {
    "slice", "layout",   "kernel", "buffer", "action",
    "edge",  "argument", "result", "loop",   "order"};

class Exporter {
public:
  explicit Exporter(ProgramOp program) : program(program) {}

  LogicalResult run();
  PlanTables tables;

private:
  /// Sorts entries into tables and numbers their names.
  LogicalResult index();

  LogicalResult add(SliceOp op);
  LogicalResult add(LayoutOp op);
  LogicalResult add(KernelOp op);
  LogicalResult add(BufferOp op);
  LogicalResult add(GangOp op);
  LogicalResult add(SendOp op);
  LogicalResult add(RecvOp op);
  LogicalResult add(FeedOp op);
  LogicalResult add(FetchOp op);
  LogicalResult add(EdgeOp op);
  LogicalResult add(ArgumentOp op);
  LogicalResult add(ResultOp op);
  LogicalResult add(LoopOp op);
  LogicalResult add(OrderOp op);
  /// Adds the guard of a gang or send, if it has one.
  LogicalResult addGuard(Operation *op, std::optional<StringRef> guard,
                         std::optional<StringRef> unless,
                         proto::Action *action);
  LogicalResult addStep(Operation &op, KernelOp kernel, proto::Action *action);

  /// Sets the loop that an action or a buffer is in, if it is in one.
  template <typename Entry>
  LogicalResult loop(Operation *op, std::optional<StringRef> name,
                     Entry *entry) {
    return name ? reference(op, Table::Loop, *name,
                            [&](uint32_t n) { entry->set_loop(n + 1); })
                : success();
  }

  /// Adds an action with the fields that all actions have. Null after a
  /// diagnostic.
  proto::Action *addAction(Operation *op, proto::ActionKind kind, StringRef id,
                           StringRef slice, uint64_t cost, StringRef where);

  /// Returns the position of `name` in `table`.
  FailureOr<uint32_t> find(Operation *op, Table table, StringRef name) {
    auto &names = numbers[static_cast<unsigned>(table)];
    auto it = names.find(name);
    if (it != names.end())
      return it->second;
    return op->emitOpError("refers to ")
           << kTableNames[static_cast<unsigned>(table)] << " '" << name
           << "', which is not in the plan";
  }
  template <typename Setter>
  LogicalResult reference(Operation *op, Table table, StringRef name,
                          Setter set) {
    FailureOr<uint32_t> number = find(op, table, name);
    if (failed(number))
      return failure();
    set(*number);
    return success();
  }
  template <typename Setter>
  LogicalResult references(Operation *op, ArrayAttr names, Setter add) {
    for (StringAttr name : names.getAsRange<StringAttr>())
      if (failed(reference(op, Table::Buffer, name.getValue(), add)))
        return failure();
    return success();
  }
  /// Sets a number; fails unless it fits into 32 bits.
  template <typename Setter>
  LogicalResult number(Operation *op, StringRef what, int64_t value,
                       Setter set) {
    if (value < 0 || value > std::numeric_limits<uint32_t>::max())
      return op->emitOpError("expected '")
             << what << "' between 0 and 4294967295, got " << value;
    set(static_cast<uint32_t>(value));
    return success();
  }
  /// Sets a text; fails unless it is UTF-8, as the messages require.
  template <typename Setter>
  LogicalResult text(Operation *op, StringRef what, StringRef value,
                     Setter set) {
    const auto *begin = reinterpret_cast<const llvm::UTF8 *>(value.begin());
    if (!llvm::isLegalUTF8String(
            &begin, reinterpret_cast<const llvm::UTF8 *>(value.end())))
      return op->emitOpError("expected UTF-8 as ") << what;
    set(value.str());
    return success();
  }
  LogicalResult name(Operation *op, StringRef value, std::string *field) {
    if (value.empty())
      return op->emitOpError("expected a name that is not empty");
    return text(op, "name", value,
                [&](std::string s) { *field = std::move(s); });
  }
  LogicalResult texts(Operation *op, StringRef what, ArrayAttr values,
                      google::protobuf::RepeatedPtrField<std::string> *field) {
    for (StringAttr value : values.getAsRange<StringAttr>())
      if (failed(text(op, what, value.getValue(),
                      [&](std::string s) { *field->Add() = std::move(s); })))
        return failure();
    return success();
  }
  LogicalResult elementType(Operation *op, Type type,
                            proto::ElementType *field) {
    *field = mlir::pathways::getElementType(type);
    if (*field == proto::ELEMENT_TYPE_UNSPECIFIED)
      return op->emitOpError("expected an element type of ")
             << mlir::pathways::kArrayElementNames << ", got " << type;
    return success();
  }

  /// Returns the offset of `data`, which takes `bytes` bytes. Data with equal
  /// `content`, which is the data or its hash, has equal offsets; it is empty
  /// if the data is missing.
  uint64_t addBlob(ArrayRef<char> data, uint64_t bytes, StringRef content);

  ProgramOp program;
  std::array<llvm::StringMap<uint32_t>, kNumTables> numbers;
  llvm::StringMap<uint64_t> blobOffsets; // by content
};

} // namespace

LogicalResult Exporter::index() {
  Operation *previous = nullptr;
  for (Operation &op : program.getBody().front()) {
    std::optional<Table> table = getTable(&op);
    if (!table)
      return op.emitOpError("is not an entry of a plan's tables");
    if (previous && *getTable(previous) > *table) {
      InFlightDiagnostic error =
          op.emitOpError("is out of order; expected slices, layouts, kernels, "
                         "buffers, actions, edges, arguments, results, loops, "
                         "orders");
      error.attachNote(previous->getLoc()) << "comes before it";
      return error;
    }
    previous = &op;
    auto &entries = tables.entries[static_cast<unsigned>(*table)];
    // Duplicate names are for the rules to diagnose.
    if (auto id = op.getAttrOfType<StringAttr>("id"))
      numbers[static_cast<unsigned>(*table)].try_emplace(id.getValue(),
                                                         entries.size());
    entries.push_back(&op);
  }
  return success();
}

LogicalResult Exporter::run() {
  proto::Header *header = tables.plan.mutable_header();
  if (failed(index()) ||
      failed(name(program, program.getSymName(), header->mutable_program())) ||
      failed(text(program, "source", program.getSource(),
                  [&](std::string s) { header->set_source(std::move(s)); })) ||
      failed(
          text(program, "producer", program.getProducer(),
               [&](std::string s) { header->set_producer(std::move(s)); })) ||
      failed(text(
          program, "fingerprint", program.getFingerprint(),
          [&](std::string s) { header->set_fingerprint(std::move(s)); })) ||
      failed(number(program, "in_flight", program.getInFlight(),
                    [&](uint32_t n) { header->set_steps_in_flight(n); })))
    return failure();
  for (ArrayRef<Operation *> entries : tables.entries) {
    for (Operation *op : entries) {
      LogicalResult added =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<SliceOp, LayoutOp, KernelOp, BufferOp, GangOp, SendOp,
                    RecvOp, FeedOp, FetchOp, EdgeOp, ArgumentOp, ResultOp,
                    LoopOp, OrderOp>([&](auto entry) { return add(entry); })
              .Default([](Operation *) { return failure(); });
      if (failed(added))
        return failure();
    }
  }
  // The first and last action of a buffer follow from the actions.
  std::vector<bool> touched(tables.plan.buffers_size());
  for (auto [position, action] : llvm::enumerate(tables.plan.actions())) {
    auto touch = [&](uint32_t number) {
      proto::Buffer *buffer = tables.plan.mutable_buffers(number);
      if (!touched[number])
        buffer->set_first_action(position);
      touched[number] = true;
      buffer->set_last_action(position);
    };
    llvm::for_each(action.operands(), touch);
    llvm::for_each(action.results(), touch);
  }
  return success();
}

LogicalResult Exporter::add(SliceOp op) {
  proto::Slice *slice = tables.plan.add_slices();
  if (failed(name(op, op.getId(), slice->mutable_name())) ||
      failed(text(op, "kind", op.getKind(),
                  [&](std::string s) { slice->set_kind(std::move(s)); })))
    return failure();
  for (auto [axis, size] :
       llvm::zip(op.getAxes().getAsRange<StringAttr>(), op.getSizes())) {
    proto::Axis *entry = slice->add_axes();
    entry->set_size(size);
    if (failed(text(op, "axis", axis.getValue(),
                    [&](std::string s) { entry->set_name(std::move(s)); })))
      return failure();
  }
  if (!op.getIsland())
    return success();
  proto::Binding *binding = slice->mutable_binding();
  if (auto strides = op.getStrides()) {
    proto::AffineDevices *affine = binding->mutable_affine();
    affine->set_base(op.getBase());
    affine->set_span(op.getSpan());
    affine->mutable_strides()->Add(strides->begin(), strides->end());
  } else if (auto devices = op.getDevices()) {
    binding->mutable_list()->mutable_devices()->Add(devices->begin(),
                                                    devices->end());
  }
  ArrayRef<int64_t> bases = op.getMoreBases().value_or(ArrayRef<int64_t>());
  for (auto [i, island] :
       llvm::enumerate(op.getMoreIslands().value_or(ArrayRef<int64_t>()))) {
    proto::IslandRun *run = binding->add_more();
    if (!bases.empty())
      run->set_base(bases[i]);
    if (failed(number(op, "island", island,
                      [&](uint32_t n) { run->set_island(n); })))
      return failure();
  }
  return number(op, "island", *op.getIsland(),
                [&](uint32_t n) { binding->set_island(n); });
}

LogicalResult Exporter::add(LayoutOp op) {
  if (op.getNumber() !=
      static_cast<uint64_t>(tables.plan.layouts_size())) // (C1)
    return op.emitOpError("expected number ")
           << tables.plan.layouts_size() << ", got " << op.getNumber();
  proto::Layout *layout = tables.plan.add_layouts();
  auto type = cast<RankedTensorType>(op.getType());
  proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
  if (failed(elementType(op, type.getElementType(), &element)))
    return failure();
  layout->set_element(element);
  layout->mutable_shape()->Add(type.getShape().begin(), type.getShape().end());
  for (ArrayAttr axes : op.getDims().getAsRange<ArrayAttr>())
    if (failed(texts(op, "axis", axes, layout->add_dims()->mutable_axes())))
      return failure();
  if (op.getReduction())
    layout->set_partial_kind(
        static_cast<proto::ReductionKind>(*op.getReduction()));
  return texts(op, "axis", op.getPartial(), layout->mutable_partial_axes());
}

LogicalResult Exporter::add(KernelOp op) {
  proto::Kernel *kernel = tables.plan.add_kernels();
  if (failed(name(op, op.getId(), kernel->mutable_name())) ||
      failed(text(op, "hash", op.getHash(),
                  [&](std::string s) { kernel->set_hash(std::move(s)); })) ||
      failed(number(op, "coordinates", op.getCoordinates(),
                    [&](uint32_t n) { kernel->set_coordinates(n); })))
    return failure();
  if (op.getRounding())
    kernel->set_rounding(static_cast<proto::Rounding>(*op.getRounding()));
  for (SegmentOp op : op.getBody().getOps<SegmentOp>()) {
    proto::Segment *segment = kernel->add_segments();
    if (failed(name(op, op.getId(), segment->mutable_symbol())))
      return failure();
    segment->set_scratch_bytes(op.getScratch());
    for (Type type : op.getOperandTypes().getAsValueRange<TypeAttr>()) {
      auto tensor = cast<RankedTensorType>(type); // (C2) of the segment
      proto::KernelOperand *operand = segment->add_operands();
      proto::ElementType element = proto::ELEMENT_TYPE_UNSPECIFIED;
      if (failed(elementType(op, tensor.getElementType(), &element)))
        return failure();
      operand->set_element(element);
      operand->mutable_shape()->Add(tensor.getShape().begin(),
                                    tensor.getShape().end());
    }
    for (int64_t position : op.getWritten())
      segment->mutable_operands(position)->set_written(true);
    for (ArrayAttr pair : op.getLocations().getAsRange<ArrayAttr>()) {
      proto::Location *location = segment->add_locations();
      if (failed(text(
              op, "location", cast<StringAttr>(pair[0]).getValue(),
              [&](std::string s) { location->set_where(std::move(s)); })) ||
          failed(text(
              op, "message", cast<StringAttr>(pair[1]).getValue(),
              [&](std::string s) { location->set_message(std::move(s)); })))
        return failure();
    }
  }
  for (ObjectOp op : op.getBody().getOps<ObjectOp>()) {
    proto::KernelObject *object = kernel->add_objects();
    if (op.getTriple()) {
      proto::Target *target = object->mutable_target();
      if (failed(
              text(op, "target", *op.getTriple(),
                   [&](std::string s) { target->set_triple(std::move(s)); })) ||
          failed(text(op, "cpu", op.getCpu(),
                      [&](std::string s) { target->set_cpu(std::move(s)); })) ||
          failed(texts(op, "feature", op.getFeatures(),
                       target->mutable_features())))
        return failure();
    }
    uint64_t bytes = cast<ShapedType>(op.getCode().getType()).getNumElements();
    ArrayRef<char> code = op.getBytes();
    StringRef content = code.size() == bytes
                            ? StringRef(code.data(), code.size())
                            : StringRef();
    object->set_blob_offset(addBlob(code, bytes, content));
    object->set_blob_bytes(bytes);
  }
  tables.hasCode &= op.hasCode();
  return success();
}

LogicalResult Exporter::add(BufferOp op) {
  proto::Buffer *buffer = tables.plan.add_buffers();
  if (failed(name(op, op.getId(), buffer->mutable_name())) ||
      failed(reference(op, Table::Slice, op.getSlice(),
                       [&](uint32_t n) { buffer->set_slice(n); })) ||
      failed(number(op, "layout", op.getLayout(),
                    [&](uint32_t n) { buffer->set_layout(n); })) ||
      failed(number(op, "credits", op.getCredits(),
                    [&](uint32_t n) { buffer->set_credits(n); })))
    return failure();
  if (op.getHost())
    buffer->set_memory(proto::HOST);
  buffer->set_offset(op.getOffset());
  buffer->set_bytes(op.getBytes());
  buffer->set_slot_stride(op.getStride());
  buffer->set_iteration_stride(op.getSlotStride());
  auto named = [&](std::optional<StringRef> name, auto set) {
    return !name || succeeded(reference(op, Table::Buffer, *name,
                                        [&](uint32_t n) { set(n + 1); }));
  };
  return success(
      succeeded(loop(op, op.getLoop(), buffer)) &&
      succeeded(number(op, "slots", op.getSlots(),
                       [&](uint32_t n) { buffer->set_iteration_slots(n); })) &&
      named(op.getInitial(), [&](uint32_t n) { buffer->set_initial(n); }) &&
      named(op.getNext(), [&](uint32_t n) { buffer->set_next(n); }) &&
      named(op.getLast(), [&](uint32_t n) { buffer->set_last_of(n); }));
}

proto::Action *Exporter::addAction(Operation *op, proto::ActionKind kind,
                                   StringRef id, StringRef slice, uint64_t cost,
                                   StringRef where) {
  proto::Action *action = tables.plan.add_actions();
  action->set_kind(kind);
  action->set_cost_ns(cost);
  if (failed(name(op, id, action->mutable_name())) ||
      failed(reference(op, Table::Slice, slice,
                       [&](uint32_t n) { action->set_slice(n); })) ||
      failed(text(op, "location", where,
                  [&](std::string s) { action->set_location(std::move(s)); })))
    return nullptr;
  return action;
}

LogicalResult Exporter::addGuard(Operation *op, std::optional<StringRef> guard,
                                 std::optional<StringRef> unless,
                                 proto::Action *action) {
  if (!guard && !unless)
    return success();
  if (guard && unless)
    return op->emitOpError("has two guards, '")
           << *guard << "' and '" << *unless << "'; expected one";
  return reference(
      op, Table::Buffer, guard ? *guard : *unless, [&](uint32_t n) {
        // The operand of a send is first; a gang lists its guard.
        if (action->kind() == proto::SEND && action->operands(0) != n)
          action->add_operands(n);
        action->mutable_guard()->set_buffer(n);
        action->mutable_guard()->set_unless(unless.has_value());
      });
}

LogicalResult Exporter::add(GangOp op) {
  proto::Action *action = addAction(op, proto::GANG, op.getId(), op.getSlice(),
                                    op.getCost(), op.getWhere());
  if (!action ||
      failed(references(op, op.getReads(),
                        [&](uint32_t n) { action->add_operands(n); })) ||
      failed(references(op, op.getWrites(),
                        [&](uint32_t n) { action->add_results(n); })) ||
      failed(loop(op, op.getLoop(), action)) ||
      failed(addGuard(op, op.getGuard(), op.getUnless(), action)))
    return failure();
  KernelOp kernel;
  if (op.getKernel()) {
    if (failed(reference(op, Table::Kernel, *op.getKernel(),
                         [&](uint32_t n) { action->set_kernel(n); })))
      return failure();
    kernel = cast<KernelOp>(tables[Table::Kernel][action->kernel()]);
  }
  for (Operation &step : op.getBody().front())
    if (failed(addStep(step, kernel, action)))
      return failure();
  return success();
}

LogicalResult Exporter::addStep(Operation &op, KernelOp kernel,
                                proto::Action *action) {
  if (auto run = dyn_cast<RunOp>(op)) {
    if (!kernel)
      return run.emitOpError("runs segment '")
             << run.getSegment() << "' of a gang without a kernel";
    const proto::Kernel &entry = tables.plan.kernels(action->kernel());
    auto segment =
        llvm::find_if(entry.segments(), [&](const proto::Segment &s) {
          return s.symbol() == run.getSegment();
        });
    if (segment == entry.segments().end()) {
      InFlightDiagnostic error = run.emitOpError("refers to segment '")
                                 << run.getSegment() << "', which kernel '"
                                 << kernel.getId() << "' does not have";
      error.attachNote(kernel.getLoc()) << "kernel is here";
      return error;
    }
    proto::GangStep::Run *step = action->add_steps()->mutable_run();
    step->set_segment(segment - entry.segments().begin());
    return references(run, run.getBuffers(),
                      [&](uint32_t n) { step->add_buffers(n); });
  }
  if (auto collective = dyn_cast<CollectiveOp>(op)) {
    proto::Collective *step = action->add_steps()->mutable_collective();
    step->set_kind(static_cast<proto::CollectiveKind>(collective.getKind()));
    if (collective.getReduction())
      step->set_reduction(
          static_cast<proto::ReductionKind>(*collective.getReduction()));
    step->set_dim(collective.getDim());
    step->set_concat_dim(collective.getConcat());
    step->set_shift(collective.getShift());
    step->set_wrap(collective.getWrap());
    step->set_root(collective.getRoot());
    for (int64_t rank : collective.getPairs().value_or(ArrayRef<int64_t>()))
      step->add_pairs(rank);
    return success(
        succeeded(texts(collective, "axis", collective.getAxes(),
                        step->mutable_axes())) &&
        succeeded(reference(collective, Table::Buffer, collective.getSource(),
                            [&](uint32_t n) { step->set_source(n); })) &&
        succeeded(reference(collective, Table::Buffer, collective.getResult(),
                            [&](uint32_t n) { step->set_result(n); })));
  }
  if (auto alias = dyn_cast<AliasOp>(op)) {
    proto::Alias *entry = action->add_aliases();
    return success(
        succeeded(reference(alias, Table::Buffer, alias.getOperand(),
                            [&](uint32_t n) { entry->set_operand(n); })) &&
        succeeded(reference(alias, Table::Buffer, alias.getResult(),
                            [&](uint32_t n) { entry->set_result(n); })));
  }
  return op.emitOpError("is not a step of a gang; expected plan.run, "
                        "plan.collective or plan.alias");
}

LogicalResult Exporter::add(SendOp op) {
  proto::Action *action = addAction(op, proto::SEND, op.getId(), op.getSlice(),
                                    op.getCost(), op.getWhere());
  return success(
      action && succeeded(loop(op, op.getLoop(), action)) &&
      succeeded(reference(op, Table::Buffer, op.getOperand(),
                          [&](uint32_t n) { action->add_operands(n); })) &&
      succeeded(reference(op, Table::Action, op.getPeer(),
                          [&](uint32_t n) { action->set_peer(n); })) &&
      succeeded(addGuard(op, op.getGuard(), op.getUnless(), action)));
}

LogicalResult Exporter::add(RecvOp op) {
  proto::Action *action = addAction(op, proto::RECV, op.getId(), op.getSlice(),
                                    op.getCost(), op.getWhere());
  return success(
      action && succeeded(loop(op, op.getLoop(), action)) &&
      succeeded(reference(op, Table::Buffer, op.getResult(),
                          [&](uint32_t n) { action->add_results(n); })) &&
      succeeded(reference(op, Table::Action, op.getPeer(),
                          [&](uint32_t n) { action->set_peer(n); })));
}

LogicalResult Exporter::add(FeedOp op) {
  proto::Action *action = addAction(op, proto::FEED, op.getId(), op.getSlice(),
                                    op.getCost(), op.getWhere());
  if (!action ||
      failed(reference(op, Table::Argument, op.getArgument(),
                       [&](uint32_t n) { action->set_interface(n); })) ||
      failed(reference(op, Table::Buffer, op.getResult(),
                       [&](uint32_t n) { action->add_results(n); })))
    return failure();
  if (!op.getCarried())
    return success();
  return reference(op, Table::Buffer, *op.getCarried(),
                   [&](uint32_t n) { action->add_operands(n); });
}

LogicalResult Exporter::add(FetchOp op) {
  proto::Action *action = addAction(op, proto::FETCH, op.getId(), op.getSlice(),
                                    op.getCost(), op.getWhere());
  return success(
      action &&
      succeeded(reference(op, Table::Result, op.getOutput(),
                          [&](uint32_t n) { action->set_interface(n); })) &&
      succeeded(reference(op, Table::Buffer, op.getOperand(),
                          [&](uint32_t n) { action->add_operands(n); })));
}

LogicalResult Exporter::add(EdgeOp op) {
  proto::Edge *edge = tables.plan.add_edges();
  edge->set_kind(static_cast<proto::EdgeKind>(op.getKind()));
  edge->set_relation(static_cast<proto::Relation>(op.getRelation()));
  return success(succeeded(reference(op, Table::Action, op.getFrom(),
                                     [&](uint32_t n) { edge->set_from(n); })) &&
                 succeeded(reference(op, Table::Action, op.getTo(),
                                     [&](uint32_t n) { edge->set_to(n); })) &&
                 succeeded(number(op, "tokens", op.getTokens(),
                                  [&](uint32_t n) { edge->set_tokens(n); })));
}

uint64_t Exporter::addBlob(ArrayRef<char> data, uint64_t bytes,
                           StringRef content) {
  uint64_t offset = llvm::alignTo(tables.blobBytes, ::pathways::kBlobAlignment);
  if (!content.empty()) {
    auto [known, isNew] = blobOffsets.try_emplace(content, offset);
    if (!isNew)
      return known->second;
  }
  tables.blobs.emplace_back(offset, data);
  tables.blobBytes = offset + bytes;
  return offset;
}

LogicalResult Exporter::add(ArgumentOp op) {
  proto::Argument *argument = tables.plan.mutable_interface()->add_arguments();
  argument->set_stepped(op.getStepped());
  argument->set_carried(op.getCarried().has_value());
  if (failed(name(op, op.getId(), argument->mutable_name())) ||
      failed(reference(op, Table::Action, op.getAction(),
                       [&](uint32_t n) { argument->set_action(n); })))
    return failure();
  if (op.getConstant()) {
    ArrayRef<char> data = op.getConstantBytes();
    uint64_t bytes = op.getConstant()->getNumElements();
    if (data.size() != bytes)
      return op.emitOpError("has a constant without bytes; is its resource "
                            "missing from the text?");
    const ::pathways::PlanHash hash =
        ::pathways::HashOf({data.data(), data.size()});
    proto::Constant *constant = argument->mutable_constant();
    StringRef name(hash.view().data(), hash.view().size());
    constant->set_blob_offset(addBlob(data, bytes, name));
    constant->set_blob_bytes(bytes);
    constant->set_sha256(name.str());
  }
  if (!op.getCarried())
    return success();
  return reference(op, Table::Result, *op.getCarried(),
                   [&](uint32_t n) { argument->set_from(n); });
}

LogicalResult Exporter::add(ResultOp op) {
  proto::Result *result = tables.plan.mutable_interface()->add_results();
  result->set_stepped(op.getStepped());
  if (failed(name(op, op.getId(), result->mutable_name())) ||
      failed(reference(op, Table::Action, op.getAction(),
                       [&](uint32_t n) { result->set_action(n); })))
    return failure();
  if (!op.getExpect()) {
    if (op.getMinUlp() || op.getMaxUlp() || op.getTolerance())
      return op.emitOpError("has a tolerance, but expects no value");
    return success();
  }
  proto::Expectation *expect = result->mutable_expect();
  expect->set_kind(static_cast<proto::Expectation::Kind>(*op.getExpect()));
  expect->set_min_ulp(op.getMinUlp());
  expect->set_max_ulp(op.getMaxUlp());
  if (op.getTolerance())
    expect->set_tolerance(op.getTolerance()->convertToDouble());
  return reference(op, Table::Result, *op.getExpected(),
                   [&](uint32_t n) { expect->set_result(n); });
}

LogicalResult Exporter::add(LoopOp op) {
  proto::Loop *loop = tables.plan.add_loops();
  return success(succeeded(name(op, op.getId(), loop->mutable_name())) &&
                 succeeded(number(op, "trips", op.getTrips(),
                                  [&](uint32_t n) { loop->set_trips(n); })));
}

LogicalResult Exporter::add(OrderOp op) {
  FailureOr<uint32_t> loop = find(op, Table::Loop, op.getLoop());
  if (failed(loop))
    return failure();
  proto::OrderRun *run = tables.plan.mutable_loops(*loop)->add_orders();
  for (StringAttr gang : op.getGangs().getAsRange<StringAttr>())
    if (failed(reference(op, Table::Action, gang.getValue(),
                         [&](uint32_t n) { run->add_gangs(n); })))
      return failure();
  for (int64_t iteration : op.getIterations())
    if (failed(number(op, "iterations", iteration,
                      [&](uint32_t n) { run->add_iterations(n); })))
      return failure();
  return success(succeeded(reference(op, Table::Slice, op.getSlice(),
                                     [&](uint32_t n) { run->set_slice(n); })) &&
                 succeeded(number(op, "times", op.getTimes(),
                                  [&](uint32_t n) { run->set_times(n); })) &&
                 succeeded(number(op, "step", op.getStep(),
                                  [&](uint32_t n) { run->set_step(n); })));
}

FailureOr<PlanTables> mlir::pathways::plan::exportTables(ProgramOp program) {
  Exporter exporter(program);
  if (failed(exporter.run()))
    return failure();
  return std::move(exporter.tables);
}
