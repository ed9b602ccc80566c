//===- one_device.cpp - Comparison of a slice with one device -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "one_device.h"

#include "runtime/base/narrow_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>
#include <sstream>

namespace pathways {
namespace {

/// Inputs of at most this size are listed in the call of a program.
constexpr int64_t kMostListed = 64;

struct ProgramMesh {
  int64_t shards = 1;
  std::string onOneDevice; ///< for CompileOptions::mesh
};

ProgramMesh meshOf(const std::string &text) {
  static const std::regex kAxis(R"re("(\w+)" = (\d+))re");
  const std::string line = text.substr(0, text.find('\n'));
  ProgramMesh mesh;
  for (std::sregex_iterator it(line.begin(), line.end(), kAxis), end; it != end;
       ++it) {
    mesh.shards *= std::stoll((*it)[2]);
    mesh.onOneDevice +=
        (mesh.onOneDevice.empty() ? "s:" : ",") + (*it)[1].str() + "=1";
  }
  return mesh;
}

template <typename T> T readAs(const void *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

long double elementAt(const HostArray &array, int64_t index) {
  const auto *at = array.data.data() + index * elementBytes(array.element);
  switch (array.element) {
  case ElementType::kF64:
    return readAs<double>(at);
  case ElementType::kF32:
    return readAs<float>(at);
  case ElementType::kF16:
    return FromF16(readAs<uint16_t>(at));
  case ElementType::kBF16:
    return FromBF16(readAs<uint16_t>(at));
  case ElementType::kI64:
    return readAs<int64_t>(at);
  case ElementType::kI32:
    return readAs<int32_t>(at);
  default:
    return readAs<int8_t>(at);
  }
}

/// Returns the allowed difference of sums, relative to the largest element.
long double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::kF64:
    return 1e-9L;
  case ElementType::kF32:
    return 1e-3L;
  case ElementType::kF16:
  case ElementType::kBF16:
    return 0.1L;
  default:
    return 0;
  }
}

std::string compare(const HostArray &one, const HostArray &other) {
  long double most = 1;
  for (int64_t i = 0; i < one.numElements(); ++i)
    if (long double size = std::fabs(elementAt(one, i)); std::isfinite(size))
      most = std::max(most, size);
  for (int64_t i = 0; i < one.numElements(); ++i) {
    const long double a = elementAt(one, i), b = elementAt(other, i);
    if (a == b || (std::isnan(a) && std::isnan(b)) ||
        std::fabs(a - b) <= most * toleranceOf(one.element))
      continue;
    std::ostringstream text;
    text << "element " << i << " is " << double(b) << ", and " << double(a)
         << " on one device";
    return text.str();
  }
  return "";
}

/// Returns the arguments of the program with their values.
Inputs fillArguments(const std::string &text, const Inputs &inputs) {
  static const std::regex kArgument(R"(%(\w+): !pw\.array<((?:\d+x)*)(\w+), )");
  static const std::map<std::string, ElementType> kTypes = {
      {"i1", ElementType::kI1},   {"i8", ElementType::kI8},
      {"i32", ElementType::kI32}, {"i64", ElementType::kI64},
      {"f16", ElementType::kF16}, {"bf16", ElementType::kBF16},
      {"f32", ElementType::kF32}, {"f64", ElementType::kF64}};
  Inputs filled;
  for (std::sregex_iterator it(text.begin(), text.end(), kArgument), end;
       it != end; ++it) {
    const std::string name = (*it)[1];
    if (auto known = inputs.find(name); known != inputs.end()) {
      filled.insert(*known);
      continue;
    }
    HostArray array{kTypes.at((*it)[3]), {}, {}};
    std::istringstream sizes((*it)[2]);
    for (std::string size; std::getline(sizes, size, 'x');)
      array.shape.push_back(std::stoll(size));
    const int64_t count = array.numElements();
    array.data.resize(count * elementBytes(array.element));
    auto fill = [&](auto make) {
      for (int64_t i = 0; i < count; ++i) {
        const auto value = make(1 + i % 7);
        std::memcpy(array.data.data() + i * sizeof(value), &value,
                    sizeof(value));
      }
    };
    switch (array.element) {
    case ElementType::kF64:
      fill([](int64_t n) { return double(n); });
      break;
    case ElementType::kF32:
      fill([](int64_t n) { return float(n); });
      break;
    case ElementType::kF16:
      fill([](int64_t n) { return ToF16(n); });
      break;
    case ElementType::kBF16:
      fill([](int64_t n) { return ToBF16(n); });
      break;
    case ElementType::kI64:
      fill([](int64_t n) { return n; });
      break;
    case ElementType::kI32:
      fill([](int64_t n) { return int32_t(n); });
      break;
    case ElementType::kI8:
      fill([](int64_t n) { return int8_t(n); });
      break;
    default:
      fill([](int64_t n) { return int8_t(n % 2); });
    }
    filled.emplace(name, std::move(array));
  }
  return filled;
}

/// Returns the results of a run. Fails if the compilation or the run fails.
Result<std::vector<HostArray>> run(const std::string &text,
                                   const std::string &topology,
                                   const std::string &mesh,
                                   const Inputs &inputs) {
  auto compiled = compile({text}, {.topology = topology, .mesh = mesh});
  if (!compiled)
    return compiled.error();
  auto session = Session::open({.topology = topology});
  if (!session)
    return session.error();
  auto executable = session->load(compiled->plan);
  if (!executable)
    return executable.error();
  auto launched = executable->launch({inputs.begin(), inputs.end()});
  if (!launched)
    return launched.error();
  if (Status status = launched->await(); !status)
    return status.error();
  std::vector<HostArray> results;
  while (true) {
    auto result = launched->fetch("result" + std::to_string(results.size()));
    if (!result) // there are no more results
      return results;
    results.push_back(*std::move(result));
  }
}

} // namespace

std::string differenceFromOneDevice(const std::string &text,
                                    const Inputs &inputs) {
  const Inputs filled = fillArguments(text, inputs);
  const ProgramMesh mesh = meshOf(text);
  auto one = run(text, "1x1x1", mesh.onOneDevice, filled);
  if (!one)
    return "";
  auto all = run(text, "1x1x" + std::to_string(mesh.shards), "", filled);
  if (!all)
    return all.error().message;
  for (size_t i = 0; i < one->size(); ++i)
    if (std::string difference = compare((*one)[i], (*all)[i]);
        !difference.empty())
      return "result " + std::to_string(i) + ": " + difference;
  return "";
}

std::string makeRunnable(const std::string &text, const Inputs &inputs) {
  std::ostringstream command;
  command.precision(17);
  command << "// pw-run FILE --oversubscribe --topology=1x1x"
          << meshOf(text).shards;
  for (const auto &[name, array] : fillArguments(text, inputs)) {
    command << " --input=" << name << "=";
    if (array.numElements() > kMostListed)
      command << "random:1";
    for (int64_t i = 0;
         i < array.numElements() && array.numElements() <= kMostListed; ++i)
      command << (i ? "," : "") << double(elementAt(array, i));
  }
  return command.str() + "\n" + text;
}

} // namespace pathways
