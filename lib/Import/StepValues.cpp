//===- StepValues.cpp - Values that pass from step to step ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "pathways/Import/DonatedArguments.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Most names that an error lists.
static constexpr size_t kMaxListed = 12;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Returns the first `separator` in `text` that is in no brackets or quotes, or
/// npos. Names of values, such as "state['a,b']", have both.
static size_t findOutside(StringRef text, char separator) {
  int depth = 0;
  char quote = 0;
  for (auto [i, c] : llvm::enumerate(text)) {
    if (quote) {
      if (c == quote)
        quote = 0;
    } else if (depth > 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      --depth;
    } else if (c == separator && depth <= 0) {
      return i;
    }
  }
  return StringRef::npos;
}

/// Splits a list at its commas.
static SmallVector<StringRef> splitList(StringRef text) {
  SmallVector<StringRef> items;
  while (true) {
    size_t comma = findOutside(text, ',');
    items.push_back(text.take_front(comma).trim());
    if (comma == StringRef::npos)
      return items;
    text = text.drop_front(comma + 1);
  }
}

/// Results are named "result[0]['w']", and "[0]['w']" by older front ends.
static StringRef withoutResult(StringRef name) {
  StringRef rest = name;
  if (rest.consume_front("result") &&
      (rest.empty() || rest.front() == '[' || rest.front() == '.'))
    return rest;
  return name;
}

static bool isPosition(StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

InFlightDiagnostic StepValues::emitUnknown(Location loc, StringRef option,
                                           StringRef text, Kind kind) const {
  // A name or the value that it is a part of may have been meant.
  llvm::SetVector<StringRef> known;
  for (const std::string &name : getNames(kind)) {
    StringRef path = kind == kResult ? withoutResult(name) : StringRef(name);
    known.insert(path.take_front(path.find_first_of("[.", 1)));
    known.insert(name);
  }
  const char *what = kind == kArgument ? "argument" : "result";
  InFlightDiagnostic error = mlir::emitError(loc);
  error << option << ": no " << what << " is named '" << text << "'";
  StringRef nearest;
  unsigned best = text.size() / 3 + 2;
  for (StringRef name : known) {
    unsigned distance = text.edit_distance(name, true, best);
    if (!name.empty() && distance < best) {
      best = distance;
      nearest = name;
    }
  }
  if (!nearest.empty()) {
    error << "; did you mean '" << nearest << "'?";
  } else if (getNames(kind).empty()) {
    error << "; there are none";
  } else {
    error << "; there are ";
    ArrayRef<std::string> names = getNames(kind);
    llvm::interleaveComma(names.take_front(kMaxListed), error);
    if (names.size() > kMaxListed)
      error << " and " << names.size() - kMaxListed << " more";
  }
  error << Tag(ErrorId::kStepValues);
  return error;
}

FailureOr<StepValues::Matches> StepValues::matchPositions(Location loc,
                                                          StringRef option,
                                                          StringRef text,
                                                          Kind kind) const {
  auto [first, last] = text.split('-');
  if (last.empty())
    last = first;
  const char *what = kind == kArgument ? "argument" : "result";
  size_t size = getNames(kind).size();
  unsigned begin = 0, end = 0;
  // A number that is too large for its type is also too large for the list.
  bool isLarge = first.getAsInteger(10, begin) || last.getAsInteger(10, end);
  if (!isLarge && end < begin)
    return mlir::emitError(loc)
           << option << ": the range '" << text << "' ends before it begins"
           << Tag(ErrorId::kStepValues);
  if (isLarge || end >= size)
    return mlir::emitError(loc)
           << option << ": there is no " << what << " " << last << ", as '"
           << text << "' says; there are " << size << " " << what << "s"
           << Tag(ErrorId::kStepValues);
  Matches matches;
  for (unsigned i = begin; i <= end; ++i)
    matches.indices.push_back(i);
  return matches;
}

StepValues::Matches StepValues::matchNames(StringRef text, Kind kind) const {
  StringRef prefix = kind == kResult ? withoutResult(text) : text;
  Matches matches;
  for (auto [i, name] : llvm::enumerate(getNames(kind))) {
    StringRef suffix = kind == kResult ? withoutResult(name) : StringRef(name);
    if (!suffix.consume_front(prefix))
      continue;
    // "state" stands for "state['w']", but not for "states". Nothing is left
    // of "result", which stands for all results.
    if (!prefix.empty() && !suffix.empty() && suffix.front() != '[' &&
        suffix.front() != '.')
      continue;
    matches.indices.push_back(i);
    matches.suffixes.push_back(suffix.str());
  }
  return matches;
}

FailureOr<StepValues::Matches> StepValues::match(Location loc, StringRef option,
                                                 StringRef text,
                                                 Kind kind) const {
  auto [first, last] = text.split('-');
  if (isPosition(first) && (!text.contains('-') || isPosition(last)))
    return matchPositions(loc, option, text, kind);
  Matches matches = matchNames(text, kind);
  if (matches.indices.empty())
    return emitUnknown(loc, option, text, kind);
  return matches;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Returns an element of `all` that `others` lacks, or "".
static StringRef findMissing(ArrayRef<std::string> all,
                             ArrayRef<std::string> others) {
  for (const std::string &suffix : all)
    if (!llvm::is_contained(others, suffix))
      return suffix;
  return "";
}

LogicalResult StepValues::readPair(Location loc, StringRef text) {
  size_t colon = findOutside(text, ':');
  StringRef from = text.take_front(colon).trim();
  StringRef to =
      colon == StringRef::npos ? "" : text.drop_front(colon + 1).trim();
  if (from.empty() || to.empty())
    return mlir::emitError(loc)
           << "carry: expected ARGUMENTS:RESULTS, or 'none' alone, got '"
           << text << "'" << Tag(ErrorId::kStepValues);
  FailureOr<Matches> takers = match(loc, "carry", from, kArgument);
  if (failed(takers))
    return failure();
  FailureOr<Matches> taken = match(loc, "carry", to, kResult);
  if (failed(taken))
    return failure();
  size_t count = takers->indices.size();
  if (count != taken->indices.size()) {
    InFlightDiagnostic error = mlir::emitError(loc);
    error << "carry: '" << from << "' stands for " << count << " argument"
          << (count == 1 ? "" : "s") << ", but '" << to << "' for "
          << taken->indices.size() << " result"
          << (taken->indices.size() == 1 ? "" : "s");
    bool areNamed = !takers->suffixes.empty() && !taken->suffixes.empty();
    StringRef argument =
        areNamed ? findMissing(takers->suffixes, taken->suffixes) : "";
    StringRef result =
        areNamed ? findMissing(taken->suffixes, takers->suffixes) : "";
    if (!argument.empty())
      error << "; no result belongs to '" << from << argument << "'";
    else if (!result.empty())
      error << "; no argument belongs to '" << to << result << "'";
    error << Tag(ErrorId::kStepValues);
    return error;
  }
  // Names that end alike belong together, in whatever order they come.
  bool endAlike = !takers->suffixes.empty() && !taken->suffixes.empty() &&
                  findMissing(takers->suffixes, taken->suffixes).empty() &&
                  findMissing(taken->suffixes, takers->suffixes).empty();
  for (size_t i = 0; i < count; ++i) {
    size_t at = i;
    if (endAlike)
      at = llvm::find(taken->suffixes, takers->suffixes[i]) -
           taken->suffixes.begin();
    unsigned argument = takers->indices[i], result = taken->indices[at];
    if (carried[argument])
      return mlir::emitError(loc)
             << "carry: argument '" << arguments[argument]
             << "' is named twice, for results '" << results[*carried[argument]]
             << "' and '" << results[result] << "'"
             << Tag(ErrorId::kStepValues);
    auto other = llvm::find(carried, std::optional<unsigned>(result));
    if (other != carried.end())
      return mlir::emitError(loc)
             << "carry: result '" << results[result]
             << "' is named twice, for arguments '"
             << arguments[other - carried.begin()] << "' and '"
             << arguments[argument] << "'" << Tag(ErrorId::kStepValues);
    carried[argument] = result;
  }
  return success();
}

LogicalResult StepValues::readCarry(Location loc, StringRef text) {
  if (text.trim().empty() || text.trim() == "none")
    return success();
  for (StringRef pair : splitList(text))
    if (failed(readPair(loc, pair)))
      return failure();
  return success();
}

LogicalResult StepValues::readStepped(Location loc, StringRef text) {
  if (text.trim().empty())
    return success();
  for (StringRef item : splitList(text)) {
    // A name that no argument has may be that of results.
    auto [first, last] = item.split('-');
    bool isResult = !isPosition(first) &&
                    matchNames(item, kArgument).indices.empty() &&
                    !matchNames(item, kResult).indices.empty();
    FailureOr<Matches> matches =
        match(loc, "stepped", item, isResult ? kResult : kArgument);
    if (failed(matches))
      return failure();
    for (unsigned index : matches->indices) {
      if (!isResult && carried[index])
        return mlir::emitError(loc)
               << "stepped: argument '" << arguments[index]
               << "' is carried from result '" << results[*carried[index]]
               << "', so it has no value for each step"
               << Tag(ErrorId::kStepValues);
      bool &isStepped =
          isResult ? steppedResults[index] : steppedArguments[index];
      if (isStepped)
        return mlir::emitError(loc)
               << "stepped: '"
               << getNames(isResult ? kResult : kArgument)[index]
               << "' is named twice" << Tag(ErrorId::kStepValues);
      isStepped = true;
    }
  }
  return success();
}

LogicalResult StepValues::read(Location loc, StringRef carry,
                               StringRef stepped) {
  carried.assign(arguments.size(), std::nullopt);
  steppedArguments.assign(arguments.size(), false);
  steppedResults.assign(results.size(), false);
  return failure(failed(readCarry(loc, carry)) ||
                 failed(readStepped(loc, stepped)));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

LogicalResult
StepValues::unifyTypes(Location loc, TypeRange argumentTensors,
                       TypeRange resultTensors,
                       MutableArrayRef<Type> wantedArguments,
                       MutableArrayRef<Type> wantedResults) const {
  for (auto [argument, result] : llvm::enumerate(carried)) {
    if (!result)
      continue;
    auto emitDiffer = [&](Type got, Type taken) {
      return mlir::emitError(loc)
             << "carry: argument '" << arguments[argument] << "' has type "
             << got << ", but result '" << results[*result]
             << "', which it takes in the next step, has type " << taken
             << Tag(ErrorId::kStepValues);
    };
    if (argumentTensors[argument] != resultTensors[*result])
      return emitDiffer(argumentTensors[argument], resultTensors[*result]);
    Type &wanted = wantedArguments[argument], &taken = wantedResults[*result];
    if (wanted && taken && wanted != taken)
      return emitDiffer(wanted, taken);
    if (!wanted)
      wanted = taken;
    taken = wanted;
  }
  return success();
}

void StepValues::addArgumentAttrs(Builder &b, unsigned index,
                                  NamedAttrList &attrs) const {
  if (index >= carried.size())
    return;
  if (std::optional<unsigned> result = carried[index])
    attrs.set(PathwaysDialect::kCarriedAttrName, b.getI64IntegerAttr(*result));
  if (steppedArguments[index])
    attrs.set(PathwaysDialect::kSteppedAttrName, b.getUnitAttr());
}

void StepValues::addResultAttrs(Builder &b, unsigned index,
                                NamedAttrList &attrs) const {
  if (steppedResults[index])
    attrs.set(PathwaysDialect::kSteppedAttrName, b.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Donated arguments
//===----------------------------------------------------------------------===//

/// Writes pairs of positions, in increasing order of the arguments, as the
/// option `carry` has them.
static std::string getCarryText(ArrayRef<std::pair<unsigned, unsigned>> pairs) {
  auto getRange = [](unsigned first, size_t size) {
    std::string text = std::to_string(first);
    return size == 1 ? text : text + "-" + std::to_string(first + size - 1);
  };
  std::string text;
  for (size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    auto [argument, result] = pairs[begin];
    for (end = begin + 1; end < pairs.size(); ++end)
      if (pairs[end].first != argument + (end - begin) ||
          pairs[end].second != result + (end - begin))
        break;
    text += (begin == 0 ? "" : ",") + getRange(argument, end - begin) + ":" +
            getRange(result, end - begin);
  }
  return text;
}

DonatedArguments mlir::pathways::findDonatedArguments(ModuleOp module) {
  DonatedArguments donated;
  auto entry = module.lookupSymbol<func::FuncOp>("main");
  if (!entry || entry.isExternal())
    return donated;
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  llvm::DenseSet<int64_t> taken;
  for (unsigned i = 0, e = entry.getNumArguments(); i != e; ++i) {
    auto alias = entry.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (!alias && !entry.getArgAttr(i, "jax.buffer_donor"))
      continue;
    if (donated.count++ == 0)
      donated.first = i;
    int64_t result = alias ? alias.getInt() : -1;
    if (result >= 0 && result < entry.getNumResults() &&
        entry.getArgumentTypes()[i] == entry.getResultTypes()[result] &&
        taken.insert(result).second)
      pairs.emplace_back(i, result);
  }
  donated.carry = getCarryText(pairs);
  return donated;
}
