//===- StableHloText.cpp - Text of StableHLO before it is parsed ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/StableHloText.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool isNamePart(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

/// Calls `visit` with each name that has a dot and is in no comment and no
/// string, and with each name of an operation in quotes, until it returns
/// false. Names come without `#`, `!` and `@`.
static void visitNames(StringRef text, function_ref<bool(StringRef)> visit) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"') {
      size_t start = i + 1;
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
      StringRef name = text.slice(start, i);
      bool isOperation = text.substr(i).starts_with("\"(");
      if (isOperation && name.contains('.') && !visit(name))
        return;
    } else if (isNamePart(c)) {
      size_t start = i;
      while (i < text.size() && isNamePart(text[i]))
        ++i;
      StringRef name = text.slice(start, i);
      if (name.contains('.') && !visit(name))
        return;
      --i; // the loop advances
    }
  }
}

static bool isOfDialect(StringRef name, StringRef dialect) {
  return name.consume_front(dialect) && name.starts_with(".");
}

bool mlir::pathways::looksLikeStableHlo(StringRef text) {
  // Most texts are of `pw` and have none of these anywhere.
  if (!text.contains("hlo.") && !text.contains("sdy."))
    return false;
  bool isFound = false, isProgram = false;
  visitNames(text, [&](StringRef name) {
    isProgram = name == "pw.program";
    isFound |= isOfDialect(name, "stablehlo") || isOfDialect(name, "mhlo") ||
               isOfDialect(name, "sdy");
    return !isProgram;
  });
  return isFound && !isProgram;
}

std::optional<std::string> mlir::pathways::describeUnreadable(StringRef text) {
  constexpr llvm::StringLiteral kAdvice =
      "; print the program as StableHLO text, "
      "for example by as_text() of JAX";
  // Names of dialects are readable text in bytecode.
  if (text.starts_with("ML\xefR")) {
    if (!text.contains("vhlo") && !text.contains("stablehlo"))
      return std::nullopt;
    return ("expected StableHLO text, got bytecode" + kAdvice).str();
  }
  if (!text.contains("vhlo."))
    return std::nullopt;
  bool isFound = false;
  visitNames(text, [&](StringRef name) {
    isFound = isOfDialect(name, "vhlo");
    return !isFound;
  });
  if (!isFound)
    return std::nullopt;
  return ("expected StableHLO text, got VHLO" + kAdvice).str();
}

//===----------------------------------------------------------------------===//
// Constants of i1
//===----------------------------------------------------------------------===//

/// Parses `> : tensor<2x3xi1>` at the front of `text` and returns the number of
/// elements, or nullopt if it is anything else.
static std::optional<uint64_t> parseBoolType(StringRef text) {
  if (!text.consume_front(">"))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front(":"))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front("tensor<"))
    return std::nullopt;
  uint64_t count = 1;
  while (!text.starts_with("i1>")) {
    uint64_t size = 0;
    // A larger product is no number of bytes that a text has.
    if (text.consumeInteger(10, size) || !text.consume_front("x") ||
        size > UINT32_MAX || (count *= size) > UINT32_MAX)
      return std::nullopt;
  }
  return count;
}

/// Returns the digits of one bit per element for `digits` of one byte per
/// element.
static std::string packBools(StringRef digits) {
  std::string packed;
  uint8_t byte = 0;
  size_t count = digits.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    bool isSet = digits[2 * i] != '0' || digits[2 * i + 1] != '0';
    byte |= static_cast<uint8_t>(isSet) << (i % 8);
    if (i % 8 == 7 || i + 1 == count) {
      packed += llvm::hexdigit(byte >> 4);
      packed += llvm::hexdigit(byte & 15);
      byte = 0;
    }
  }
  return packed;
}

std::optional<std::string> mlir::pathways::repackBoolConstants(StringRef text) {
  constexpr llvm::StringLiteral kStart = "dense<\"0x";
  std::optional<std::string> result;
  size_t copied = 0; // length of the part of `text` in the result
  for (size_t at = text.find(kStart); at != StringRef::npos;
       at = text.find(kStart, at)) {
    at += kStart.size();
    StringRef digits = text.substr(at).take_while(llvm::isHexDigit);
    at += digits.size();
    StringRef rest = text.substr(at);
    if (digits.size() % 2 != 0 || !rest.consume_front("\""))
      continue;
    std::optional<uint64_t> count = parseBoolType(rest);
    if (!count || *count < 2 || digits.size() / 2 != *count)
      continue;
    if (!result)
      result.emplace();
    *result += text.slice(copied, at - digits.size());
    *result += packBools(digits);
    copied = at;
  }
  if (result)
    *result += text.substr(copied);
  return result;
}
