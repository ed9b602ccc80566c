//===- draw_faults.cc - Faults at random ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/draw_faults.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/faults/fault_schedule.h"

namespace pathways::simulate {
namespace {

using proto::Fault;

// Span of faults in virtual time: most scenarios end after one to three
// milliseconds.
constexpr uint64_t kSpanNs = 1'500'000;

class FaultDrawing {
 public:
  FaultDrawing(const Topology& topology, SplitMix* random, Scenario* scenario)
      : topology_(topology), random_(*random), scenario_(*scenario) {}

  void Run() {
    for (uint64_t n = Below(3); n > 0; --n) Harmless();
    if (OneIn(2)) Harmless();
    if (!OneIn(5, 2)) return;
    for (uint64_t n = 1 + Below(2); n > 0; --n) Harmful();
  }

  void OfClients() {
    for (uint64_t n = 1 + Below(2); n > 0; --n) OfClient();
  }

  void Death(const std::string& client, uint64_t point) {
    Fault* death = scenario_.mutable_faults()->add_faults();
    death->mutable_client_death()->set_client(client);
    death->set_at_control(point);
    // Only hosts in processes of their own can be lost alone.
    const uint64_t when = Below(4);
    if (when == 0 || !scenario_.apart()) return;
    Fault* fault = scenario_.mutable_faults()->add_faults();
    if (when == 1) {
      fault->set_at_control(point + Below(20));
    } else {
      // The client has time to hear of it, and to do something about it.
      fault->set_at_control(point);
      death->set_at_control(point + Below(80));
    }
    proto::HostCrash* crash = fault->mutable_crash();
    crash->set_host(Host());
    if (OneIn(2)) crash->set_noticed_after_seconds(Seconds(0, 20'000));
    if (OneIn(3)) crash->set_restart_after_seconds(Seconds(1'000, 500'000));
  }

  void OfDisks() {
    Fault* fault = Add();
    if (OneIn(2)) Lasts(fault);
    proto::BadDisk* disk = fault->mutable_bad_disk();
    disk->set_host(Host());
    disk->set_writes_fail(OneIn(2));
    disk->set_reads_fail(!disk->writes_fail() || OneIn(3));
  }

 private:
  uint64_t Below(uint64_t bound) { return random_.UpTo(bound - 1); }
  bool OneIn(uint64_t n, uint64_t of = 1) { return Below(n) < of; }
  double Seconds(uint64_t least_ns, uint64_t most_ns) {
    return static_cast<double>(least_ns + random_.UpTo(most_ns - least_ns)) *
           1e-9;
  }
  std::string Host() {
    return topology_.HostName(
        static_cast<int>(Below(static_cast<uint64_t>(topology_.num_hosts()))));
  }

  Fault* Add() {
    Fault* fault = scenario_.mutable_faults()->add_faults();
    if (OneIn(3)) {
      fault->set_at_control(Below(150));
    } else {
      fault->set_at_seconds(Seconds(0, kSpanNs));
    }
    return fault;
  }
  void Lasts(Fault* fault) { fault->set_for_seconds(Seconds(1'000, 500'000)); }

  std::string Client() {
    if (OneIn(3)) return kClientsName;
    return absl::StrCat(kClientPrefix, Tenant());
  }
  std::string Tenant() {
    const int tenant = static_cast<int>(
        Below(static_cast<uint64_t>(scenario_.tenants_size())));
    return scenario_.tenants(tenant).name();
  }

  template <typename M>
  void WithClients(M* link) {
    link->add_some(Client());
    if (!OneIn(4)) link->add_others(kControllerName);
  }

  // Costs time, but for a connection that ends.
  void OfClient() {
    Fault* fault = Add();
    switch (Below(9)) {
      case 0:
      case 1:
      case 2: {
        if (OneIn(2)) Lasts(fault);
        WithClients(fault->mutable_bad_link());
        Jumble(fault->mutable_bad_link()->mutable_messages());
        Jumble(fault->mutable_bad_link()->mutable_controls());
        if (fault->bad_link().others_size() == 0) return;
        return fault->mutable_bad_link()->mutable_controls()->set_drop(
            OneIn(2) ? 0.2 : 0);
      }
      case 3:
      case 4: {
        Lasts(fault);
        return WithClients(fault->mutable_partition());
      }
      case 5: {
        if (OneIn(2)) Lasts(fault);
        WithClients(fault->mutable_slow_link());
        return fault->mutable_slow_link()->set_latency_factor(
            static_cast<double>(1 + Below(20)));
      }
      case 6:
      case 7: {
        Lasts(fault);
        return fault->mutable_pause()->set_host(Client());
      }
      default: {
        Lasts(fault);
        proto::Partition* partition = fault->mutable_partition();
        partition->add_some(absl::StrCat(kClientPrefix, Tenant()));
        partition->add_others(kControllerName);
        return partition->set_loses(true);
      }
    }
  }

  template <typename M>
  void Between(M* link) {
    if (OneIn(2)) return;
    link->add_some(Host());
    if (OneIn(2)) link->add_others(OneIn(2) ? kControllerName : Host());
  }
  void Jumble(proto::MessageRates* rates) {
    if (OneIn(2)) rates->set_duplicate(OneIn(2) ? 0.3 : 0.05);
    if (OneIn(2)) rates->set_delay(OneIn(2) ? 0.3 : 0.05);
    if (OneIn(2)) rates->set_reorder(OneIn(2) ? 0.3 : 0.05);
  }

  void Harmless() {
    switch (Below(6)) {
      case 0:
      case 1: {
        Fault* fault = Add();
        if (OneIn(2)) Lasts(fault);
        Between(fault->mutable_bad_link());
        Jumble(fault->mutable_bad_link()->mutable_messages());
        return Jumble(fault->mutable_bad_link()->mutable_controls());
      }
      case 2: {
        Fault* fault = Add();
        Lasts(fault);
        return fault->mutable_pause()->set_host(Host());
      }
      case 3: {
        Fault* fault = Add();
        if (OneIn(2)) Lasts(fault);
        const auto [island, device] =
            topology_.FromGlobalDevice(static_cast<int64_t>(
                Below(static_cast<uint64_t>(topology_.num_devices()))));
        fault->mutable_slow_device()->set_device(
            topology_.DeviceName(island, device));
        return fault->mutable_slow_device()->set_factor(
            static_cast<double>(2 + Below(50)));
      }
      case 4: {
        Fault* fault = Add();
        if (OneIn(2)) Lasts(fault);
        Between(fault->mutable_slow_link());
        fault->mutable_slow_link()->set_latency_factor(
            static_cast<double>(1 + Below(20)));
        return fault->mutable_slow_link()->set_bandwidth_factor(
            static_cast<double>(1 + Below(200)));
      }
      default: {
        Fault* fault = Add();
        Lasts(fault);
        return Between(fault->mutable_partition());
      }
    }
  }

  void Harmful() {
    Fault* fault = Add();
    // With a host of the controller's process its island's scheduler would go.
    const uint64_t kinds_of_hosts = 4;
    switch (scenario_.apart() ? Below(8)
                              : kinds_of_hosts + Below(8 - kinds_of_hosts)) {
      case 0:
      case 1:
      case 2: {
        proto::HostCrash* crash = fault->mutable_crash();
        crash->set_host(Host());
        if (OneIn(2)) crash->set_noticed_after_seconds(Seconds(0, 200'000));
        crash->set_unnoticed(OneIn(5));
        if (!OneIn(4)) {
          crash->set_restart_after_seconds(Seconds(1'000, 500'000));
        }
        return;
      }
      case 3: {
        Lasts(fault);
        proto::HostPause* pause = fault->mutable_pause();
        pause->set_host(Host());
        pause->set_taken_for_gone(true);
        return pause->set_restart_after_seconds(Seconds(1'000, 500'000));
      }
      case 4: {
        Lasts(fault);
        Between(fault->mutable_bad_link());
        proto::MessageRates* rates =
            OneIn(2) ? fault->mutable_bad_link()->mutable_messages()
                     : fault->mutable_bad_link()->mutable_controls();
        return rates->set_drop(OneIn(2) ? 0.3 : 0.02);
      }
      case 5: {
        Lasts(fault);
        Between(fault->mutable_partition());
        return fault->mutable_partition()->set_loses(true);
      }
      case 6: {
        if (OneIn(2)) Lasts(fault);
        fault->mutable_full_store()->set_host(Host());
        return fault->mutable_full_store()->set_bytes(Below(4'000));
      }
      default:
        return fault->mutable_client_death()->set_client(Tenant());
    }
  }

  const Topology& topology_;
  SplitMix& random_;
  Scenario& scenario_;
};

}  // namespace

void DrawFaults(const Topology& topology, SplitMix* random,
                Scenario* scenario) {
  FaultDrawing(topology, random, scenario).Run();
}

void DrawClientFaults(const Topology& topology, SplitMix* random,
                      Scenario* scenario) {
  FaultDrawing(topology, random, scenario).OfClients();
}

void AddDeath(const Topology& topology, const std::string& client,
              uint64_t point, SplitMix* random, Scenario* scenario) {
  FaultDrawing(topology, random, scenario).Death(client, point);
}

void DrawDiskFaults(const Topology& topology, SplitMix* random,
                    Scenario* scenario) {
  FaultDrawing(topology, random, scenario).OfDisks();
}

}  // namespace pathways::simulate
