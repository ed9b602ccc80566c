//===- planted_bugs.h - Bugs to be found ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_PLANTED_BUGS_H_
#define UNITTESTS_RUNTIME_SIMULATE_PLANTED_BUGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/protocol/directory.h"
#include "runtime/topology/topology.h"
#include "runtime/world/sim_world.h"

namespace pathways::simulate {

// Islands grant in the order of arrival (ClusterOptions::ticket_order).
inline constexpr char kTicketOrderBug[] = "ticket-order";
// Requests of a client are not ordered: this shows only where clients have
// links of their own.
inline constexpr char kAsTheyComeBug[] = "as-they-come";

// Makes a cluster behave as if one line of it were wrong, by changing what its
// actors hear: as they would act without the check that the bug is named for.
class PlantedBugs {
 public:
  // All names, and what is wrong.
  static const std::vector<std::pair<std::string, std::string>>& All();

  static bool Has(const std::string& name);

  // Empty: none.
  explicit PlantedBugs(const std::string& name) : name_(name) {}
  void Start(const SimWorld* world, const Topology* topology);
  // SimOptions::mutation.
  int Change(SimDelivery& delivery);

 private:
  int ChangeWire(SimDelivery& delivery);
  int ChangeLocal(SimDelivery& delivery);
  int ChangeControl(SimDelivery& delivery);
  bool OneIn(uint64_t n) { return ++count_ % n == 0; }

  const std::string name_;
  const SimWorld* world_ = nullptr;
  uint64_t count_ = 0;
  std::set<std::tuple<LocalId, LocalId, uint64_t>> seen_;
  std::map<int32_t, uint32_t> lives_;  // the last that was heard of, by host
  // position of the last grant, by executor
  std::map<LocalId, uint64_t> places_;
  std::map<LocalId, uint64_t> argument_;  // object of the last launch
  std::map<LocalId, uint64_t> requests_;  // that came, by client
};

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_PLANTED_BUGS_H_
