//===- partition_test.cpp - Global views on several devices ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random functions in global view, cut over random meshes in random layouts,
// give what plain C++ gives. PATHWAYS_TEST_SEED and PATHWAYS_TEST_PARTITIONS
// choose others than the usual ones: the function with seed S is the first of a
// run that starts at S.
//
//===----------------------------------------------------------------------===//

#include "../Codegen/random_kernel.h"
#include "pathways/Pathways.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <random>
#include <regex>
#include <sstream>

namespace pathways {
namespace {

using kernel_test::RandomKernel;
using kernel_test::Tensor;

template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

ElementType toElementType(kernel_test::Element element) {
  switch (element) {
  case kernel_test::Element::I1:
    return ElementType::kI1;
  case kernel_test::Element::I8:
    return ElementType::kI8;
  case kernel_test::Element::I32:
    return ElementType::kI32;
  case kernel_test::Element::I64:
    return ElementType::kI64;
  case kernel_test::Element::F16:
    return ElementType::kF16;
  case kernel_test::Element::BF16:
    return ElementType::kBF16;
  case kernel_test::Element::F32:
    return ElementType::kF32;
  case kernel_test::Element::F64:
    return ElementType::kF64;
  }
  return ElementType::kInvalid;
}

HostArray toHostArray(const Tensor &tensor) {
  HostArray array{toElementType(tensor.element), tensor.shape, {}};
  std::vector<uint8_t> bytes = tensor.bytes();
  array.data.resize(bytes.size());
  std::copy(bytes.begin(), bytes.end(), array.data.begin());
  return array;
}

struct Mesh {
  const char *text;
  int shards;
  std::vector<const char *> axes;
};
const Mesh kMeshes[] = {
    {R"("x" = 2)", 2, {"x"}},
    {R"("x" = 3)", 3, {"x"}},
    {R"("x" = 2, "y" = 2)", 4, {"x", "y"}},
    {R"("x" = 3, "y" = 2)", 6, {"x", "y"}},
    {R"("x" = 2, "y" = 1, "z" = 2)", 4, {"x", "y", "z"}},
    {R"("x" = 2, "y" = 2, "z" = 2)", 8, {"x", "y", "z"}},
};

/// A program that calls a random function on arrays in random layouts, some of
/// which are open, and some values of which are constrained.
class RandomPartition {
public:
  explicit RandomPartition(uint64_t seed)
      : kernel(kernel_test::makeRandomKernel("f", seed,
                                             kernel_test::View::Global)),
        random(seed), mesh(kMeshes[random() % std::size(kMeshes)]) {
    constrain();
    std::string given, taken, made, returned, names;
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      const std::string name = "%a" + std::to_string(i);
      const std::string type = arrayOf(kernel.operands[i]);
      const char *comma = i ? ", " : "";
      given += comma + name + ": " + type;
      names += comma + name;
      taken += comma + type;
    }
    for (size_t i = 0; i < kernel.results.size(); ++i) {
      const std::string type = arrayOf(kernel.results[i]);
      const char *comma = i ? ", " : "";
      made += comma + type;
      returned += comma + ("%r#" + std::to_string(i));
    }
    text = "pw.slice @s mesh <" + std::string(mesh.text) + ">\n" + kernel.text +
           "pw.program @p(" + given + ") -> (" + made +
           ") {\n  %r:" + std::to_string(kernel.results.size()) +
           " = pw.call @f(" + names + ") : (" + taken + ") -> (" + made +
           ")\n  pw.return " + returned + " : " + made + "\n}\n";
  }

  RandomKernel kernel;
  std::mt19937_64 random;
  const Mesh &mesh;
  std::string text;
  uint64_t constraints = 0;

private:
  /// Each axis cuts some dimension, or none; some dimensions are open.
  std::string randomSharding(size_t rank) {
    std::vector<std::string> dims(rank);
    std::vector<const char *> axes = mesh.axes;
    std::shuffle(axes.begin(), axes.end(), random);
    for (const char *axis : axes)
      if (!dims.empty() && random() % 4 != 0) {
        std::string &dim = dims[random() % dims.size()];
        dim += (dim.empty() ? "\"" : ", \"") + std::string(axis) + "\"";
      }
    const bool isOpen = random() % 2 != 0;
    std::string sharding;
    for (std::string &dim : dims) {
      if (isOpen && random() % 2 != 0)
        dim = random() % 2 != 0 || dim.empty() ? "?" : dim + ", ?";
      sharding += (sharding.empty() ? "{" : ", {") + dim + "}";
    }
    return "[" + sharding + "]";
  }

  std::string arrayOf(const Tensor &tensor) {
    const std::string sharding = randomSharding(tensor.shape.size());
    return "!pw.array<" +
           ShapeString(toElementType(tensor.element), tensor.shape) + ", @s" +
           (random() % 8 != 0 ? ", " + sharding : "") + ">";
  }

  /// Constrains the results of some operations.
  void constrain() {
    static const std::regex kDefinition(
        R"(^  (%\w+) = (?!pw|arith.cmp|tensor.extract ).*[:>] (tensor<([^>]*x)?\w+>)$)");
    std::istringstream lines(kernel.text);
    std::string result, rest = kernel.text, line;
    std::vector<std::pair<std::regex, std::string>> names;
    while (std::getline(lines, line)) {
      for (const auto &[name, constrained] : names)
        line = std::regex_replace(line, name, constrained);
      result += line + "\n";
      std::smatch match;
      if (!std::regex_match(line, match, kDefinition) || random() % 6 != 0)
        continue;
      const std::string name = match[1], type = match[2], shape = match[3];
      const std::string constrained = name + "_as";
      result += "  " + constrained + " = pw.constrain " + name + " " +
                randomSharding(std::count(shape.begin(), shape.end(), 'x')) +
                " : " + type + "\n";
      ++constraints;
      names.emplace_back(std::regex(name + R"(\b)"), constrained);
    }
    kernel.text = result;
  }
};

TEST(PartitionTest, AgreesWithPlainCode) {
  const uint64_t seed = fromEnvironment("PATHWAYS_TEST_SEED", 20261123);
  const uint64_t count = fromEnvironment("PATHWAYS_TEST_PARTITIONS", 2000);
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  uint64_t communicating = 0, constraints = 0;
  for (uint64_t i = seed; i < seed + count; ++i) {
    const RandomPartition random(i);
    SCOPED_TRACE("seed " + std::to_string(i) + "\n" + random.text);
    constraints += random.constraints;
    const int shards = random.mesh.shards;
    const int hosts = shards % 2 == 0 && i % 2 == 0 ? 2 : 1;
    const std::string topology =
        "1x" + std::to_string(hosts) + "x" + std::to_string(shards / hosts);
    auto compiled = compile({random.text}, {.topology = topology});
    if (!compiled) {
      ADD_FAILURE() << compiled.error().message;
      continue;
    }
    communicating += take(printPlan(compiled->plan)).find("plan.collective") !=
                     std::string::npos;
    auto session = take(Session::open({.topology = topology}));
    auto executable = take(session.load(compiled->plan));
    std::map<std::string, Argument> inputs;
    for (size_t a = 0; a < random.kernel.operands.size(); ++a)
      inputs.emplace("a" + std::to_string(a),
                     toHostArray(random.kernel.operands[a]));
    auto run = take(executable.launch(inputs));
    for (size_t r = 0; r < random.kernel.results.size(); ++r) {
      auto result = run.fetch("result" + std::to_string(r));
      if (!result) {
        ADD_FAILURE() << result.error().message;
        break;
      }
      EXPECT_EQ(
          kernel_test::difference(
              random.kernel.results[r],
              std::vector<uint8_t>(result->data.begin(), result->data.end())),
          "")
          << "in result " << r;
    }
  }
  std::printf("%llu of %llu communicate, %llu constraints\n",
              (unsigned long long)communicating, (unsigned long long)count,
              (unsigned long long)constraints);
  EXPECT_GT(constraints, count / 2);
  EXPECT_GT(communicating, count / 2);
}

} // namespace
} // namespace pathways
