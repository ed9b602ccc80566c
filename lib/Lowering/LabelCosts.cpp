//===- LabelCosts.cpp - Given costs of labelled calls ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LabelCosts.h"

#include "absl/time/time.h"
#include "runtime/plan/verify.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::pathways;

FailureOr<LabelCosts>
LabelCosts::parse(ArrayRef<std::string> texts,
                  function_ref<InFlightDiagnostic()> emitError) {
  LabelCosts result;
  for (StringRef text : texts) {
    auto [pattern, time] = text.rsplit('=');
    absl::Duration duration;
    if (pattern.empty() ||
        !absl::ParseDuration({time.data(), time.size()}, &duration))
      return emitError() << "cost '" << text
                         << "' is not a pattern of labels and a time, such as "
                            "*F=18.522ms";
    const absl::Duration most =
        absl::Nanoseconds(static_cast<int64_t>(::pathways::kMaxCostNs));
    if (duration < absl::ZeroDuration() || duration > most)
      return emitError() << "cost '" << text << "' is not between 0 and "
                         << absl::FormatDuration(most);
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob)
      return emitError() << "cost '" << text << "' has no valid pattern: "
                         << llvm::toString(glob.takeError());
    result.costs.push_back(
        {text, *std::move(glob),
         static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration))});
  }
  return result;
}

std::optional<uint64_t> LabelCosts::match(StringRef label) {
  std::optional<uint64_t> ns;
  for (Cost &cost : costs)
    if (cost.pattern.match(label)) {
      cost.isUsed = true;
      ns = cost.ns;
    }
  return ns;
}

std::optional<uint64_t> LabelCosts::find(StringRef label) {
  std::optional<uint64_t> whole = match(label);
  if (whole || !label.consume_back("B"))
    return whole;
  std::optional<uint64_t> first = match((label + "I").str()),
                          second = match((label + "W").str());
  if (!first || !second)
    return std::nullopt;
  return std::min(*first + *second, ::pathways::kMaxCostNs);
}

LogicalResult
LabelCosts::checkUse(function_ref<InFlightDiagnostic()> emitError) const {
  std::vector<std::string> unused = getUnused();
  if (unused.empty())
    return success();
  return emitError() << "cost '" << unused.front()
                     << "' fits the label of no call";
}

std::vector<std::string> LabelCosts::getUnused() const {
  std::vector<std::string> unused;
  for (const Cost &cost : costs)
    if (!cost.isUsed)
      unused.push_back(cost.text.str());
  return unused;
}
