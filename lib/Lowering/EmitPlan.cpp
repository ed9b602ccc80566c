//===- EmitPlan.cpp - Tables of a plan ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "KernelEntry.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Support/ElementTypes.h"
#include "pathways/Support/SourcePlace.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/derive_edges.h"
#include "runtime/plan/tables.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

static void setSlice(const ActionGraph::Slice &slice, proto::Slice *out) {
  SliceOp op = slice.slice;
  BindOp bind = slice.bind;
  ::pathways::SetMesh(toMesh(op.getMesh()), out);
  out->set_name(op.getSymName().str());
  out->set_kind(op.getDeviceKind().str());
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
  ArrayRef<int64_t> bases = bind.getMoreBases().value_or(ArrayRef<int64_t>());
  for (auto [i, island] :
       llvm::enumerate(bind.getMoreIslands().value_or(ArrayRef<int64_t>()))) {
    proto::IslandRun *run = out->mutable_binding()->add_more();
    run->set_island(island);
    if (!bases.empty())
      run->set_base(bases[i]);
  }
}

static proto::ActionKind getKind(ActionGraph::Kind kind) {
  switch (kind) {
  case ActionGraph::Kind::Gang:
    return proto::GANG;
  case ActionGraph::Kind::Send:
    return proto::SEND;
  case ActionGraph::Kind::Recv:
    return proto::RECV;
  case ActionGraph::Kind::Feed:
    return proto::FEED;
  case ActionGraph::Kind::Fetch:
    return proto::FETCH;
  }
  llvm_unreachable("unknown kind of action");
}

static LogicalResult setAction(const ActionGraph::Action &action,
                               proto::Action *out) {
  out->set_kind(getKind(action.kind));
  out->set_name(action.name);
  out->set_slice(action.slice);
  out->set_cost_ns(action.costNs);
  out->set_location(getSourcePlace(action.loc));
  out->mutable_operands()->Add(action.operands.begin(), action.operands.end());
  out->mutable_results()->Add(action.results.begin(), action.results.end());
  if (action.peer != ActionGraph::kNone)
    out->set_peer(action.peer);
  if (action.interface)
    out->set_interface(action.interface);
  if (action.loop != ActionGraph::kNone)
    out->set_loop(action.loop + 1);
  if (action.kernel)
    out->set_kernel(action.kernel->number);
  if (action.guard != ActionGraph::kNone) {
    out->mutable_guard()->set_buffer(action.guard);
    out->mutable_guard()->set_unless(action.unless);
  }
  for (auto [operand, result] : action.aliases) {
    proto::Alias *alias = out->add_aliases();
    alias->set_operand(operand);
    alias->set_result(result);
  }
  for (const ActionGraph::Step &step : action.steps) {
    if (step.collective) {
      proto::Collective *collective = out->add_steps()->mutable_collective();
      collective->set_source(step.buffers.front());
      collective->set_result(step.buffers.back());
      if (failed(setCollective(step.collective, collective)))
        return failure();
      continue;
    }
    proto::GangStep::Run *run = out->add_steps()->mutable_run();
    run->set_segment(step.segment);
    run->mutable_buffers()->Add(step.buffers.begin(), step.buffers.end());
  }
  return success();
}

/// Writes what `buffer` is in its loop.
static void setLoop(const ActionGraph::Buffer &buffer, proto::Buffer *out) {
  constexpr uint32_t kNone = ActionGraph::kNone;
  if (buffer.loop != kNone)
    out->set_loop(buffer.loop + 1);
  if (buffer.lastOf != kNone)
    out->set_last_of(buffer.lastOf + 1);
  if (buffer.initial != kNone) {
    out->set_initial(buffer.initial + 1);
    out->set_next(buffer.carried + 1);
  }
  if (buffer.loop == kNone || buffer.isName())
    return;
  out->set_iteration_slots(buffer.slots);
  if (buffer.slots == 1)
    return;
  int64_t stride = llvm::alignTo(buffer.bytes, ::pathways::kBufferAlignment);
  out->set_iteration_stride(buffer.isReversed ? -stride : stride);
}

static void setLoop(const ActionGraph::Loop &loop, proto::Loop *out) {
  out->set_name(loop.name);
  out->set_trips(loop.trips);
  for (const ActionGraph::OrderRun &run : loop.orders) {
    proto::OrderRun *order = out->add_orders();
    order->set_slice(run.slice);
    order->mutable_gangs()->Add(run.gangs.begin(), run.gangs.end());
    order->mutable_iterations()->Add(run.iterations.begin(),
                                     run.iterations.end());
    order->set_times(run.times);
    order->set_step(run.step);
  }
}

static void setInterface(const ActionGraph &graph, proto::Interface *out) {
  for (const ActionGraph::Argument &argument : graph.arguments) {
    proto::Argument *entry = out->add_arguments();
    entry->set_name(argument.name);
    entry->set_action(argument.action);
    entry->set_stepped(argument.isStepped);
    if (argument.from == ActionGraph::kNone)
      continue;
    entry->set_carried(true);
    entry->set_from(argument.from);
  }
  for (const ActionGraph::Result &result : graph.results) {
    proto::Result *entry = out->add_results();
    entry->set_name(result.name);
    entry->set_action(result.action);
    entry->set_stepped(result.isStepped);
    if (ExpectAttr check = result.expect) {
      proto::Expectation *expect = entry->mutable_expect();
      expect->set_kind(static_cast<proto::Expectation::Kind>(check.getKind()));
      expect->set_result(check.getResult());
      expect->set_min_ulp(check.getMinUlp());
      expect->set_max_ulp(check.getMaxUlp());
      if (FloatAttr tolerance = check.getTolerance())
        expect->set_tolerance(tolerance.getValueAsDouble());
    }
  }
}

/// Adds the user's control edges. The edge back bounds the number of open
/// firings; unlike a control edge it carries no poison.
static void addControls(const ActionGraph &graph, uint32_t stepsInFlight,
                        proto::Plan *plan) {
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> known;
  auto add = [&](uint32_t from, uint32_t to, uint32_t tokens,
                 proto::EdgeKind kind) {
    proto::Edge *edge = plan->add_edges();
    edge->set_from(from);
    edge->set_to(to);
    edge->set_tokens(tokens);
    edge->set_kind(kind);
    edge->set_relation(proto::ALL);
  };
  for (auto [from, to] : graph.controls) {
    if (!known.insert({from, to}).second)
      continue;
    add(from, to, 0, proto::CONTROL);
    add(to, from, stepsInFlight, proto::CREDIT);
  }
}

FailureOr<proto::Plan>
mlir::pathways::emitPlan(const ActionGraph &graph,
                         ArrayRef<std::unique_ptr<PlanKernel>> kernels,
                         ArrayRef<uint32_t> credits, const MemoryPlan &memory,
                         uint32_t stepsInFlight) {
  proto::Plan plan;
  proto::Header *header = plan.mutable_header();
  header->set_program(graph.name);
  if (FileLineColRange place = findSourcePlace(graph.loc))
    header->set_source(place.getFilename().str());
  header->set_producer("pathways " PATHWAYS_VERSION);
  header->set_fingerprint(graph.fingerprint);
  header->set_steps_in_flight(stepsInFlight);
  for (const ActionGraph::Slice &slice : graph.slices)
    setSlice(slice, plan.add_slices());
  for (ArrayType type : graph.layouts)
    *plan.add_layouts() = ::pathways::ToProto(
        toLayout(type), getElementType(type.getElementType()));
  for (const std::unique_ptr<PlanKernel> &kernel : kernels)
    setKernel(*kernel, plan.add_kernels());
  for (auto [number, buffer] : llvm::enumerate(graph.buffers)) {
    proto::Buffer *out = plan.add_buffers();
    out->set_name(buffer.name);
    out->set_slice(buffer.slice);
    out->set_layout(buffer.layout);
    out->set_bytes(buffer.bytes);
    out->set_credits(credits[number]);
    out->set_offset(memory.places[number].offset);
    out->set_slot_stride(memory.places[number].stride);
    setLoop(buffer, out);
    auto [first, last] = std::pair(buffer.writer, buffer.writer);
    if (!buffer.readers.empty()) {
      first = std::min(first, buffer.readers.front());
      last = std::max(buffer.isName() ? first : last, buffer.readers.back());
    }
    out->set_first_action(first);
    out->set_last_action(last);
  }
  for (const ActionGraph::Action &action : graph.actions)
    if (failed(setAction(action, plan.add_actions())))
      return failure();
  for (const ActionGraph::Loop &loop : graph.loops)
    setLoop(loop, plan.add_loops());
  // The edges of a plan with loops follow from its tables.
  if (graph.loops.empty())
    ::pathways::DeriveEdges(&plan);
  addControls(graph, stepsInFlight, &plan);
  setInterface(graph, plan.mutable_interface());
  return plan;
}
