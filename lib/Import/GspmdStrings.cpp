//===- GspmdStrings.cpp - Shardings in the text of XLA --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GspmdStrings.h"

#include "runtime/base/error_codes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Largest number of partitions, as meshes have it.
static constexpr int64_t kMaxPartitions = 1 << 24;

//===----------------------------------------------------------------------===//
// Words and lists
//===----------------------------------------------------------------------===//

namespace {

/// Reads words, signs and lists of numbers from a text.
class Scanner {
public:
  explicit Scanner(StringRef text) : rest(text) {}

  bool take(StringRef sign) {
    skipBlanks();
    return rest.consume_front(sign);
  }
  bool isAtEnd() {
    skipBlanks();
    return rest.empty();
  }
  /// Returns the next word: letters, digits and underscores. It may be empty.
  StringRef takeWord() {
    skipBlanks();
    StringRef word =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(word.size());
    return word;
  }
  bool takeNumber(int64_t &number) {
    skipBlanks();
    return !rest.consumeInteger(10, number);
  }
  /// Reads numbers with commas between them.
  bool takeNumbers(SmallVectorImpl<int64_t> &numbers) {
    do {
      if (!takeNumber(numbers.emplace_back()))
        return false;
    } while (take(","));
    return true;
  }
  /// Reads numbers between `open` and `close`, or nothing between them.
  bool takeList(StringRef open, StringRef close,
                SmallVectorImpl<int64_t> &numbers) {
    if (!take(open))
      return false;
    if (take(close))
      return true;
    return takeNumbers(numbers) && take(close);
  }
  /// Skips a text in braces, which may have braces inside.
  bool skipBraces() {
    if (!take("{"))
      return false;
    bool isQuoted = false;
    int depth = 1;
    while (depth > 0 && !rest.empty()) {
      char c = rest.front();
      if (c == '"')
        isQuoted = !isQuoted;
      else if (!isQuoted && c == '{')
        ++depth;
      else if (!isQuoted && c == '}')
        --depth;
      rest = rest.drop_front(c == '\\' ? std::min<size_t>(2, rest.size()) : 1);
    }
    return depth == 0;
  }

private:
  void skipBlanks() { rest = rest.ltrim(); }

  StringRef rest;
};

} // namespace

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// Returns the product of `sizes`, or 0 if it is not a number of partitions.
static int64_t getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMaxPartitions / product)
      return 0;
    product *= size;
  }
  return product;
}

/// Returns the digits that `<=[sizes]T(permutation)` counts. Returns nothing
/// if `permutation` is none.
static std::optional<Digits> getIota(ArrayRef<int64_t> sizes,
                                     ArrayRef<int64_t> permutation) {
  if (permutation.size() != sizes.size())
    return std::nullopt;
  Digits digits(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i])
    digits[i] = {stride, sizes[i]};
  Digits order;
  SmallVector<bool> isUsed(sizes.size());
  for (int64_t i : permutation) {
    if (i < 0 || i >= static_cast<int64_t>(sizes.size()) || isUsed[i])
      return std::nullopt;
    isUsed[i] = true;
    order.push_back(digits[i]);
  }
  return order;
}

namespace {

class ShardingParser {
public:
  explicit ShardingParser(StringRef text) : scanner(text) {}

  /// Reads the text. Returns an empty string, or else what is wrong.
  std::string parse(GspmdSharding &sharding) {
    if (!scanner.take("{"))
      return "expected '{'";
    if (scanner.take("{"))
      return "it is a list of shardings; expected the sharding of one tensor";
    while (!scanner.take("}")) {
      if (std::string wrong = parsePart(sharding); !wrong.empty())
        return wrong;
      (void)scanner.take(",");
    }
    if (!scanner.isAtEnd())
      return "expected the text to end after '}'";
    if (isCopied)
      sharding.isManual.push_back(false);
    if (sharding.kind == GspmdSharding::Kind::Tiled &&
        sharding.tiles.size() < sharding.isManual.size())
      return "it has fewer tile sizes than kinds of last dimensions";
    return "";
  }

private:
  std::string parsePart(GspmdSharding &sharding) {
    StringRef word = scanner.takeWord();
    int64_t number;
    if (word == "replicated")
      sharding.kind = GspmdSharding::Kind::Replicated;
    else if (word == "manual")
      sharding.kind = GspmdSharding::Kind::Manual;
    else if (word == "maximal" || word == "unknown")
      sharding.kind = GspmdSharding::Kind::Free;
    else if (word == "device")
      return scanner.take("=") && scanner.takeNumber(number)
                 ? ""
                 : "expected the number of a device";
    else if (word == "devices")
      return parseDevices(sharding);
    else if (word == "last_tile_dim_replicate")
      isCopied = true;
    else if (word == "last_tile_dims")
      return parseLastDims(sharding);
    else if (word == "unspecified_dims")
      return scanner.take("=") &&
                     (scanner.takeList("[", "]", sharding.openDims) ||
                      scanner.takeList("{", "}", sharding.openDims))
                 ? ""
                 : "expected numbers of dimensions";
    else if (word == "metadata")
      return scanner.take("=") && scanner.skipBraces() ? ""
                                                       : "expected metadata";
    else if (word == "shard_as" || word == "shard_like")
      return scanner.takeNumber(number) ? "" : "expected the number of a group";
    else if (word.empty())
      return "expected a word or '}'";
    else
      return ("'" + word + "' is not known").str();
    return "";
  }

  std::string parseDevices(GspmdSharding &sharding) {
    sharding.kind = GspmdSharding::Kind::Tiled;
    if (!scanner.take("=") || !scanner.takeList("[", "]", sharding.tiles))
      return "expected devices=[..]";
    int64_t number = getProduct(sharding.tiles);
    if (number == 0)
      return "expected positive tile sizes for at most 2^24 devices";
    if (scanner.take("<="))
      return parseIota(sharding, number);
    SmallVector<int64_t> devices;
    if (!scanner.takeNumbers(devices))
      return "expected '<=' or numbers of devices";
    if (static_cast<int64_t>(devices.size()) != number)
      return "it has " + std::to_string(devices.size()) + " devices for " +
             std::to_string(number) + " tiles";
    SmallVector<bool> isUsed(number);
    for (int64_t device : devices) {
      if (device < 0 || device >= number || isUsed[device])
        return "device " + std::to_string(device) +
               " is out of range or named twice";
      isUsed[device] = true;
    }
    std::optional<Digits> order = findDigits(devices);
    if (!order)
      return "no mesh has its devices in this order";
    sharding.order = *order;
    return "";
  }

  std::string parseIota(GspmdSharding &sharding, int64_t number) {
    SmallVector<int64_t> sizes, permutation;
    if (!scanner.takeList("[", "]", sizes))
      return "expected sizes after '<='";
    if (getProduct(sizes) != number)
      return "the sizes after '<=' are not those of " + std::to_string(number) +
             " devices";
    if (scanner.take("T")) {
      if (!scanner.takeList("(", ")", permutation))
        return "expected a permutation after T";
    } else {
      llvm::append_range(permutation, llvm::seq<int64_t>(0, sizes.size()));
    }
    std::optional<Digits> order = getIota(sizes, permutation);
    if (!order)
      return "the numbers after T are no permutation of the sizes before it";
    sharding.order = *order;
    return "";
  }

  std::string parseLastDims(GspmdSharding &sharding) {
    if (!scanner.take("=") || !scanner.take("{"))
      return "expected last_tile_dims={..}";
    while (!scanner.take("}")) {
      StringRef word = scanner.takeWord();
      if (word != "manual" && word != "replicated")
        return ("expected 'manual' or 'replicated' in last_tile_dims, got '" +
                word + "'")
            .str();
      sharding.isManual.push_back(word == "manual");
      (void)scanner.take(",");
    }
    return "";
  }

  Scanner scanner;
  bool isCopied = false;
};

} // namespace

FailureOr<GspmdSharding> mlir::pathways::parseGspmdSharding(
    StringRef text, llvm::function_ref<InFlightDiagnostic()> emitError) {
  GspmdSharding sharding;
  std::string wrong = ShardingParser(text).parse(sharding);
  if (!wrong.empty())
    return emitError() << "the sharding \"" << text
                       << "\" cannot be used: " << wrong
                       << Tag(ErrorId::kPartitioned);
  return sharding;
}

LogicalResult mlir::pathways::addOpenDims(StringRef config,
                                          SmallVectorImpl<int64_t> &dims) {
  Scanner scanner(config);
  if (scanner.isAtEnd())
    return success();
  return success(scanner.take("unspecified_dims") && scanner.take("=") &&
                 scanner.takeList("[", "]", dims) && scanner.isAtEnd());
}
