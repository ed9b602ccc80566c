//===- constants_test.cc - Constants of all elements and forms ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests constants of every element type: with equal or different elements, in a
// resource, empty, or without dimensions. They are returned, combined with an
// argument, and returned beside an argument.
//
//===----------------------------------------------------------------------===//

#include "cells.h"
#include "codegen_harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kernel_test;
using testing::HasSubstr;

namespace {

/// Syntax of a constant, and its elements.
struct Form {
  const char *name;
  Shape shape;
  std::vector<int> numbers;
  bool isResource = false;
};
const Form kForms[] = {
    {"splat", {3}, {1, 1, 1}},
    {"large_splat", {40, 7}, std::vector<int>(280, 1)},
    {"dense", {3}, {1, 0, 1}},
    {"matrix", {2, 3}, {1, 0, 3, 0, 5, 1}},
    {"empty", {0}, {}},
    {"empty_rows", {4, 0, 2}, {}},
    {"scalar", {}, {1}},
    {"one", {1, 1}, {1}},
    {"resource", {3}, {1, 0, 1}, true},
    {"resource_splat", {2, 2}, {1, 1, 1, 1}, true},
    {"resource_empty", {0}, {}, true},
    {"resource_scalar", {}, {1}, true},
};

Tensor tensorOf(Element e, const Form &form, int plus = 0) {
  Tensor tensor{e, form.shape, {}};
  for (int number : form.numbers)
    tensor.cells.push_back(isFloat(e) ? real(number + plus, 0)
                                      : integer(wrapped(e, number + plus)));
  return tensor;
}

std::string hexOf(const std::vector<uint8_t> &bytes) {
  std::string hex;
  for (uint8_t byte : bytes) {
    hex += "0123456789ABCDEF"[byte >> 4];
    hex += "0123456789ABCDEF"[byte & 15];
  }
  return hex;
}

/// Returns "1.0", "true" or "1".
std::string literal(Element e, int number) {
  if (e == Element::I1)
    return wrapped(e, number) ? "true" : "false";
  return std::to_string(number) + (isFloat(e) ? ".0" : "");
}

/// Returns the elements as nested lists, which list all elements if they
/// differ.
std::string listOf(Element e, const Form &form) {
  const std::vector<int> &numbers = form.numbers;
  if (numbers.empty())
    return "";
  if (std::adjacent_find(numbers.begin(), numbers.end(),
                         std::not_equal_to<>()) == numbers.end())
    return literal(e, numbers.front());
  size_t next = 0;
  auto write = [&](auto &self, size_t dim) -> std::string {
    if (dim == form.shape.size())
      return literal(e, numbers[next++]);
    std::string text;
    for (int64_t i = 0; i < form.shape[dim]; ++i)
      text += (i ? ", " : "") + self(self, dim + 1);
    return "[" + text + "]";
  };
  return write(write, 0);
}

/// Returns the text of a resource that is aligned to 8 bytes.
std::string resourceOf(const Tensor &tensor) {
  return "0x08000000" + hexOf(tensor.bytes());
}

TEST(ConstantsTest, EveryElementInEveryForm) {
  for (Element e : kElements) {
    std::string text, resources;
    for (const Form &form : kForms) {
      const std::string type = typeText(e, form.shape), name = form.name;
      const std::string op = isFloat(e) ? "arith.addf" : "arith.addi";
      if (form.isResource)
        resources += (resources.empty() ? "" : ", ") + name + ": \"" +
                     resourceOf(tensorOf(e, form)) + "\"";
      text += "func.func @" + name + "(%x: " + type + ") -> (" + type + ", " +
              type + ", " + type + ") {\n  %c = arith.constant " +
              (form.isResource ? "dense_resource<" + name + ">"
                               : "dense<" + listOf(e, form) + ">") +
              " : " + type + "\n  %s = " + op + " %x, %c : " + type +
              "\n  return %c, %s, %x : " + type + ", " + type + ", " + type +
              "\n}\n";
    }
    text += "{-# dialect_resources: { builtin: { " + resources + " } } #-}\n";
    SCOPED_TRACE(text);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text) && kernel.load()) << kernel.errors();
    for (auto [i, form] : llvm::enumerate(kForms)) {
      SCOPED_TRACE(form.name);
      Tensor constant = tensorOf(e, form), argument = tensorOf(e, form, 2),
             sum = constant;
      for (size_t c = 0; c < sum.cells.size(); ++c) {
        sum.cells[c].real += argument.cells[c].real;
        sum.cells[c].integer = wrapped(e, uint64_t(sum.cells[c].integer) +
                                              argument.cells[c].integer);
      }
      const size_t bytes = constant.bytes().size();
      Buffer x = Buffer::of(argument.bytes()), c(bytes), s(bytes), y(bytes);
      ASSERT_EQ(kernel.run(i, {&x, &c, &s, &y}), 0);
      EXPECT_EQ(difference(constant, c.as<uint8_t>()), "");
      EXPECT_EQ(difference(sum, s.as<uint8_t>()), "");
      EXPECT_EQ(difference(argument, y.as<uint8_t>()), "");
    }
  }
}

/// Folders also make constants: of others, of scalars and of parts.
TEST(ConstantsTest, WhatIsFolded) {
  for (Element e : kElements) {
    const std::string n = nameOf(e), t = "tensor<4x" + n + ">";
    auto scalar = [&](const char *name, int number) {
      return std::string("  ") + name + " = arith.constant " +
             literal(e, number) + (e == Element::I1 ? "\n" : " : " + n + "\n");
    };
    std::string text = "func.func @f(%x: " + t + ") -> (" + t + ", " + t +
                       ", tensor<2x" + n + ">, tensor<2x2x" + n + ">) {\n";
    text += scalar("%a", 1) + scalar("%b", 0) + scalar("%d", 3);
    text += "  %e = tensor.from_elements %a, %b, %a, %d : " + t + "\n";
    text += "  %c = arith.constant dense<[" + literal(e, 1) + ", " +
            literal(e, 0) + ", " + literal(e, 1) + ", " + literal(e, 3) +
            "]> : " + t + "\n";
    text += std::string("  %s = arith.") + (isFloat(e) ? "addf" : "addi") +
            " %e, %c : " + t + "\n";
    text += "  %p = tensor.extract_slice %c[1] [2] [2] : " + t +
            " to tensor<2x" + n + ">\n";
    text +=
        "  %q = tensor.expand_shape %c [[0, 1]] output_shape [2, 2] : " + t +
        " into tensor<2x2x" + n + ">\n";
    text += "  return %e, %s, %p, %q : " + t + ", " + t + ", tensor<2x" + n +
            ">, tensor<2x2x" + n + ">\n}\n";
    SCOPED_TRACE(text);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text) && kernel.load()) << kernel.errors();
    auto tensor = [&](const Shape &shape, const std::vector<int> &numbers) {
      return tensorOf(e, {"", shape, numbers});
    };
    const std::vector<Tensor> expected = {
        tensor({4}, {1, 0, 1, 3}), tensor({4}, {2, 0, 2, 6}),
        tensor({2}, {0, 3}), tensor({2, 2}, {1, 0, 1, 3})};
    Buffer x = Buffer::of(expected[0].bytes());
    std::vector<Buffer> results;
    for (const Tensor &tensor : expected)
      results.emplace_back(tensor.bytes().size());
    ASSERT_EQ(
        kernel.run(0, {&x, &results[0], &results[1], &results[2], &results[3]}),
        0);
    for (size_t r = 0; r < expected.size(); ++r)
      EXPECT_EQ(difference(expected[r], results[r].as<uint8_t>()), "") << r;
  }
}

/// Indices can be elements inside a body only.
TEST(ConstantsTest, Indices) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f() -> (tensor<3xi64>, tensor<2xi64>, tensor<i64>) {
      %a = arith.constant dense<[3, -1, 7]> : tensor<3xindex>
      %b = arith.constant dense_resource<two> : tensor<2xindex>
      %c = arith.constant dense<5> : tensor<index>
      %0 = arith.index_cast %a : tensor<3xindex> to tensor<3xi64>
      %1 = arith.index_cast %b : tensor<2xindex> to tensor<2xi64>
      %2 = arith.index_cast %c : tensor<index> to tensor<i64>
      return %0, %1, %2 : tensor<3xi64>, tensor<2xi64>, tensor<i64>
    }
    {-# dialect_resources: { builtin: { two: "0x0800000009000000000000000800000000000000" } } #-}
  )") && kernel.load())
      << kernel.errors();
  Buffer a(24), b(16), c(8);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  EXPECT_EQ(a.as<int64_t>(), (std::vector<int64_t>{3, -1, 7}));
  EXPECT_EQ(b.as<int64_t>(), (std::vector<int64_t>{9, 8}));
  EXPECT_EQ(c.as<int64_t>(), (std::vector<int64_t>{5}));
}

TEST(ConstantsTest, ResourcesThatDoNotFit) {
  auto errorsOf = [](const std::string &type, const std::string &resources) {
    Kernel kernel;
    EXPECT_FALSE(
        kernel.compile("func.func @f() -> " + type +
                       " {\n  %c = arith.constant dense_resource<r> : " + type +
                       "\n  return %c : " + type + "\n}\n" + resources));
    return kernel.errors();
  };
  auto resource = [](const std::string &data) {
    return "{-# dialect_resources: { builtin: { r: \"0x04000000" + data +
           "\" } } #-}\n";
  };
  EXPECT_THAT(errorsOf("tensor<2xf32>", ""),
              HasSubstr("resource 'r' does not exist"));
  EXPECT_THAT(errorsOf("tensor<2xf16>", resource("003C")),
              HasSubstr("expected 4 bytes of 'tensor<2xf16>' in resource 'r', "
                        "got 2"));
  EXPECT_THAT(errorsOf("tensor<9xi1>", resource("0100")),
              HasSubstr("expected 9 bytes of 'tensor<9xi1>' in resource 'r', "
                        "got 2"));
  EXPECT_THAT(errorsOf("tensor<0xf32>", resource("0000803F")),
              HasSubstr("expected 0 bytes of 'tensor<0xf32>' in resource 'r', "
                        "got 4"));
}

} // namespace
