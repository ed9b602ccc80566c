//===- signature.cc - Arguments and results of a program ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/signature.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/npy.h"

namespace pathways::pw_run {
namespace {

// Names listed in one message.
constexpr size_t kMaxListed = 16;

Port PortOf(const proto::Plan& plan, const std::string& name, uint32_t buffer,
            bool stepped) {
  const proto::Layout& layout = plan.layouts(plan.buffers(buffer).layout());
  Port port;
  port.name = name;
  port.element = static_cast<ElementType>(layout.element());
  port.shape.assign(layout.shape().begin(), layout.shape().end());
  port.stepped = stepped;
  return port;
}

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<int64_t> Port::ShapeOver(int64_t steps) const {
  std::vector<int64_t> whole;
  if (stepped) whole.push_back(steps);
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

std::string Port::TypeOver(int64_t steps) const {
  std::string type = ShapeString(element, ShapeOver(steps));
  if (!stepped) return type;
  return absl::StrCat(type, " (", steps, steps == 1 ? " step" : " steps",
                      " of ", ShapeString(element, shape), ")");
}

Signature SignatureOf(const proto::Plan& plan) {
  Signature signature;
  for (const proto::Argument& argument : plan.interface().arguments()) {
    signature.arguments.push_back(
        PortOf(plan, argument.name(),
               plan.actions(argument.action()).results(0), argument.stepped()));
  }
  for (const proto::Result& result : plan.interface().results()) {
    signature.results.push_back(
        PortOf(plan, result.name(), plan.actions(result.action()).operands(0),
               result.stepped()));
  }
  return signature;
}

std::string Closest(absl::string_view name,
                    const std::vector<std::string>& names) {
  // Names come from a file, and the distance is quadratic.
  constexpr size_t kMaxLength = 256;
  std::string closest;
  if (name.size() > kMaxLength) return closest;
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string& candidate : names) {
    if (candidate.size() > kMaxLength) continue;
    size_t distance = EditDistance(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      closest = candidate;
    }
  }
  return closest;
}

absl::StatusOr<size_t> FindPort(const std::vector<Port>& ports,
                                absl::string_view name,
                                absl::string_view what) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
    names.push_back(ports[i].name);
  }
  std::string message =
      absl::StrCat("the program has no ", what, " '", name, "'");
  std::string closest = Closest(name, names);
  if (!closest.empty()) {
    absl::StrAppend(&message, "; did you mean '", closest, "'?");
  } else if (names.empty()) {
    absl::StrAppend(&message, "; it has none");
  } else {
    size_t shown = std::min(names.size(), kMaxListed);
    absl::StrAppend(&message, "; it has ",
                    absl::StrJoin(names.begin(), names.begin() + shown, ", "),
                    shown < names.size()
                        ? absl::StrCat(" and ", names.size() - shown, " more")
                        : "");
  }
  return absl::InvalidArgumentError(message);
}

int64_t MaxArrayBytes() {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return int64_t{1} << 32;
  return pages * page;
}

absl::Status CheckSize(const Port& port, int64_t steps) {
  std::vector<int64_t> shape = port.ShapeOver(steps);
  int64_t limit = MaxArrayBytes();
  int64_t elements = CheckedElements(port.element, shape);
  if (elements >= 0 && elements <= limit / ElementBytes(port.element)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", port.name, "' is ", port.TypeOver(steps),
      ", which is more than this machine's ", limit, " bytes of memory"));
}

}  // namespace pathways::pw_run
