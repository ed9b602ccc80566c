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
#include "tools/flags/closest.h"

namespace pathways::pw_run {
namespace {

// Most names listed in one message.
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

}  // namespace

std::vector<int64_t> Port::ShapeOver(int64_t steps) const {
  std::vector<int64_t> whole;
  if (stepped) whole.push_back(steps);
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

std::string Port::TypeOver(int64_t steps) const {
  std::string type = shapeString(element, ShapeOver(steps));
  if (!stepped) return type;
  return absl::StrCat(type, " (", steps, steps == 1 ? " step" : " steps",
                      " of ", shapeString(element, shape), ")");
}

Signature SignatureOf(const proto::Plan& plan) {
  Signature signature;
  for (int i = 0; i < plan.interface().arguments_size(); ++i) {
    const proto::Argument& argument = plan.interface().arguments(i);
    if (argument.has_constant()) continue;
    signature.arguments.push_back(
        PortOf(plan, argument.name(),
               plan.actions(argument.action()).results(0), argument.stepped()));
    signature.arguments.back().index = i;
  }
  for (const proto::Result& result : plan.interface().results()) {
    signature.results.push_back(
        PortOf(plan, result.name(), plan.actions(result.action()).operands(0),
               result.stepped()));
  }
  return signature;
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
  const std::string suggestion = flags::DidYouMean(name, names);
  if (!suggestion.empty()) {
    absl::StrAppend(&message, suggestion);
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
  if (elements >= 0 && elements <= limit / elementBytes(port.element)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", port.name, "' is ", port.TypeOver(steps),
      ", which is more than this machine's ", limit, " bytes of memory"));
}

}  // namespace pathways::pw_run
