//===- random_kernel.h - Random functions and their results -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A random function as text, its operands, and its results for them, computed
// element by element in plain C++ that does not use MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H
#define UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernel_test {

enum class Element { I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

using Shape = std::vector<int64_t>;

/// One element. For a number with a fraction: `real`, and a bound on the error
/// of a correct kernel, whatever the order of its sums. If the bound is 0, the
/// sign of a zero is known too. For other numbers: `integer`.
struct Cell {
  long double real = 0, error = 0;
  int64_t integer = 0;
};

struct Tensor {
  Element element = Element::F32;
  Shape shape;
  std::vector<Cell> cells; ///< row-major

  /// Returns the bytes as stored in memory; numbers with a fraction are
  /// rounded.
  std::vector<uint8_t> bytes() const;
};

struct RandomKernel {
  std::string text; ///< of one function, @NAME
  std::vector<Tensor> operands, results;
  std::vector<int32_t> coordinates;
  /// Pairs of an operand and a result that share memory.
  std::vector<std::pair<int, int>> shared;
};

/// The view in which a function is written: for one shard, or for whole arrays.
/// A function for whole arrays uses no coordinates and shares no memory.
enum class View { Local, Global };

/// The statements of a function. Usual: all kinds without collectives. Layers:
/// mostly those of layers of networks, at odd sizes; every other function has
/// zeros of both signs, subnormals, infinities and NaN among its operands.
enum class Mix { Usual, Layers };

/// The rounding of which the results know the errors. EachOp: terms of sums may
/// be added in any order, and products of a sum need not be rounded. Strict:
/// terms are rounded and added in the order of the loops, so sums of exact
/// terms are exact. Excess: any op may leave its result unrounded.
enum class Accuracy { EachOp, Strict, Excess };

/// Returns a random kernel. Equal seeds give equal kernels on every machine.
/// Kernels of one seed may differ between accuracies: they have no statements
/// of whose results nothing is known.
RandomKernel makeRandomKernel(const std::string &name, uint64_t seed,
                              View view = View::Local, Mix mix = Mix::Usual,
                              Accuracy accuracy = Accuracy::EachOp);

/// Describes an element of `bytes` that differs from `expected`, or returns "".
std::string difference(const Tensor &expected,
                       const std::vector<uint8_t> &bytes);

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_RANDOM_KERNEL_H
