//===- mutants.cpp - Random changes to the text of programs ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mutants.h"
#include "../Codegen/random_kernel.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

using namespace mutants;

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static void addPrograms(std::istream &in, std::vector<std::string> &programs) {
  std::string program, line;
  auto flush = [&] {
    if (program.find_first_not_of(" \n") != std::string::npos)
      programs.push_back(program);
    program.clear();
  };
  while (std::getline(in, line)) {
    if (line.rfind("// -----", 0) == 0)
      flush();
    program += line.substr(0, line.find("//")) + "\n";
  }
  flush();
}

/// Appends the functions in the raw strings of a source of tests.
static void addFunctions(const std::string &source,
                         std::vector<std::string> &functions) {
  static const std::string begin = "R\"(", end = ")\"", first = "func.func @";
  for (size_t at = 0; (at = source.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::string text = source.substr(at, source.find(end, at) - at);
    for (size_t f = text.find(first); f != std::string::npos;) {
      const size_t next = text.find(first, f + 1);
      std::istringstream in(text.substr(f, next - f));
      addPrograms(in, functions); // skips comments
      f = next;
    }
  }
}

Corpus mutants::readCorpus(const std::string &programs,
                           const std::string &sources) {
  std::vector<fs::path> files;
  std::istringstream split(programs + ":" + sources);
  for (std::string folder; std::getline(split, folder, ':');)
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Corpus corpus;
  for (const fs::path &file : files) {
    std::ifstream in(file);
    // A valid program reaches more of the compiler than an invalid one.
    const bool isWrong =
        file.stem().string().find("invalid") != fs::path::string_type::npos;
    if (file.extension() == ".mlir")
      addPrograms(in, isWrong ? corpus.wrong : corpus.programs);
    if (file.extension() == ".cc")
      addFunctions({std::istreambuf_iterator<char>(in), {}}, corpus.functions);
  }
  return corpus;
}

/// Returns the types of tensors in `text`, as types of arrays on one device.
static std::vector<std::string> arraysIn(const std::string &text) {
  static const std::string begin = "tensor<";
  std::vector<std::string> arrays;
  for (size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::string type = text.substr(at, text.find('>', at) - at);
    std::string dims;
    for (size_t sizes = std::count(type.begin(), type.end(), 'x'); sizes > 0;
         --sizes)
      dims += dims.empty() ? "{}" : ", {}";
    arrays.push_back("!pw.array<" + type + ", @s, [" + dims + "]>");
  }
  return arrays;
}

std::string mutants::callInProgram(std::string function) {
  // Removes the attributes of segments: axes and shared memory.
  const std::string attributes = " attributes {";
  if (const size_t at = function.find(attributes); at != std::string::npos)
    function.erase(at, function.find("} {", at) + 1 - at);
  const size_t name = function.find('@');
  const size_t open = function.find('(', name);
  const size_t arrow = function.find("->", open);
  const size_t body = function.find('{', arrow);
  if (body == std::string::npos)
    return function;
  const auto arguments = arraysIn(function.substr(open, arrow - open));
  const auto results = arraysIn(function.substr(arrow, body - arrow));
  auto join = [](const std::vector<std::string> &all, auto each) {
    std::string text;
    for (size_t i = 0; i < all.size(); ++i)
      text += (i ? ", " : "") + each(all[i], std::to_string(i));
    return text;
  };
  using Text = const std::string &;
  auto type = [](Text t, Text) { return t; };
  const std::string types = join(results, type);
  const std::string call =
      " pw.call " + function.substr(name, open - name) + "(" +
      join(arguments, [](Text, Text i) { return "%a" + i; }) + ") : (" +
      join(arguments, type) + ") -> (" + types + ")\n";
  std::string text =
      "pw.slice @s mesh <\"x\" = 2, \"y\" = 2>\n"
      "pw.program @p(" +
      join(arguments, [](Text t, Text i) { return "%a" + i + ": " + t; }) +
      ") -> (" + types + ") {\n";
  if (!results.empty())
    text += "  %r:" + std::to_string(results.size()) + " =";
  text += call + "  pw.return ";
  text += join(results, [](Text, Text i) { return "%r#" + i; });
  text += (results.empty() ? "" : " : ") + types + "\n}\n";
  function.insert(body, "attributes {pw.local_view} ");
  function.insert(name, "private ");
  return text + function;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

using Tokens = std::vector<std::string>;

/// Splits a text into words, numbers, single signs, and the space between them.
static Tokens split(const std::string &text) {
  auto kind = [](unsigned char c) {
    if (std::isdigit(c))
      // `x` is a sign, so that the sizes of a shape are separate tokens
      return 1;
    if (std::isalpha(c) || c == '_' || c == '%' || c == '@' || c == '.')
      return 2;
    return std::isspace(c) ? 3 : 0;
  };
  Tokens tokens;
  int last = 0;
  for (char c : text) {
    const int now = kind(c);
    const bool isWord = last == 2 && now == 1;
    const bool isTimes = last == 2 && !tokens.empty() && tokens.back() == "x";
    if (tokens.empty() || now == 0 || (now != last && !isWord) || isTimes)
      tokens.emplace_back();
    tokens.back() += c;
    last = isWord && !isTimes ? 2 : now;
  }
  return tokens;
}

namespace {

class Mutation {
public:
  Mutation(const Corpus &corpus, uint64_t seed, bool hasFunctions)
      : corpus(corpus), random(seed) {
    isFunction = hasFunctions && below(2);
  }

  std::string run() {
    std::string text = isFunction && below(2)
                           ? kernel_test::makeRandomKernel("f", random()).text
                           : pickText();
    for (size_t changes = 1 + below(2) * below(4); changes > 0; --changes)
      text = below(5) ? changeTokens(text) : changeLines(text);
    return isFunction ? callInProgram(text) : text;
  }

private:
  /// Returns a number from 0 to n - 1. (Distributions differ between
  /// libraries.)
  size_t below(size_t n) { return n ? random() % n : 0; }
  template <typename T> const T &pick(const std::vector<T> &all) {
    return all[below(all.size())];
  }
  const std::string &pickText() {
    if (isFunction)
      return pick(corpus.functions);
    const bool isWrong = below(4) == 0 && !corpus.wrong.empty();
    return pick(isWrong ? corpus.wrong : corpus.programs);
  }

  /// Returns the place of a token that is not space, and that `want` accepts if
  /// it finds one.
  template <typename Want> size_t place(const Tokens &tokens, Want want) {
    for (int i = 0; i < 60; ++i) {
      size_t at = below(tokens.size());
      if (want(tokens[at]))
        return at;
    }
    return below(tokens.size());
  }

  void changeToken(Tokens &tokens);
  std::string changeTokens(const std::string &text);
  std::string changeLines(const std::string &text);

  const Corpus &corpus;
  std::mt19937_64 random;
  bool isFunction;
};

} // namespace

void Mutation::changeToken(Tokens &tokens) {
  static const std::vector<std::string> numbers = {"0",
                                                   "1",
                                                   "2",
                                                   "3",
                                                   "7",
                                                   "-1",
                                                   "16",
                                                   "1000",
                                                   "65536",
                                                   "2147483648",
                                                   "1e40",
                                                   "4294967295",
                                                   "4294967296",
                                                   "1000000",
                                                   "9223372036854775807",
                                                   "?",
                                                   "0x7FC00000",
                                                   "-0.5",
                                                   "99999999999999999999"};
  static const std::vector<std::string> types = {"f32", "f16", "bf16", "f64",
                                                 "i1",  "i8",  "i16",  "i32",
                                                 "i64", "i4",  "ui32", "index"};
  auto isSpace = [](const std::string &t) { return std::isspace(t[0]); };
  auto isNumber = [](const std::string &t) { return std::isdigit(t[0]); };
  auto isType = [&](const std::string &t) {
    return std::find(types.begin(), types.end(), t) != types.end();
  };
  auto isName = [](const std::string &t) { return t[0] == '%' || t[0] == '@'; };
  auto isAny = [&](const std::string &t) { return !isSpace(t); };
  auto isOp = [](const std::string &t) {
    return t.find('.') != std::string::npos && std::isalpha(t[0]);
  };
  size_t at = place(tokens, isAny), other = place(tokens, isAny);
  switch (below(26)) {
  case 0:
    tokens.erase(tokens.begin() + at);
    break;
  case 1:
    tokens.insert(tokens.begin() + at, tokens[at] + " ");
    break;
  case 2:
    std::swap(tokens[at], tokens[other]);
    break;
  case 3: // replace any token by any other
    tokens[at] = tokens[other];
    break;
  case 4:
  case 5:
  case 16:
    tokens[place(tokens, isNumber)] = pick(numbers);
    break;
  case 6:
  case 17:
    tokens[place(tokens, isType)] = pick(types);
    break;
  case 7: // another value or function
  case 18:
  case 19:
    tokens[place(tokens, isName)] = tokens[place(tokens, isName)];
    break;
  case 8: { // another operation
    Tokens others = split(pickText());
    if (!others.empty())
      tokens[place(tokens, isOp)] = others[place(others, isOp)];
    break;
  }
  case 9: { // a token of another program
    Tokens others = split(pickText());
    if (!others.empty())
      tokens[at] = others[place(others, isAny)];
    break;
  }
  case 10:
  case 11: // another operation of the same dialect
  case 20:
  case 21:
  case 22: {
    size_t op = place(tokens, isOp);
    const std::string dialect = tokens[op].substr(0, tokens[op].find('.') + 1);
    Tokens others = split(pickText());
    if (!others.empty())
      tokens[op] = others[place(others, [&](const std::string &t) {
        return t.rfind(dialect, 0) == 0 && t != tokens[op];
      })];
    break;
  }
  case 12: // replace it everywhere
  case 13:
  case 14:
  case 23:
  case 24:
  case 25: {
    const bool isOfNumbers = below(2);
    const std::string old =
        tokens[isOfNumbers ? place(tokens, isNumber) : place(tokens, isType)];
    const std::string &now = pick(isOfNumbers ? numbers : types);
    std::replace(tokens.begin(), tokens.end(), old, now);
    break;
  }
  case 15:
    if (below(8) == 0) // truncate the text
      tokens.resize(at);
    else
      tokens[at][below(tokens[at].size())] ^= char(1 << below(7));
    break;
  }
}

std::string Mutation::changeTokens(const std::string &text) {
  Tokens tokens = split(text);
  if (!tokens.empty())
    changeToken(tokens);
  std::string result;
  for (const std::string &token : tokens)
    result += token;
  return result;
}

std::string Mutation::changeLines(const std::string &text) {
  auto linesOf = [](const std::string &of) {
    std::vector<std::string> lines;
    std::istringstream in(of);
    for (std::string line; std::getline(in, line);)
      lines.push_back(line);
    return lines;
  };
  std::vector<std::string> lines = linesOf(text);
  if (lines.empty())
    return text;
  size_t at = below(lines.size());
  switch (below(4)) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + below(lines.size()), std::string(lines[at]));
    break;
  case 2:
    std::swap(lines[at], lines[below(lines.size())]);
    break;
  case 3: {
    std::vector<std::string> others = linesOf(pickText());
    if (!others.empty())
      lines[at] = pick(others);
    break;
  }
  }
  std::string result;
  for (const std::string &line : lines)
    result += line + "\n";
  return result;
}

std::string mutants::mutate(const Corpus &corpus, uint64_t seed) {
  return Mutation(corpus, seed, /*hasFunctions=*/true).run();
}

std::string mutants::mutateProgram(const Corpus &corpus, uint64_t seed) {
  return Mutation(corpus, seed, /*hasFunctions=*/false).run();
}
