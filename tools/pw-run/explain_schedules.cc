//===- explain_schedules.cc - Costs of schedules of a program -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/explain_schedules.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Returns milliseconds with all digits.
std::string Milliseconds(int64_t ns) {
  return absl::StrFormat("%d.%06d ms", ns / 1000000, ns % 1000000);
}

std::string TimesText(const std::vector<ScheduleCosts>& schedules) {
  Rows rows = {{"schedule", "step", "period", "bubble", "of period",
                "peak bytes", "ici bytes", "dcn bytes"}};
  for (const ScheduleCosts& row : schedules) {
    if (!row.fits()) continue;
    uint64_t peak = 0;
    bool is_overfull = false;
    for (const ScheduleDevice& device : row.devices) {
      peak = std::max(peak, device.peak_bytes);
      is_overfull |= device.peak_bytes > device.memory_bytes;
    }
    rows.push_back(
        {row.schedule, Milliseconds(row.step_ns), Milliseconds(row.period_ns),
         absl::StrFormat("%.4f", row.bubble),
         absl::StrFormat("%.4f", row.period_bubble), absl::StrCat(peak),
         absl::StrCat(row.ici_bytes), absl::StrCat(row.dcn_bytes)});
    if (is_overfull) rows.back().push_back("exceeds the memory of a device");
  }
  return rows.size() > 1 ? TableText(rows) : "no schedule fits\n";
}

bool IsAlike(const ScheduleDevice& a, const ScheduleDevice& b) {
  return a.peak_bytes == b.peak_bytes && a.memory_bytes == b.memory_bytes &&
         a.parameter_bytes == b.parameter_bytes &&
         a.kept_bytes == b.kept_bytes && a.arriving_bytes == b.arriving_bytes;
}

std::string DevicesText(const std::vector<ScheduleCosts>& schedules) {
  Rows rows = {{"schedule", "devices", "peak bytes", "of", "parameters", "kept",
                "arriving"}};
  for (const ScheduleCosts& row : schedules) {
    for (size_t first = 0; first < row.devices.size();) {
      const ScheduleDevice& device = row.devices[first];
      size_t next = first + 1;
      while (next < row.devices.size() && IsAlike(device, row.devices[next])) {
        ++next;
      }
      rows.push_back(
          {row.schedule,
           absl::StrCat(device.device,
                        next - first > 1
                            ? absl::StrCat(" to ", row.devices[next - 1].device)
                            : ""),
           absl::StrCat(device.peak_bytes), absl::StrCat(device.memory_bytes),
           absl::StrCat(device.parameter_bytes),
           absl::StrCat(device.kept_bytes),
           absl::StrCat(device.arriving_bytes)});
      first = next;
    }
  }
  return rows.size() > 1 ? absl::StrCat("\n", TableText(rows)) : "";
}

std::string MisfitsText(const std::vector<ScheduleCosts>& schedules) {
  Rows rows = {{"does not fit", "reason"}};
  for (const ScheduleCosts& row : schedules) {
    if (!row.fits()) rows.push_back({row.schedule, row.misfit});
  }
  return rows.size() > 1 ? absl::StrCat("\n", TableText(rows)) : "";
}

std::string EstimatesText(const std::vector<ScheduleCosts>& schedules) {
  std::vector<std::string> labels;
  for (const ScheduleCosts& row : schedules) {
    for (const std::string& label : row.estimated) {
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
        labels.push_back(label);
      }
    }
  }
  if (labels.empty()) return "";
  return absl::StrCat("\ntimes are estimated for ",
                      CountText(labels.size(), "label"), ", the first '",
                      labels[0],
                      "'; --cost=PATTERN=TIME or --profile=FILE give others\n");
}

}  // namespace

std::string SchedulesText(const std::vector<ScheduleCosts>& schedules) {
  return absl::StrCat(TimesText(schedules), DevicesText(schedules),
                      MisfitsText(schedules), EstimatesText(schedules));
}

}  // namespace pathways::pw_run
