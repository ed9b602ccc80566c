//===- fault_driver.cc - Injection of scheduled faults --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/fault_driver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/faults/fault_schedule.h"

namespace pathways {
namespace {

FaultRates RatesOf(const proto::MessageRates& rates, TimeNs max_extra_ns) {
  FaultRates made;
  made.drop = rates.drop();
  made.duplicate = rates.duplicate();
  made.delay = rates.delay();
  made.reorder = rates.reorder();
  if (max_extra_ns > 0) made.max_extra_ns = max_extra_ns;
  return made;
}

}  // namespace

FaultDriver::FaultDriver(SimWorld* world, Hosts* hosts, Topology topology,
                         proto::FaultSchedule schedule, uint64_t seed)
    : world_(*world),
      hosts_(*hosts),
      topology_(std::move(topology)),
      schedule_(std::move(schedule)),
      random_(Mix(seed, 4)) {
  world_.Register(this, {-1, 0, -1}, "faults");
  for (int i = 0; i < schedule_.faults_size(); ++i) {
    const proto::Fault& fault = schedule_.faults(i);
    const uint32_t item = static_cast<uint32_t>(i);
    if (fault.has_at_control()) {
      waiting_.insert(item);
    } else {
      At(Ns(fault.at_seconds()), kBegin, item, /*background=*/true);
    }
  }
  for (int i = 0; i < schedule_.hazards_size(); ++i) {
    DrawNext(static_cast<uint32_t>(i));
  }
}

TimeNs FaultDriver::Ns(double seconds) const {
  const double faster = schedule_.faster() > 0 ? schedule_.faster() : 1;
  const double ns = std::ceil(seconds * 1e9 / faster);
  return ns >= static_cast<double>(kFarAway) ? kFarAway
                                             : static_cast<TimeNs>(ns);
}

void FaultDriver::At(TimeNs delay, Kind kind, uint32_t item, bool background) {
  LocalMessage message;
  message.kind = kind;
  message.item = item;
  if (background) message.flags = kBackground;
  world_.SendAfter(local_id(), local_id(), delay, message);
}

void FaultDriver::DrawNext(uint32_t hazard) {
  const proto::Hazard& drawn = schedule_.hazards(static_cast<int>(hazard));
  const double per_hour =
      drawn.per_device_hour() * static_cast<double>(topology_.num_devices()) +
      drawn.per_host_hour() * topology_.num_hosts();
  if (per_hour <= 0) return;
  const double uniform =
      static_cast<double>((random_.Next() >> 11) + 1) * 0x1p-53;
  At(Ns(-std::log(uniform) * 3600 / per_hour), kHazard, hazard,
     /*background=*/true);
}

void FaultDriver::BeforeControl(uint64_t control) {
  while (!waiting_.empty() && !stopped_) {
    const auto due =
        std::find_if(waiting_.begin(), waiting_.end(), [&](uint32_t item) {
          return schedule_.faults(static_cast<int>(item)).at_control() ==
                 control;
        });
    if (due == waiting_.end()) return;
    const int item = static_cast<int>(*due);
    waiting_.erase(due);
    Begin(schedule_.faults(item));
  }
}

void FaultDriver::OnLocal(const LocalMessage& message) {
  const int item = static_cast<int>(message.item);
  if (stopped_ && message.kind <= kHazard) return;
  switch (message.kind) {
    case kBegin:
      return Begin(schedule_.faults(item));
    case kHazard:
      Begin(schedule_.hazards(item).fault());
      return DrawNext(message.item);
    case kEnd:
      return End(message.item);
    case kRestart:
      return hosts_.Restart(item);
    default:
      return;
  }
}

int32_t FaultDriver::HostOf(const std::string& name) {
  if (!name.empty()) {
    const std::optional<int32_t> host = FindHost(topology_, name);
    return host.has_value() && *host >= 0 && hosts_.is_up(*host) ? *host : -1;
  }
  const int32_t host = static_cast<int32_t>(
      random_.UpTo(static_cast<uint64_t>(topology_.num_hosts()) - 1));
  return hosts_.is_up(host) ? host : -1;
}

bool FaultDriver::FindPlaces(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    std::vector<int32_t>* places) const {
  for (const std::string& name : names) {
    if (NamesClients(name)) {
      const std::vector<int32_t> some = hosts_.PlacesOfClients(name);
      places->insert(places->end(), some.begin(), some.end());
    } else {
      places->push_back(FindHost(topology_, name).value_or(-1));
    }
  }
  return names.empty() || !places->empty();
}

uint32_t FaultDriver::Add(const proto::Fault& fault,
                          std::vector<int32_t> hosts) {
  const uint32_t number = static_cast<uint32_t>(events_.size());
  Event event;
  event.begin = world_.Now();
  event.end = kFarAway;
  event.fault = &fault;
  event.hosts = std::move(hosts);
  if (fault.for_seconds() > 0) {
    const TimeNs lasts = Ns(fault.for_seconds());
    event.end = Later(event.begin, lasts);
    At(lasts, kEnd, number, /*background=*/false);
  }
  events_.push_back(std::move(event));
  links_.resize(events_.size());
  devices_.resize(events_.size());
  return number;
}

void FaultDriver::Begin(const proto::Fault& fault) {
  switch (fault.what_case()) {
    case proto::Fault::kCrash:
      return Crash(fault);
    case proto::Fault::kPause:
      return Pause(fault);
    case proto::Fault::kSlowDevice:
      return SlowDown(fault);
    case proto::Fault::kSlowLink:
    case proto::Fault::kBadLink:
    case proto::Fault::kPartition:
      return Spoil(fault);
    case proto::Fault::kFullStore: {
      const int32_t host = HostOf(fault.full_store().host());
      if (host < 0) return;
      Add(fault, {host});
      return hosts_.LimitMemory(host, fault.full_store().bytes());
    }
    case proto::Fault::kBadDisk: {
      const proto::BadDisk& disk = fault.bad_disk();
      const int32_t host = HostOf(disk.host());
      if (host < 0) return;
      Add(fault, {host});
      return hosts_.FailDisk(host, disk.writes_fail(), disk.reads_fail());
    }
    case proto::Fault::kClientDeath:
      Add(fault, {});
      return hosts_.ClientDies(fault.client_death().client());
    case proto::Fault::WHAT_NOT_SET:
      return;
  }
}

void FaultDriver::Crash(const proto::Fault& fault) {
  const proto::HostCrash& crash = fault.crash();
  const int32_t host = HostOf(crash.host());
  if (host < 0) return;
  Add(fault, {host});
  hosts_.Stop(host, crash.unnoticed() ? -1 : Ns(crash.noticed_after_seconds()));
  if (crash.restart_after_seconds() <= 0) return;
  At(Ns(crash.restart_after_seconds()), kRestart, static_cast<uint32_t>(host),
     /*background=*/false);
}

void FaultDriver::Pause(const proto::Fault& fault) {
  const proto::HostPause& pause = fault.pause();
  if (NamesClients(pause.host())) return PauseClients(fault);
  const int32_t host = HostOf(pause.host());
  if (host < 0) return;
  Add(fault, {host});
  world_.SuspendHost(host);
  if (!pause.taken_for_gone()) return;
  hosts_.TakeForGone(host);
  if (pause.restart_after_seconds() <= 0) return;
  At(Ns(pause.restart_after_seconds()), kRestart, static_cast<uint32_t>(host),
     /*background=*/false);
}

void FaultDriver::PauseClients(const proto::Fault& fault) {
  const std::vector<int32_t> places =
      hosts_.PlacesOfClients(fault.pause().host());
  if (places.empty()) return;
  Add(fault, places);
  for (int32_t place : places) {
    world_.SuspendHost(place);
    if (fault.pause().taken_for_gone()) hosts_.Disconnect(place);
  }
}

void FaultDriver::SlowDown(const proto::Fault& fault) {
  std::string name = fault.slow_device().device();
  if (name.empty()) {
    const auto [island, device] =
        topology_.FromGlobalDevice(static_cast<int64_t>(
            random_.UpTo(static_cast<uint64_t>(topology_.num_devices()) - 1)));
    name = topology_.DeviceName(island, device);
  }
  const uint32_t number = Add(
      fault, {FindDevice(topology_, name).value_or(Topology::Place()).host});
  world_.SlowDown(name, fault.slow_device().factor());
  devices_[number] = name;
}

void FaultDriver::Spoil(const proto::Fault& fault) {
  LinkFault link;
  bool is_any = true;
  const auto between = [&](const auto& sets) {
    is_any = FindPlaces(sets.some(), &link.some) &&
             FindPlaces(sets.others(), &link.others);
  };
  if (fault.has_slow_link()) {
    between(fault.slow_link());
    link.latency_factor = std::max(1.0, fault.slow_link().latency_factor());
    link.wire_factor = std::max(1.0, fault.slow_link().bandwidth_factor());
  } else if (fault.has_bad_link()) {
    between(fault.bad_link());
    const proto::MessageRates& messages = fault.bad_link().messages();
    const proto::MessageRates& controls = fault.bad_link().controls();
    link.messages = RatesOf(messages, Ns(messages.max_extra_seconds()));
    link.controls = RatesOf(controls, Ns(controls.max_extra_seconds()));
  } else {
    between(fault.partition());
    // A partition that never ends never delivers the messages that it holds, so
    // it loses them.
    link.cut = fault.partition().loses() || fault.for_seconds() <= 0
                   ? LinkFault::kLoses
                   : LinkFault::kHolds;
  }
  if (!is_any) return;
  const uint32_t number = Add(fault, link.some);
  link.until = events_[number].end;
  for (int32_t place : hosts_.PlacesOfClients(kClientsName)) {
    if (link.Parts(place, -1)) hosts_.Disconnect(place);
  }
  links_[number] = world_.Begin(std::move(link));
}

void FaultDriver::End(uint32_t number) {
  const Event& event = events_[number];
  switch (event.fault->what_case()) {
    case proto::Fault::kPause:
      for (int32_t place : event.hosts) world_.ResumeHost(place);
      return;
    case proto::Fault::kSlowDevice:
      return world_.SlowDown(devices_[number], 1);
    case proto::Fault::kSlowLink:
    case proto::Fault::kBadLink:
    case proto::Fault::kPartition:
      return world_.End(links_[number]);
    case proto::Fault::kFullStore:
      if (!hosts_.is_up(event.hosts.front())) return;
      return hosts_.LimitMemory(event.hosts.front(), UINT64_MAX);
    case proto::Fault::kBadDisk:
      if (!hosts_.is_up(event.hosts.front())) return;
      return hosts_.FailDisk(event.hosts.front(), false, false);
    default:
      return;
  }
}

}  // namespace pathways
