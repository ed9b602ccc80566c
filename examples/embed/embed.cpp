//===- embed.cpp - Pathways inside another program ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"

#include <cstdio>
#include <cstdlib>

// Ends the program with the message if `result` is an error.
template <typename T> static T take(pathways::Result<T> result) {
  if (result)
    return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

int main() {
  using pathways::ElementType;
  // Computes y = 2x on a slice of two devices, then moves it to two others and
  // returns it whole.
  pathways::ProgramBuilder builder("twice");
  builder.slice("front", {{"data", 2}});
  builder.slice("back", {{"data", 2}}, /*apartFrom=*/{"front"});
  builder.functions(R"(
    func.func private @double(%v: tensor<4xf32>) -> tensor<4xf32>
        attributes {pw.local_view, pw.pointwise} {
      %w = arith.addf %v, %v : tensor<4xf32>
      return %w : tensor<4xf32>
    })");
  auto split = builder.arrayType(ElementType::kF32, {8}, "front", {{"data"}});
  auto whole = builder.arrayType(ElementType::kF32, {8}, "back", {{}});
  auto x = builder.argument("x", split);
  builder.result("y",
                 builder.reshard(builder.call("double", {x}, split), whole));

  const std::string topology = "2x1x2";
  auto compiled =
      take(pathways::compile(builder.build(), {.topology = topology}));
  auto session = take(pathways::Session::open({.topology = topology}));
  auto executable = take(session.load(compiled.plan));

  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  auto input = pathways::HostArray::of<float>(values);

  auto run = take(executable.launch({{"x", input}})); // returns at once
  auto y = take(run.fetch("y"));
  for (float value : y.values<float>())
    std::printf("%g ", value);
  std::printf("\n");
}
