//===- turned_test.cc - Number of transposed operands ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions on buffers in which a loop computes rows of C = A B^T, and the last
// rows are computed after it.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/CodegenInternal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "pathways/Codegen/Codegen.h"
#include "gtest/gtest.h"
#include <string>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Returns the rows from `first` on of the product with %`right`.
std::string rowsFrom(const std::string &first, const std::string &right) {
  const std::string rows = "strided<[64, 1], offset: ?>",
                    out = "strided<[96, 1], offset: ?>";
  return "%at" + right + " = memref.subview %a[" + first +
         ", 0] [2, 64] [1, 1] : memref<8x64xf32> to memref<2x64xf32, " + rows +
         ">\n%to" + right + " = memref.subview %c[" + first +
         ", 0] [2, 96] [1, 1] : memref<8x96xf32> to memref<2x96xf32, " + out +
         R"(>
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                       affine_map<(m, n, k) -> (n, k)>,
                                       affine_map<(m, n, k) -> (m, n)>],
                      iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%at)" +
         right + ", %" + right + " : memref<2x64xf32, " + rows +
         ">, memref<96x64xf32, " + rows + ">) outs(%to" + right +
         " : memref<2x96xf32, " + out + R"(>) {
      ^bb0(%x: f32, %y: f32, %sum: f32):
        %xy = arith.mulf %x, %y : f32
        %s = arith.addf %sum, %xy : f32
        linalg.yield %s : f32
      }
)";
}

/// Returns the number of buffers of the products with all matrices in %bs.
/// `between` stands between the loop over the first rows and the last rows,
/// whose right operand is the one at `which`.
int64_t countBuffers(const std::string &between, const std::string &which) {
  MLIRContext context;
  loadKernelDialects(&context);
  const std::string part = " = memref.subview %bs[",
                    cut = ", 0, 0] [1, 96, 64] [1, 1, 1] : "
                          "memref<4x96x64xf32> to memref<96x64xf32, "
                          "strided<[64, 1], offset: ?>>\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(
    func.func @f(%a: memref<8x64xf32>, %bs: memref<4x96x64xf32>,
                 %c: memref<8x96xf32>, %i: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %zero = arith.constant 0.0 : f32
      scf.for %h = %c0 to %c4 step %c1 {
        %b)" +
          part + "%h" + cut + "scf.for %m = %c0 to %c6 step %c2 {\n" +
          rowsFrom("%m", "b") + "}\n" + between + "%d" + part + which + cut +
          rowsFrom("%c6", "d") + "} return }",
      &context);
  if (!module)
    return -1;
  for (func::FuncOp function : module->getOps<func::FuncOp>())
    kernel::lowerContractions(function, {}, /*log=*/nullptr);
  int64_t count = 0;
  module->walk([&](memref::AllocOp) { ++count; });
  return count;
}

TEST(KernelTurned, OnceForALoopAndTheRowsBehindIt) {
  EXPECT_EQ(countBuffers("", "%h"), 1);
}

TEST(KernelTurned, AgainWhatIsAnotherMatrix) {
  EXPECT_EQ(countBuffers("", "%i"), 2);
}

TEST(KernelTurned, AgainWhatWasWritten) {
  EXPECT_EQ(countBuffers("linalg.fill ins(%zero : f32) outs(%bs : "
                         "memref<4x96x64xf32>)\n",
                         "%h"),
            2);
}

} // namespace
