//===- fault_schedule.cc - Reader of fault schedules ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/faults/fault_schedule.h"

#include <sys/stat.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/proto/text_file.h"

namespace pathways {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr int64_t kMaxFaultsBytes = 1 << 20;
constexpr double kMaxSeconds = 1e9;
constexpr double kMaxRate = 1e15;
constexpr double kMaxFactor = 1e6;

// A message inside the schedule: its path, and the position of its text.
struct Part {
  const Message* message = nullptr;
  const TextFormat::ParseInfoTree* tree = nullptr;  // null if there is no text
  std::string path;                                 // "faults[0].crash."
};

// The places that a name may refer to.
enum Places { kHosts, kHostsAndClients, kAll };

class Checker {
 public:
  Checker(const Topology& topology, std::string name)
      : topology_(topology), name_(std::move(name)) {}

  absl::Status Check(const proto::FaultSchedule& schedule,
                     const TextFormat::ParseInfoTree* tree) {
    const Part whole{&schedule, tree, ""};
    Number(whole, "faster", schedule.faster(), 0, 1e15);
    for (int i = 0; i < schedule.faults_size(); ++i) {
      CheckFault(Inner(whole, "faults", i, schedule.faults(i)),
                 schedule.faults(i), /*drawn=*/false);
    }
    for (int i = 0; i < schedule.hazards_size(); ++i) {
      const proto::Hazard& hazard = schedule.hazards(i);
      const Part part = Inner(whole, "hazards", i, hazard);
      Number(part, "per_device_hour", hazard.per_device_hour(), 0, kMaxRate);
      Number(part, "per_host_hour", hazard.per_host_hour(), 0, kMaxRate);
      if (hazard.fault().when_case() != proto::Fault::WHEN_NOT_SET) {
        Fail(part, "fault", -1,
             "has a time, expected none: times are drawn from the rates");
      }
      CheckFault(Inner(part, "fault", -1, hazard.fault()), hazard.fault(),
                 /*drawn=*/true);
    }
    return status_;
  }

 private:
  static const FieldDescriptor* Field(const Part& part, const char* name) {
    return part.message->GetDescriptor()->FindFieldByName(name);
  }

  Part Inner(const Part& part, const char* field, int index,
             const Message& message) {
    Part inner;
    inner.message = &message;
    if (part.tree != nullptr) {
      inner.tree = part.tree->GetTreeForNested(Field(part, field), index);
    }
    inner.path = index < 0 ? absl::StrCat(part.path, field, ".")
                           : absl::StrCat(part.path, field, "[", index, "].");
    return inner;
  }

  // Records an error. Only the first one is kept.
  void Fail(const Part& part, const char* field, int index,
            const std::string& what) {
    if (!status_.ok()) return;
    std::string where = name_;
    if (part.tree != nullptr) {
      const auto location = part.tree->GetLocation(Field(part, field), index);
      if (location.line >= 0) {
        absl::StrAppend(&where, ":", location.line + 1, ":",
                        location.column + 1);
      }
    }
    status_ = absl::InvalidArgumentError(
        absl::StrCat(where, ": ", part.path, field,
                     index < 0 ? "" : absl::StrCat("[", index, "]"), " ", what,
                     Tag(ErrorId::kWrongFaults)));
  }

  void Number(const Part& part, const char* field, double value, double least,
              double most) {
    if (value >= least && value <= most) return;
    Fail(part, field, -1,
         absl::StrCat("is ", value, ", expected ", least, " to ", most));
  }
  void Seconds(const Part& part, const char* field, double value) {
    Number(part, field, value, 0, kMaxSeconds);
  }
  void Factor(const Part& part, const char* field, double value, bool needed) {
    if (value == 0 && !needed) return;
    Number(part, field, value, 1, kMaxFactor);
  }

  void Host(const Part& part, const char* field, int index,
            const std::string& name, bool drawn, Places places) {
    if (name.empty() && drawn) return;
    if (places != kHosts && NamesClients(name)) return;
    const std::optional<int32_t> host = FindHost(topology_, name);
    if (host.has_value() && (*host >= 0 || places == kAll)) return;
    const int last = topology_.num_hosts() - 1;
    Fail(part, field, index,
         absl::StrCat("is ", QuotedWord(name), ", expected ",
                      places == kAll ? "'controller', " : "",
                      places != kHosts ? "'clients', 'client:NAME' or " : "",
                      "a host of ", last + 1, ": '", topology_.HostName(0),
                      last == 0 ? "" : "' ... '",
                      last == 0 ? "" : topology_.HostName(last), "'"));
  }
  template <typename M>
  void Sets(const Part& part, const M& between) {
    for (int i = 0; i < between.some_size(); ++i) {
      Host(part, "some", i, between.some(i), false, kAll);
    }
    for (int i = 0; i < between.others_size(); ++i) {
      Host(part, "others", i, between.others(i), false, kAll);
    }
  }
  void Rates(const Part& part, const char* field,
             const proto::MessageRates& rates) {
    const Part inner = Inner(part, field, -1, rates);
    Number(inner, "drop", rates.drop(), 0, 1);
    Number(inner, "duplicate", rates.duplicate(), 0, 1);
    Number(inner, "delay", rates.delay(), 0, 1);
    Number(inner, "reorder", rates.reorder(), 0, 1);
    Seconds(inner, "max_extra_seconds", rates.max_extra_seconds());
  }

  void CheckFault(const Part& part, const proto::Fault& fault, bool drawn) {
    Seconds(part, "at_seconds", fault.at_seconds());
    Seconds(part, "for_seconds", fault.for_seconds());
    switch (fault.what_case()) {
      case proto::Fault::kCrash: {
        const Part what = Inner(part, "crash", -1, fault.crash());
        Host(what, "host", -1, fault.crash().host(), drawn, kHosts);
        Seconds(what, "noticed_after_seconds",
                fault.crash().noticed_after_seconds());
        Seconds(what, "restart_after_seconds",
                fault.crash().restart_after_seconds());
        return;
      }
      case proto::Fault::kPause: {
        const Part what = Inner(part, "pause", -1, fault.pause());
        Host(what, "host", -1, fault.pause().host(), drawn, kHostsAndClients);
        Seconds(what, "restart_after_seconds",
                fault.pause().restart_after_seconds());
        return;
      }
      case proto::Fault::kSlowDevice: {
        const Part what = Inner(part, "slow_device", -1, fault.slow_device());
        Factor(what, "factor", fault.slow_device().factor(), true);
        const std::string& name = fault.slow_device().device();
        if ((name.empty() && drawn) || FindDevice(topology_, name)) return;
        return Fail(what, "device", -1,
                    absl::StrCat("is ", QuotedWord(name),
                                 ", expected a device, such as '",
                                 topology_.DeviceName(0, 0), "'"));
      }
      case proto::Fault::kSlowLink: {
        const Part what = Inner(part, "slow_link", -1, fault.slow_link());
        Sets(what, fault.slow_link());
        Factor(what, "latency_factor", fault.slow_link().latency_factor(),
               false);
        return Factor(what, "bandwidth_factor",
                      fault.slow_link().bandwidth_factor(), false);
      }
      case proto::Fault::kBadLink: {
        const Part what = Inner(part, "bad_link", -1, fault.bad_link());
        Sets(what, fault.bad_link());
        Rates(what, "messages", fault.bad_link().messages());
        return Rates(what, "controls", fault.bad_link().controls());
      }
      case proto::Fault::kPartition: {
        const Part what = Inner(part, "partition", -1, fault.partition());
        return Sets(what, fault.partition());
      }
      case proto::Fault::kFullStore: {
        const Part what = Inner(part, "full_store", -1, fault.full_store());
        return Host(what, "host", -1, fault.full_store().host(), drawn, kHosts);
      }
      case proto::Fault::kBadDisk: {
        const Part what = Inner(part, "bad_disk", -1, fault.bad_disk());
        Host(what, "host", -1, fault.bad_disk().host(), drawn, kHosts);
        if (fault.bad_disk().writes_fail() || fault.bad_disk().reads_fail()) {
          return;
        }
        return Fail(what, "host", -1,
                    "has a bad disk on which nothing fails, expected "
                    "writes_fail or reads_fail");
      }
      case proto::Fault::kClientDeath: {
        const Part what = Inner(part, "client_death", -1, fault.client_death());
        if (!fault.client_death().client().empty()) return;
        return Fail(what, "client", -1, "is '', expected a client's name");
      }
      case proto::Fault::WHAT_NOT_SET:
        return Fail(part, "for_seconds", -1,
                    "belongs to a fault without an effect, expected one of "
                    "crash, pause, slow_device, slow_link, bad_link, "
                    "partition, full_store, bad_disk, client_death");
    }
  }

  const Topology& topology_;
  const std::string name_;
  absl::Status status_;
};

}  // namespace

bool NamesClients(const std::string& name) {
  return name == kClientsName || (absl::StartsWith(name, kClientPrefix) &&
                                  name.size() > sizeof(kClientPrefix) - 1);
}

std::optional<int32_t> FindHost(const Topology& topology,
                                const std::string& name) {
  if (name == kControllerName) return -1;
  for (int h = 0; h < topology.num_hosts(); ++h) {
    if (topology.HostName(h) == name) return h;
  }
  return std::nullopt;
}

std::optional<Topology::Place> FindDevice(const Topology& topology,
                                          const std::string& name) {
  for (int i = 0; i < topology.num_islands(); ++i) {
    for (int64_t d = 0; d < topology.num_devices(i); ++d) {
      if (topology.DeviceName(i, d) == name) return topology.Locate(i, d);
    }
  }
  return std::nullopt;
}

absl::Status CheckFaults(const proto::FaultSchedule& schedule,
                         const std::string& name, const Topology& topology) {
  return Checker(topology, name).Check(schedule, nullptr);
}

absl::StatusOr<proto::FaultSchedule> ParseFaults(const std::string& text,
                                                 const std::string& name,
                                                 const Topology& topology) {
  proto::FaultSchedule schedule;
  // This pass reports errors with line and column; the second only looks up
  // locations.
  absl::Status read = ParseText(text, name, &schedule);
  if (!read.ok()) return read;
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(text, &schedule)) {
    return absl::InternalError(absl::StrCat(name, " was read only once"));
  }
  absl::Status checked = Checker(topology, name).Check(schedule, &tree);
  if (!checked.ok()) return checked;
  return schedule;
}

std::string FaultsPath(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find('*'));
  for (const auto& [preset, text] : FaultPresets()) {
    if (preset == name) return "";
  }
  return spec;
}

absl::StatusOr<proto::FaultSchedule> ReadFaults(const std::string& spec,
                                                const Topology& topology) {
  const size_t star = spec.find('*');
  const std::string name = spec.substr(0, star);
  for (const auto& [preset, text] : FaultPresets()) {
    if (preset != name) continue;
    double faster = 1;
    if (star != std::string::npos &&
        (!absl::SimpleAtod(spec.substr(star + 1), &faster) ||
         !(faster > 0 && faster <= 1e15))) {
      return absl::InvalidArgumentError(
          absl::StrCat("the factor of preset '", preset, "' is ",
                       QuotedWord(spec.substr(star + 1)),
                       ", expected a number above 0 and at most 1e15"));
    }
    absl::StatusOr<proto::FaultSchedule> schedule =
        ParseFaults(text, absl::StrCat("preset '", preset, "'"), topology);
    if (schedule.ok()) schedule->set_faster(faster);
    return schedule;
  }
  absl::StatusOr<std::string> text =
      ReadTextFile("file of faults", spec, kMaxFaultsBytes);
  if (!text.ok()) {
    if (!absl::IsNotFound(text.status())) return text.status();
    std::vector<std::string> names;
    for (const auto& [preset, ignored] : FaultPresets()) {
      names.push_back(preset);
    }
    return absl::NotFoundError(
        absl::StrCat(text.status().message(),
                     "; the name is not a preset either, presets are ",
                     absl::StrJoin(names, ", "), Tag(ErrorId::kNoSuchFaults)));
  }
  return ParseFaults(*text, spec, topology);
}

}  // namespace pathways
