//===- ProgramBuilder.cpp - Programs as text, step by step ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder writes text of the pw dialect. Mistakes in a program are
// therefore found by the same verifiers, with lines to point at, and the text
// can be saved and read by pw-opt.
//
//===----------------------------------------------------------------------===//

#include "pathways/Compile.h"

using namespace pathways;

/// Returns "\"name\"", escaped as MLIR's strings need it.
static std::string quoted(const std::string &text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
      result += {'\\', kHex[c >> 4], kHex[c & 15]};
    else
      result += static_cast<char>(c);
  }
  return result + "\"";
}

static std::string quotedOrOpen(const std::string &axis) {
  return axis == "?" ? axis : quoted(axis);
}

template <typename Range, typename Fn>
static std::string joined(const Range &range, Fn &&text) {
  std::string result;
  for (const auto &item : range)
    result += (result.empty() ? "" : ", ") + text(item);
  return result;
}

void ProgramBuilder::slice(
    const std::string &slice,
    const std::vector<std::pair<std::string, int64_t>> &mesh,
    const std::vector<std::string> &apartFrom, int64_t spans) {
  slices +=
      "pw.slice @" + slice + " mesh <" +
      joined(mesh,
             [](const auto &axis) {
               return quoted(axis.first) + " = " + std::to_string(axis.second);
             }) +
      ">";
  if (spans != 1)
    slices += " spans " + std::to_string(spans) + " islands";
  if (!apartFrom.empty())
    slices += " apart_from [" +
              joined(apartFrom, [](const std::string &s) { return "@" + s; }) +
              "]";
  slices += "\n";
}

void ProgramBuilder::functions(const std::string &mlir) {
  bodies += mlir + "\n";
}

std::string ProgramBuilder::arrayType(ElementType element,
                                      const std::vector<int64_t> &shape,
                                      const std::string &slice,
                                      const std::vector<Axes> &dims) {
  return "!pw.array<" + shapeString(element, shape) + ", @" + slice + ", [" +
         joined(dims,
                [](const Axes &axes) {
                  return "{" + joined(axes, quotedOrOpen) + "}";
                }) +
         "]>";
}

std::string ProgramBuilder::arrayType(ElementType element,
                                      const std::vector<int64_t> &shape,
                                      const std::string &slice) {
  return "!pw.array<" + shapeString(element, shape) + ", @" + slice + ">";
}

ProgramBuilder::Value ProgramBuilder::argument(const std::string &argument,
                                               const std::string &type,
                                               bool stepped) {
  Value array{"%arg" + std::to_string(arguments.size()), type};
  arguments.push_back({argument, array, stepped});
  return array;
}

ProgramBuilder::Value ProgramBuilder::define(const std::string &op,
                                             const std::string &operands,
                                             const std::vector<Value> &sources,
                                             const std::string &type) {
  Value array{"%v" + std::to_string(nextValue++), type};
  ops += "  " + array.name + " = " + op + " " + operands + " : " +
         joined(sources, [](const Value &a) { return a.type; }) + " -> " +
         type + "\n";
  return array;
}

ProgramBuilder::Value ProgramBuilder::call(const std::string &function,
                                           const std::vector<Value> &operands,
                                           const std::string &resultType) {
  return callMulti(function, operands, {resultType}).front();
}

std::vector<ProgramBuilder::Value>
ProgramBuilder::callMulti(const std::string &function,
                          const std::vector<Value> &operands,
                          const std::vector<std::string> &resultTypes) {
  std::vector<Value> values;
  for (const std::string &type : resultTypes)
    values.push_back({"%v" + std::to_string(nextValue++), type});
  auto name = [](const Value &a) { return a.name; };
  auto type = [](const Value &a) { return a.type; };
  ops += "  " + joined(values, name) + (values.empty() ? "" : " = ") +
         "pw.call @" + function + "(" + joined(operands, name) + ") : (" +
         joined(operands, type) + ") -> (" + joined(values, type) + ")\n";
  return values;
}

ProgramBuilder::Value ProgramBuilder::reshard(const Value &array,
                                              const std::string &type) {
  return define("pw.reshard", array.name, {array}, type);
}

void ProgramBuilder::result(const std::string &result, const Value &array,
                            bool stepped) {
  results.push_back({result, array, stepped});
}

void ProgramBuilder::carry(const std::string &result,
                           const std::string &argument) {
  carried.emplace_back(result, argument);
}

Program ProgramBuilder::build() const {
  auto attributes = [&](const Port &port) {
    std::string text = "pw.name = " + quoted(port.name);
    if (port.stepped)
      text += ", pw.stepped";
    return text;
  };
  auto argumentText = [&](const Port &port) {
    std::string text =
        port.array.name + ": " + port.array.type + " {" + attributes(port);
    for (const auto &[result, argument] : carried) {
      if (argument != port.name)
        continue;
      // A name that is no result becomes an index that the verifier refuses.
      size_t index = 0;
      while (index < results.size() && results[index].name != result)
        ++index;
      text += ", pw.carried = " + std::to_string(index) + " : i64";
    }
    return text + "}";
  };
  auto resultText = [&](const Port &port) {
    return port.array.type + " {" + attributes(port) + "}";
  };

  Program program;
  program.file_name = name + ".mlir";
  program.text =
      slices + bodies + "pw.program @" + name + "(" +
      joined(arguments, argumentText) + ") -> (" + joined(results, resultText) +
      ") {\n" + ops + "  pw.return " +
      joined(results, [](const Port &port) { return port.array.name; }) +
      " : " +
      joined(results, [](const Port &port) { return port.array.type; }) +
      "\n}\n";
  return program;
}
