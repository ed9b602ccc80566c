//===- Int8Dot.cpp - Products of bytes, four at a time --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes products of signed bytes with sums of 32 bits by an instruction that
// multiplies four signed bytes with four unsigned bytes and adds the products
// to each of 16 numbers. Both operands are packed so that four steps of k are
// adjacent:
//
//   B, by panels: [k / 4][column][k % 4], each byte b as b + 128
//   A, by rows:   [row][k], with zeros up to a multiple of four steps
//
// A sum of a * (b + 128) is too large by 128 * (sum of a), which is subtracted
// from the sums at the beginning. All of this is exact modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "Contraction/ContractionWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {
constexpr int64_t kQuad = 4;
} // namespace

void ContractionWriter::allocateQuads() {
  int64_t depth = llvm::alignTo(std::min(size(k), kQuadDepth), kQuad);
  int64_t width = panelWidth(), count = llvm::divideCeil(size(n), width);
  Type byte = b.getI8Type();
  quads = memref::AllocOp::create(
      b, MemRefType::get({count, depth / kQuad, width * kQuad}, byte));
  // Row strides are not powers of two.
  blockA = memref::AllocOp::create(
      b, MemRefType::get({kQuadRows, depth + 64}, byte));
  corrections =
      memref::AllocOp::create(b, MemRefType::get({kQuadRows}, element));
}

void ContractionWriter::packQuadsOfB(Value kBegin, Value kEnd) {
  blockBegin = kBegin;
  int64_t lanes = vectors.most;
  // Interleaves two vectors by elements of `size` bytes.
  auto interleave = [&](Value first, Value second, int64_t size) -> Value {
    int64_t bytes = cast<VectorType>(first.getType()).getDimSize(0);
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < bytes; i += size)
      for (int64_t from : {i, bytes + i})
        for (int64_t byte = 0; byte < size; ++byte)
          order.push_back(from + byte);
    return vector::ShuffleOp::create(b, first, second, order);
  };
  auto type = VectorType::get(lanes * kQuad, b.getI8Type());
  Value flip = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getI8IntegerAttr(-128)));
  Value last = arith::SubIOp::create(b, kEnd, index(1));
  forEachColumns([&](const Columns &columns) {
    loop(kBegin, kEnd, kQuad, [&](Value kv) {
      Value place = arith::DivUIOp::create(
          b, arith::SubIOp::create(b, kv, kBegin), index(kQuad));
      for (size_t v = 0; v < columns.widths.size(); ++v) {
        // Zeros of A multiply these bytes, so their values do not matter.
        SmallVector<Value> rows;
        for (int64_t i = 0; i < kQuad; ++i)
          rows.push_back(loadB(columns, v, min(add(kv, i), last)));
        Value all = interleave(interleave(rows[0], rows[1], 1),
                               interleave(rows[2], rows[3], 1), 2);
        vector::StoreOp::create(
            b, arith::XOrIOp::create(b, all, flip), quads,
            ValueRange{columns.panel, place, index(v * lanes * kQuad)});
      }
    });
  });
}

void ContractionWriter::packQuadsOfA(Value rowBegin, Value rowEnd, Value kBegin,
                                     Value kEnd) {
  blockRow = rowBegin;
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value noByte = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
  Value length = arith::SubIOp::create(b, kEnd, kBegin);
  Value padded = arith::MulIOp::create(
      b, arith::CeilDivUIOp::create(b, length, index(kQuad)), index(kQuad));
  loop(rowBegin, rowEnd, 1, [&](Value row) {
    Value place = arith::SubIOp::create(b, row, rowBegin);
    auto sum = scf::ForOp::create(b, kBegin, kEnd, index(1), zero);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(sum.getBody());
      Value kv = sum.getInductionVar();
      Value value =
          memref::LoadOp::create(b, lhs, subscripts(lhsMap, row, {}, kv));
      memref::StoreOp::create(
          b, value, blockA,
          ValueRange{place, arith::SubIOp::create(b, kv, kBegin)});
      Value more =
          arith::AddIOp::create(b, sum.getRegionIterArg(0),
                                arith::ExtSIOp::create(b, element, value));
      scf::YieldOp::create(b, more);
    }
    loop(length, padded, 1, [&](Value kv) {
      memref::StoreOp::create(b, noByte, blockA, ValueRange{place, kv});
    });
    Value by = arith::ConstantOp::create(b, b.getI32IntegerAttr(128));
    memref::StoreOp::create(b, arith::MulIOp::create(b, sum.getResult(0), by),
                            corrections, place);
  });
}

void ContractionWriter::addQuads(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                                 const Columns &columns, Sums &sums) {
  size_t count = columns.widths.size();
  int64_t bytes = vectors.most * kQuad;
  auto type = VectorType::get(vectors.most, element),
       ofBytes = VectorType::get(bytes, b.getI8Type());
  SmallVector<Value> places;
  for (auto [r, row] : llvm::enumerate(rows)) {
    places.push_back(arith::SubIOp::create(b, row, blockRow));
    Value correction = vector::BroadcastOp::create(
        b, type, memref::LoadOp::create(b, corrections, places.back()));
    for (size_t v = 0; v < count; ++v)
      sums[r * count + v] =
          arith::SubIOp::create(b, sums[r * count + v], correction);
  }
  Value number = arith::CeilDivUIOp::create(
      b, arith::SubIOp::create(b, kEnd, kBegin), index(kQuad));
  auto loop = scf::ForOp::create(b, index(0), number, index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value quad = loop.getInductionVar();
  Value kPlace = arith::MulIOp::create(b, quad, index(kQuad));
  Sums inner(loop.getRegionIterArgs());
  SmallVector<Value> rights;
  for (size_t v = 0; v < count; ++v)
    rights.push_back(vector::LoadOp::create(
        b, ofBytes, quads, ValueRange{columns.panel, quad, index(v * bytes)}));
  StringAttr add = b.getStringAttr("llvm.x86.avx512.vpdpbusd.512");
  for (size_t r = 0; r < rows.size(); ++r) {
    Value left =
        vector::LoadOp::create(b, VectorType::get(kQuad, b.getI8Type()), blockA,
                               ValueRange{places[r], kPlace});
    left = vector::BitCastOp::create(b, VectorType::get(1, element), left);
    left = vector::BroadcastOp::create(
        b, type, vector::ExtractOp::create(b, left, int64_t{0}));
    left = vector::BitCastOp::create(b, ofBytes, left);
    for (size_t v = 0; v < count; ++v) {
      Value &sum = inner[r * count + v];
      sum = LLVM::CallIntrinsicOp::create(b, type, add,
                                          ValueRange{sum, rights[v], left})
                .getResult(0);
    }
  }
  scf::YieldOp::create(b, inner);
  sums.assign(loop.getResults().begin(), loop.getResults().end());
}
