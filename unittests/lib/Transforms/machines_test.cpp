//===- machines_test.cpp - Machines that passes compile for ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Transforms/Machines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mlir::pathways {
namespace {

/// Reads a machine file, then removes it. Preserves no analysis.
struct ReadAndRemove
    : public PassWrapper<ReadAndRemove, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReadAndRemove)
  explicit ReadAndRemove(std::string path) : path(std::move(path)) {}

  void runOnOperation() override {
    const ::pathways::Topology *machines = getAnalysis<Machines>().read(path);
    if (!machines)
      return signalPassFailure();
    EXPECT_EQ(machines->num_hosts(), 2);
    std::filesystem::remove(path);
  }

  std::string path;
};

struct MachinesTest : public ::testing::Test {
  MachinesTest() : module(ModuleOp::create(UnknownLoc::get(&context))) {
    std::string pattern = ::testing::TempDir() + "machinesXXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~MachinesTest() override { std::filesystem::remove_all(folder); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string folder;
};

TEST_F(MachinesTest, OneTextIsReadOnceInAPipeline) {
  const std::string path = folder + "/two.textproto";
  std::ofstream(path)
      << "islands { hosts { devices {} } hosts { devices {} } }";
  PassManager passes(&context);
  passes.addPass(std::make_unique<ReadAndRemove>(path));
  passes.addPass(std::make_unique<ReadAndRemove>(path));
  EXPECT_TRUE(succeeded(passes.run(*module)));
}

TEST_F(MachinesTest, OtherTextsAreOtherMachines) {
  Machines machines(*module);
  const ::pathways::Topology *first = machines.read("1x2x1");
  const ::pathways::Topology *second = machines.read("1x3x1");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->num_hosts(), 2);
  EXPECT_EQ(second->num_hosts(), 3);
  EXPECT_EQ(machines.read("1x2x1"), first);
}

TEST_F(MachinesTest, SaysWhatIsWrong) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  EXPECT_EQ(Machines(*module).read("0x1"), nullptr);
  EXPECT_THAT(said, ::testing::HasSubstr("cannot read topology '0x1': "));
}

} // namespace
} // namespace mlir::pathways
