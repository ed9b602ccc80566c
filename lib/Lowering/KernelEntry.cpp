//===- KernelEntry.cpp - Kernels as entries of tables ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEntry.h"

#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Support/ElementTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

void mlir::pathways::setKernel(const PlanKernel &kernel, proto::Kernel *out) {
  out->set_name(kernel.name);
  if (kernel.coordinates)
    out->set_coordinates(kernel.coordinates);
  for (func::FuncOp function : kernel.body.segments) {
    proto::Segment *segment = out->add_segments();
    segment->set_symbol(function.getSymName().str());
    auto add = [&](Type type, bool written) {
      auto tensor = cast<RankedTensorType>(type);
      proto::KernelOperand *operand = segment->add_operands();
      operand->set_element(getElementType(tensor.getElementType()));
      operand->mutable_shape()->Add(tensor.getShape().begin(),
                                    tensor.getShape().end());
      operand->set_written(written);
    };
    for (Type type : function.getArgumentTypes())
      add(type, /*written=*/false);
    for (Type type : function.getResultTypes())
      add(type, /*written=*/true);
  }
}

LogicalResult mlir::pathways::setCollective(Operation *op,
                                            proto::Collective *step) {
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
        step->set_shift(op.getShift().value_or(0));
        step->set_wrap(op.getWrap());
        for (int64_t rank : op.getPairs().value_or(ArrayRef<int64_t>()))
          step->add_pairs(rank);
        return success();
      })
      .Case([&](BroadcastOp op) {
        step->set_kind(proto::BROADCAST);
        step->set_root(op.getRoot());
        return success();
      })
      .Default([](Operation *op) {
        return op->emitOpError("is a collective that plans do not support");
      });
}

static RankedTensorType getTensorType(const SegmentedBody &body,
                                      const SegmentValue &value) {
  func::FuncOp function = *body.inlined;
  switch (value.kind) {
  case SegmentValue::Kind::Argument:
    return cast<RankedTensorType>(function.getArgumentTypes()[value.index]);
  case SegmentValue::Kind::Result:
    return cast<RankedTensorType>(function.getResultTypes()[value.index]);
  case SegmentValue::Kind::Temp:
    return body.temps[value.index];
  }
  llvm_unreachable("unknown kind of value");
}

FailureOr<std::optional<::pathways::Computation>>
mlir::pathways::getComputation(const PlanKernel &kernel) {
  proto::Kernel entry;
  setKernel(kernel, &entry);
  llvm::StringMap<const proto::Segment *> segments;
  for (const proto::Segment &segment : entry.segments())
    segments[segment.symbol()] = &segment;
  ::pathways::ComputationBuilder builder;
  for (const SegmentStep &step : kernel.body.steps) {
    if (!step.isCollective()) {
      builder.AddRun(*segments.lookup(step.segment));
      continue;
    }
    proto::Collective collective;
    if (failed(setCollective(step.collective, &collective)))
      return failure();
    RankedTensorType source = getTensorType(kernel.body, step.source);
    builder.AddCollective(collective,
                          source.getNumElements() *
                              getElementBytes(source.getElementType()));
  }
  return builder.Finish(kernel.name);
}
