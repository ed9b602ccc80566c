//===- random_kernel.h - Random functions and what they give ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A random function as text, together with its operands and what it gives for
// them, worked out element by element in plain C++ that knows nothing of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H
#define UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernel_test {

enum class Element { I1, I8, I32, I64, F16, BF16, F32, F64 };

using Shape = std::vector<int64_t>;

/// One element. Of a number with a fraction: `real` and a bound on how far from
/// it a correct kernel may be, whatever the order of its sums; where that is 0,
/// a zero has the same sign. Of others: `integer`.
struct Cell {
  long double real = 0, error = 0;
  int64_t integer = 0;
};

struct Tensor {
  Element element = Element::F32;
  Shape shape;
  std::vector<Cell> cells; ///< row-major

  /// As it lies in memory; numbers with a fraction are rounded.
  std::vector<uint8_t> bytes() const;
};

struct RandomKernel {
  std::string text; ///< of one function, @NAME
  std::vector<Tensor> operands, results;
  std::vector<int32_t> coordinates;
  /// Operand and result that have the same memory.
  std::vector<std::pair<int, int>> shared;
};

/// How a function is written: for one shard, or for whole arrays. The latter
/// asks for no coordinates and shares no memory.
enum class View { Local, Global };

/// Which statements a function has: all, those without collectives of any kind;
/// or mostly those that layers of networks are made of, at odd sizes, and in
/// every other one operands with zeros of both signs, subnormals, infinities
/// and NaN.
enum class Mix { Usual, Layers };

/// Equal seeds give equal kernels on every machine.
RandomKernel makeRandomKernel(const std::string &name, uint64_t seed,
                              View view = View::Local, Mix mix = Mix::Usual);

/// Says which element of `bytes` is not what `expected` has, or "".
std::string difference(const Tensor &expected,
                       const std::vector<uint8_t> &bytes);

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H
