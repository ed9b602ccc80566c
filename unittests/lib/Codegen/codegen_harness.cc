//===- codegen_harness.cc -------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Support/ElementTypes.h"
#include "gtest/gtest.h"

using namespace kernel_test;

Kernel::Kernel() {
  mlir::pathways::loadKernelDialects(&ctx);
  ctx.loadDialect<mlir::pathways::PathwaysDialect>();
  ctx.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
    errorText += diag.str() + "\n";
    for (mlir::Diagnostic &note : diag.getNotes())
      errorText += "note: " + note.str() + "\n";
    return mlir::success();
  });
}

Kernel::~Kernel() = default;

bool Kernel::parse(const std::string &text) {
  moduleRef = mlir::parseSourceString<mlir::ModuleOp>(text, &ctx, "test.mlir");
  return static_cast<bool>(moduleRef);
}

bool Kernel::compile(const std::string &text,
                     const std::vector<pathways::proto::Target> &targets) {
  if (!parse(text))
    return false;
  return compile(llvm::to_vector(moduleRef->getOps<mlir::func::FuncOp>()),
                 targets);
}

bool Kernel::compile(llvm::ArrayRef<mlir::func::FuncOp> functions,
                     const std::vector<pathways::proto::Target> &targets) {
  auto result = mlir::pathways::compileKernel(functions, targets,
                                              /*cache=*/nullptr, rounding);
  if (failed(result))
    return false;
  compiled = std::move(*result);
  kernel.Clear();
  kernel.set_name("test");
  kernel.set_hash(compiled.hash);
  kernel.set_rounding(static_cast<pathways::proto::Rounding>(rounding));
  for (auto [i, segment] : llvm::enumerate(compiled.segments)) {
    auto *out = kernel.add_segments();
    out->set_symbol(segment.symbol);
    out->set_scratch_bytes(segment.scratchBytes);
    for (const auto &location : segment.locations) {
      auto *place = out->add_locations();
      place->set_where(location.where);
      place->set_message(location.message);
    }
    mlir::func::FuncOp function = functions[i];
    auto add = [&](mlir::Type type, bool written) {
      auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      auto *operand = out->add_operands();
      operand->set_element(
          mlir::pathways::getElementType(tensor.getElementType()));
      operand->set_written(written);
      for (int64_t size : tensor.getShape())
        operand->add_shape(size);
    };
    for (mlir::Type type : function.getArgumentTypes())
      add(type, false);
    for (mlir::Type type : function.getResultTypes())
      add(type, true);
  }
  blobBytes.clear();
  for (auto [target, object] :
       llvm::zip_equal(compiled.targets, compiled.objects)) {
    blobBytes.resize((blobBytes.size() + 63) / 64 * 64);
    auto *out = kernel.add_objects();
    *out->mutable_target() = target;
    out->set_blob_offset(blobBytes.size());
    out->set_blob_bytes(object.size());
    blobBytes += object;
  }
  return true;
}

bool Kernel::load(const pathways::proto::Target &wanted) {
  auto result = pathways::KernelLibrary::Load(
      kernel,
      absl::MakeConstSpan(reinterpret_cast<const uint8_t *>(blobBytes.data()),
                          blobBytes.size()),
      wanted);
  if (!result.ok()) {
    errorText += std::string(result.status().message()) + "\n";
    return false;
  }
  library = *result;
  return true;
}

int32_t Kernel::run(unsigned segment, std::vector<Buffer *> buffers,
                    std::vector<int32_t> coordinates, uint64_t step) {
  if (!library && !load()) {
    ADD_FAILURE() << errorText;
    return -1;
  }
  std::vector<void *> pointers;
  for (Buffer *buffer : buffers)
    pointers.push_back(buffer->get());
  // Scratch memory starts with arbitrary contents.
  Buffer scratch(compiled.segments[segment].scratchBytes, 0xFF);
  int32_t status = library->Lookup(segment)(pointers.data(), coordinates.data(),
                                            scratch.get(), step);
  for (Buffer *buffer : buffers)
    EXPECT_TRUE(buffer->isIntact());
  EXPECT_TRUE(scratch.isIntact());
  return status;
}
