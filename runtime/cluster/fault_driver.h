//===- fault_driver.h - Injection of scheduled faults -----------*- C++ -*-===//
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

// Injects the faults of a schedule into a simulation, at their times.
// Invariants: (1) what happens is a function of the schedule, the seed and the
// history; (2) events that end a fault keep a simulation running, those that
// begin one do not; (3) a host that is down is not hit again before it is up.
// It is an actor at the controller's place, which no message of the cluster
// reaches.
class FaultDriver final : public Actor {
 public:
  // Applies faults to hosts and clients. Called in handlers of the driver.
  class Hosts {
   public:
    virtual ~Hosts() = default;
    virtual bool is_up(int32_t host) const = 0;
    // Stops a host permanently. Its peers are notified after `tell_after`, or
    // never if that is negative.
    virtual void Stop(int32_t host, TimeNs tell_after) = 0;
    // Notifies peers that a host, which is suspended, is gone.
    virtual void TakeForGone(int32_t host) = 0;
    // Starts the next epoch of a host.
    virtual void Restart(int32_t host) = 0;
    virtual void LimitMemory(int32_t host, uint64_t bytes) = 0;
    // Sets which accesses fail from now on; neither: the disk works.
    virtual void FailDisk(int32_t host, bool writes, bool reads) = 0;
    virtual void ClientDies(const std::string& client) = 0;
    // Returns the places of the clients of a name for which NamesClients() is
    // true; none if they are at the controller's place.
    virtual std::vector<int32_t> PlacesOfClients(
        const std::string& name) const = 0;
    // Ends the connection between the controller and the clients of a place.
    virtual void Disconnect(int32_t place) = 0;
  };

  // A fault that has begun.
  struct Event {
    TimeNs begin = 0;
    TimeNs end = 0;  // kFarAway: never ends
    const proto::Fault* fault = nullptr;
    std::vector<int32_t> hosts;  // places that it hit; none: any place
  };

  // Registers itself with `world`. `schedule` was checked; `world` and `hosts`
  // outlive the driver.
  FaultDriver(SimWorld* world, Hosts* hosts, Topology topology,
              proto::FaultSchedule schedule, uint64_t seed);

  // Called by the simulation's hook before_control.
  void BeforeControl(uint64_t control);
  void OnLocal(const LocalMessage& message) override;

  // Begins no more faults. Those that have begun still end.
  void Stop() { stopped_ = true; }

  // Returns the faults in the order in which they began.
  const std::vector<Event>& events() const { return events_; }

 private:
  enum Kind : uint16_t { kBegin, kHazard, kEnd, kRestart };

  TimeNs Ns(double seconds) const;
  void At(TimeNs delay, Kind kind, uint32_t item, bool background);
  void DrawNext(uint32_t hazard);
  void Begin(const proto::Fault& fault);
  void End(uint32_t event);
  // Returns the host of that name, or a random one if it is empty; -1 if it is
  // not up.
  int32_t HostOf(const std::string& name);
  // Adds the places of these names. Returns false if there are names but no
  // places.
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
  // State to undo at the end of an event, by event: number of a link fault, or
  // name of a device.
  std::vector<int> links_;
  std::vector<std::string> devices_;
  bool stopped_ = false;
  std::set<uint32_t> waiting_;  // faults that begin before a control message
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_FAULT_DRIVER_H_
