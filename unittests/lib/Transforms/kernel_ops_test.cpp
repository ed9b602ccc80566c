//===- kernel_ops_test.cpp - Sharding rules of the ops of bodies ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Codegen/Codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fstream>
#include <map>
#include <sstream>

namespace mlir::pathways {
namespace {

enum class Reason {
  Walked, ///< the partitioner handles it explicitly
  Free,   ///< available in any layout
  Inside, ///< part of the enclosing operation
  /// Takes and gives numbers alone, or memory, which bodies do not have.
  Numbers,
  Whole, ///< computed whole, see docs/partitioning.md
};

const std::map<std::string, Reason> &withoutRule() {
  static const auto *reasons = new std::map<std::string, Reason>{
      {"affine.apply", Reason::Numbers},
      {"affine.delinearize_index", Reason::Numbers},
      {"affine.dma_start", Reason::Numbers},
      {"affine.dma_wait", Reason::Numbers},
      {"affine.for", Reason::Whole},
      {"affine.if", Reason::Whole},
      {"affine.linearize_index", Reason::Numbers},
      {"affine.load", Reason::Numbers},
      {"affine.max", Reason::Numbers},
      {"affine.min", Reason::Numbers},
      {"affine.parallel", Reason::Whole},
      {"affine.prefetch", Reason::Numbers},
      {"affine.store", Reason::Numbers},
      {"affine.vector_load", Reason::Numbers},
      {"affine.vector_store", Reason::Numbers},
      {"affine.yield", Reason::Inside},
      {"arith.constant", Reason::Free},
      {"cf.assert", Reason::Numbers},
      {"func.return", Reason::Inside},
      {"linalg.index", Reason::Inside},
      {"linalg.yield", Reason::Inside},
      {"pw.shard_index", Reason::Numbers},
      {"pw.step_index", Reason::Numbers},
      {"scf.condition", Reason::Inside},
      {"scf.for", Reason::Walked},
      {"scf.if", Reason::Walked},
      {"scf.index_switch", Reason::Whole},
      {"scf.while", Reason::Whole},
      {"scf.yield", Reason::Inside},
      {"tensor.cast", Reason::Whole},
      {"tensor.dim", Reason::Walked},
      {"tensor.empty", Reason::Free},
      {"tensor.extract", Reason::Whole},
      {"tensor.from_elements", Reason::Whole},
      {"tensor.generate", Reason::Whole},
      {"tensor.insert", Reason::Whole},
      {"tensor.parallel_insert_slice", Reason::Inside},
      {"tensor.rank", Reason::Walked},
      {"tensor.reshape", Reason::Whole},
      {"tensor.splat", Reason::Free},
      {"tensor.yield", Reason::Inside},
      {"ub.unreachable", Reason::Inside},
  };
  return *reasons;
}

bool isElementwise(RegisteredOperationName name) {
  return name.hasTrait<OpTrait::Elementwise>() &&
         name.hasTrait<OpTrait::Scalarizable>() &&
         name.hasTrait<OpTrait::Vectorizable>() &&
         name.hasTrait<OpTrait::Tensorizable>();
}

struct KernelOpsTest : public ::testing::Test {
  KernelOpsTest() {
    DialectRegistry registry;
    registerTensorShardingModels(registry);
    registry.insert<PathwaysDialect>();
    context.appendDialectRegistry(registry);
    loadKernelDialects(&context);
    context.loadDialect<PathwaysDialect>();
  }

  MLIRContext context;
};

/// An op that is missing here would be gathered without a decision to do so.
TEST_F(KernelOpsTest, EachHasARuleOrAReason) {
  std::map<std::string, Reason> left = withoutRule();
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!isKernelOp(name))
      continue;
    ++count;
    const bool hasRule = name.hasInterface<ShardableOpInterface>() ||
                         name.hasInterface<linalg::LinalgOp>() ||
                         isElementwise(name);
    const bool hasReason = left.erase(name.getStringRef().str()) > 0;
    EXPECT_TRUE(hasRule || hasReason)
        << "'" << name.getStringRef().str()
        << "' has neither a sharding rule nor a reason why not";
    EXPECT_FALSE(hasRule && hasReason)
        << "'" << name.getStringRef().str() << "' has a sharding rule";
  }
  EXPECT_GT(count, 200u);
  for (const auto &[name, reason] : left)
    ADD_FAILURE() << "bodies may have no '" << name << "'";
}

TEST_F(KernelOpsTest, ReasonsAreDocumented) {
  std::ifstream file(PARTITIONING);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  for (const auto &[name, reason] : withoutRule())
    if (reason == Reason::Whole)
      EXPECT_THAT(text.str(), ::testing::HasSubstr("`" + name + "`"));
}

} // namespace
} // namespace mlir::pathways
