//===- fault_driver.h - Does what a schedule of faults says -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_FAULT_DRIVER_H_
#define RUNTIME_CLUSTER_FAULT_DRIVER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runtime/proto/faults.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/world/mix.h"
#include "runtime/world/sim_world.h"

namespace pathways {

// Lets happen in a simulation what a schedule says, at its times. Invariants:
// (1) what happens is a function of the schedule, the seed and the history;
// (2) what ends a fault keeps a simulation going, what begins one does not;
// (3) a host that is down is not hit again before it is up. An actor of the
// controller's place, which no message of the cluster reaches.
class FaultDriver final : public Actor {
 public:
  // What a fault does to a host or a client, in a handler of this.
  class Hosts {
   public:
    virtual ~Hosts() = default;
    virtual bool is_up(int32_t host) const = 0;
    // For ever; others are told after that time, or not (negative).
    virtual void Stop(int32_t host, TimeNs tell_after) = 0;
    // It stands still, and others are told that it is gone.
    virtual void TakeForGone(int32_t host) = 0;
    // Its next life begins.
    virtual void Restart(int32_t host) = 0;
    virtual void LimitMemory(int32_t host, uint64_t bytes) = 0;
    // From now on; neither: it works.
    virtual void FailDisk(int32_t host, bool writes, bool reads) = 0;
    virtual void ClientDies(const std::string& client) = 0;
    // Of what NamesClients() is true of; none: they are where the controller
    // is.
    virtual std::vector<int32_t> PlacesOfClients(
        const std::string& name) const = 0;
    // The connection between the controller and who is there has ended.
    virtual void Disconnect(int32_t place) = 0;
  };

  // A fault that happened.
  struct Event {
    TimeNs begin = 0;
    TimeNs end = 0;  // kFarAway: does not end
    const proto::Fault* fault = nullptr;
    std::vector<int32_t> hosts;  // places that it hit; none: any
  };

  // Registers itself. `schedule` is checked, and `world` and `hosts` outlive
  // it.
  FaultDriver(SimWorld* world, Hosts* hosts, Topology topology,
              proto::FaultSchedule schedule, uint64_t seed);

  // In the simulation's hook of that name.
  void BeforeControl(uint64_t control);
  void OnLocal(const LocalMessage& message) override;

  // Nothing goes wrong any more but what has begun.
  void Stop() { stopped_ = true; }

  // In the order in which they began.
  const std::vector<Event>& events() const { return events_; }

 private:
  enum Kind : uint16_t { kBegin, kHazard, kEnd, kRestart };

  TimeNs Ns(double seconds) const;
  void At(TimeNs delay, Kind kind, uint32_t item, bool background);
  void DrawNext(uint32_t hazard);
  void Begin(const proto::Fault& fault);
  void End(uint32_t event);
  // The host of that name, or one that is drawn; -1: none is up.
  int32_t HostOf(const std::string& name);
  // The places of these names; whether there are any, or no names.
  bool FindPlaces(const google::protobuf::RepeatedPtrField<std::string>& names,
                  std::vector<int32_t>* places) const;
  // Adds an event that ends when the fault says.
  uint32_t Add(const proto::Fault& fault, std::vector<int32_t> hosts);

  void Crash(const proto::Fault& fault);
  void Pause(const proto::Fault& fault);
  void PauseClients(const proto::Fault& fault);
  void SlowDown(const proto::Fault& fault);
  void Spoil(const proto::Fault& fault);

  SimWorld& world_;
  Hosts& hosts_;
  const Topology topology_;
  const proto::FaultSchedule schedule_;
  SplitMix random_;
  std::vector<Event> events_;
  // What is to be undone at the end of an event, by event: a link's number, or
  // the name of a device.
  std::vector<int> links_;
  std::vector<std::string> devices_;
  bool stopped_ = false;
  std::set<uint32_t> waiting_;  // faults that begin before a control message
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_FAULT_DRIVER_H_
