//===- Fingerprint.cpp - Fingerprints of programs -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/WholeText.h"
#include "pathways/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_FINGERPRINT
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

/// Size of a fingerprint; IsFingerprint in runtime/plan/profile.h counts its
/// digits.
static constexpr size_t kBytes = 16;
using Digest = llvm::BLAKE3Result<kBytes>;

static Digest hash(Operation *op) {
  llvm::BLAKE3 hasher;
  // Each part follows its size, so that different lists of parts have different
  // input.
  auto add = [&](StringRef part) {
    uint8_t size[8];
    llvm::support::endian::write64le(size, part.size());
    hasher.update(size);
    hasher.update(part);
  };
  add(getWholeText(op, /*withPlaces=*/false));
  visitResources(op, add);
  return hasher.final<kBytes>();
}

void mlir::pathways::addFingerprints(ModuleOp module) {
  // Each operation is printed once, however many programs there are.
  SmallVector<Digest> digests;
  for (Operation &op : *module.getBody()) {
    if (auto program = dyn_cast<ProgramOp>(op))
      program.removeFingerprintAttr();
    digests.push_back(hash(&op));
  }
  for (auto program : module.getOps<ProgramOp>()) {
    llvm::BLAKE3 hasher;
    for (auto [op, digest] : llvm::zip_equal(*module.getBody(), digests))
      if (!isa<ProgramOp>(op) || &op == program)
        hasher.update(digest);
    program.setFingerprint(
        llvm::toHex(hasher.final<kBytes>(), /*LowerCase=*/true));
  }
}

namespace {
struct FingerprintPass
    : public mlir::pathways::impl::FingerprintBase<FingerprintPass> {
  void runOnOperation() override { addFingerprints(getOperation()); }
};
} // namespace
