//===- partition_test.cpp - Global views on several devices ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random functions in global view, cut over random meshes in random layouts,
// give the results of plain C++. PATHWAYS_TEST_SEED and
// PATHWAYS_TEST_PARTITIONS choose other functions than the usual ones: the
// function with seed S is the first of a run that starts at S. If a function
// fails, the test prints the smallest part of it that gives other values than
// on one device.
//
//===----------------------------------------------------------------------===//

#include "../Codegen/cells.h"
#include "../Codegen/random_kernel.h"
#include "one_device.h"
#include "pathways/Pathways.h"
#include "program_reducer.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"

#include <random>
#include <regex>
#include <sstream>

namespace pathways {
namespace {

using kernel_test::Element;
using kernel_test::RandomKernel;
using kernel_test::Tensor;

template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

ElementType toElementType(kernel_test::Element element) {
  switch (element) {
  case kernel_test::Element::I1:
    return ElementType::kI1;
  case kernel_test::Element::I8:
    return ElementType::kI8;
  case kernel_test::Element::I16:
    return ElementType::kI16;
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

/// Returns the type of arrays of `element`, which are unsigned if
/// `isUnsigned`.
ElementType toArrayElement(kernel_test::Element element, bool isUnsigned) {
  const ElementType type = toElementType(element);
  const std::string name = elementName(type);
  if (!isUnsigned || name[0] != 'i' || type == ElementType::kI1)
    return type;
  return elementFromName("u" + name);
}

HostArray toHostArray(const Tensor &tensor, bool isUnsigned) {
  HostArray array{toArrayElement(tensor.element, isUnsigned), tensor.shape, {}};
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

/// A program that calls a random function on arrays in random layouts. Some
/// layouts are open or have contributions, and some values in the function are
/// constrained.
class RandomPartition {
public:
  explicit RandomPartition(uint64_t seed)
      : kernel(kernel_test::makeRandomKernel("f", seed,
                                             kernel_test::View::Global)),
        random(seed), mesh(kMeshes[random() % std::size(kMeshes)]),
        isUnsigned(random() % 2 != 0) {
    spoilPadding();
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
  bool isUnsigned; ///< arrays of integers are, which functions do not see
  std::string text;
  uint64_t constraints = 0, contributions = 0;

private:
  /// Returns a sharding in which each axis cuts some dimension or none, and
  /// some dimensions are open.
  std::string randomSharding(size_t rank) {
    std::vector<std::string> dims(rank);
    std::vector<const char *> axes = mesh.axes;
    std::shuffle(axes.begin(), axes.end(), random);
    unused = axes;
    for (const char *axis : axes)
      if (!dims.empty() && random() % 4 != 0) {
        std::string &dim = dims[random() % dims.size()];
        unused.erase(std::find(unused.begin(), unused.end(), axis));
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

  /// Returns a partial layout over axes that do not cut the array, or "".
  std::string randomContributions(const Tensor &tensor) {
    if (unused.empty() || random() % 4 != 0)
      return "";
    ++contributions;
    // Sums of other elements are rounded more often than the reference, and i1
    // has no sums.
    const bool isExact = tensor.element != Element::F16 &&
                         tensor.element != Element::BF16 &&
                         tensor.element != Element::I1;
    std::string axes;
    for (const char *axis : unused)
      axes += (axes.empty() ? "\"" : ", \"") + std::string(axis) + "\"";
    std::vector<const char *> kinds = {"max", "min"};
    if (isExact)
      kinds.insert(kinds.end(), {"add", "mul"});
    if (!kernel_test::isFloat(tensor.element)) {
      kinds.insert(kinds.end(), {"umax", "umin", "and", "or", "xor"});
      if (isUnsigned && tensor.element != Element::I1)
        kinds.erase(kinds.begin(), kinds.begin() + 2);
    }
    return std::string(" partial ") + kinds[random() % kinds.size()] + " {" +
           axes + "}";
  }

  std::string arrayOf(const Tensor &tensor) {
    std::string sharding = randomSharding(tensor.shape.size());
    if (sharding.find('?') == std::string::npos)
      sharding += randomContributions(tensor);
    return "!pw.array<" +
           shapeString(toArrayElement(tensor.element, isUnsigned),
                       tensor.shape) +
           ", @s" + (random() % 8 != 0 ? ", " + sharding : "") + ">";
  }

  /// Returns NaN, or a number that makes divisions, shifts and lookups fail.
  std::string worstOf(kernel_test::Element element) {
    switch (element) {
    case kernel_test::Element::I1:
      return "true";
    case kernel_test::Element::F16:
      return "0x7E00 : f16";
    case kernel_test::Element::BF16:
      return "0x7FC0 : bf16";
    case kernel_test::Element::F32:
      return "0x7FC00000 : f32";
    case kernel_test::Element::F64:
      return "0x7FF8000000000000 : f64";
    default:
      return (random() % 2 ? "-1 : " : "0 : ") +
             shapeString(toElementType(element), {});
    }
  }

  /// Returns text that defines NAME_spoiled, which equals the argument `name`
  /// except for `worst` in its padding. The op uses indices of the whole array,
  /// so on one device there is no padding.
  static std::string spoil(const std::string &name, const Tensor &tensor,
                           const std::string &worst) {
    const std::string of = shapeString(toElementType(tensor.element), {});
    const std::string type =
        "tensor<" + shapeString(toElementType(tensor.element), tensor.shape) +
        ">";
    std::string dims, iterators, inner, value = name + "_x";
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const std::string n = std::to_string(d);
      dims += (d ? ", d" : "d") + n;
      iterators += d ? ", \"parallel\"" : "\"parallel\"";
      inner += "    " + name + "_i" + n + " = linalg.index " + n +
               " : index\n    " + name + "_n" + n + " = arith.constant " +
               std::to_string(tensor.shape[d]) + " : index\n    " + name +
               "_c" + n + " = arith.cmpi ult, " + name + "_i" + n + ", " +
               name + "_n" + n + " : index\n    " + name + "_s" + n +
               " = arith.select " + name + "_c" + n + ", " + value + ", " +
               name + "_w : " + of + "\n";
      value = name + "_s" + n;
    }
    const std::string map = "affine_map<(" + dims + ") -> (" + dims + ")>";
    return "  " + name + "_w = arith.constant " + worst + "\n  " + name +
           "_spoiled = linalg.generic {indexing_maps = [" + map + ", " + map +
           "], iterator_types = [" + iterators + "]} ins(" + name + " : " +
           type + ") outs(" + name + " : " + type + ") {\n  ^bb0(" + name +
           "_x: " + of + ", " + name + "_o: " + of + "):\n" + inner +
           "    linalg.yield " + value + " : " + of + "\n  } -> " + type + "\n";
  }

  /// Replaces some arguments by values that differ only in padding.
  void spoilPadding() {
    const size_t begin = kernel.text.find('\n') + 1;
    std::string spoiled, rest = kernel.text.substr(begin);
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      const Tensor &operand = kernel.operands[i];
      if (operand.shape.empty() || random() % 2 != 0)
        continue;
      const std::string name = "%a" + std::to_string(i);
      spoiled += spoil(name, operand, worstOf(operand.element));
      rest = std::regex_replace(rest, std::regex(name + R"(\b)"),
                                name + "_spoiled");
    }
    kernel.text = kernel.text.substr(0, begin) + spoiled + rest;
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

  std::vector<const char *> unused; // axes that the last sharding left over
};

/// Describes a program that fails: returns the smallest part of it that differs
/// from one device, or all of it.
std::string describeFailure(uint64_t seed, const RandomPartition &random,
                            const Inputs &inputs) {
  auto fails = [&](const std::string &text) {
    return !differenceFromOneDevice(text, inputs).empty();
  };
  const std::string repeat = "// PATHWAYS_TEST_SEED=" + std::to_string(seed) +
                             " PATHWAYS_TEST_PARTITIONS=1 partition_test\n";
  if (!fails(random.text))
    return repeat + "// One device gives the same.\n" +
           makeRunnable(random.text, inputs);
  const std::string text =
      reducer::reduceProgram(random.text, fails, /*maxTries=*/400);
  return repeat + "// " + differenceFromOneDevice(text, inputs) + "\n" +
         makeRunnable(text, inputs);
}

TEST(PartitionTest, AgreesWithPlainCode) {
  const uint64_t seed = TestSeed(20261123);
  const uint64_t count =
      FromEnvironment("PATHWAYS_TEST_PARTITIONS", SampleSize(200, 800));
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  uint64_t communicating = 0, constraints = 0, contributions = 0, failures = 0;
  for (uint64_t i = seed; i < seed + count; ++i) {
    const RandomPartition random(i);
    Inputs inputs;
    for (size_t a = 0; a < random.kernel.operands.size(); ++a)
      inputs.emplace("a" + std::to_string(a),
                     toHostArray(random.kernel.operands[a], random.isUnsigned));
    auto report = [&](const std::string &message) {
      // Describing a few failures is enough to see the reason.
      ADD_FAILURE() << "seed " << i << ": " << message << "\n"
                    << (++failures <= 3 ? describeFailure(i, random, inputs)
                                        : random.text);
    };
    constraints += random.constraints;
    contributions += random.contributions;
    const int shards = random.mesh.shards;
    // Run on one host, on two, or on two islands.
    const int hosts = shards % 2 == 0 && i % 4 > 0 ? 2 : 1;
    const bool isWide = hosts == 2 && i % 4 == 1;
    const std::string topology = (isWide       ? "2x1x"
                                  : hosts == 2 ? "1x2x"
                                               : "1x1x") +
                                 std::to_string(shards / hosts);
    const std::string text =
        isWide ? std::regex_replace(random.text,
                                    std::regex("(pw.slice @s mesh <[^>]*>)"),
                                    "$1 spans 2 islands")
               : random.text;
    auto compiled = compile({text}, {.topology = topology});
    if (!compiled) {
      report(compiled.error().message);
      continue;
    }
    communicating += take(printPlan(compiled->plan)).find("plan.collective") !=
                     std::string::npos;
    auto session = take(Session::open({.topology = topology}));
    auto executable = take(session.load(compiled->plan));
    auto run = take(executable.launch({inputs.begin(), inputs.end()}));
    for (size_t r = 0; r < random.kernel.results.size(); ++r) {
      auto result = run.fetch("result" + std::to_string(r));
      if (!result) {
        report(result.error().message);
        break;
      }
      std::string difference = kernel_test::difference(
          random.kernel.results[r],
          std::vector<uint8_t>(result->data.begin(), result->data.end()));
      if (!difference.empty()) {
        report("result " + std::to_string(r) + ": " + difference);
        break;
      }
    }
  }
  std::printf(
      "%llu of %llu communicate, %llu constraints, %llu contributions\n",
      (unsigned long long)communicating, (unsigned long long)count,
      (unsigned long long)constraints, (unsigned long long)contributions);
  EXPECT_GT(constraints, count / 2);
  EXPECT_GT(contributions, count / 4);
  EXPECT_GT(communicating, count / 2);
}

} // namespace
} // namespace pathways
