//===- gang_order.h - One order of gangs on each island ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_GANG_ORDER_H_
#define UNITTESTS_RUNTIME_SIMULATE_GANG_ORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/world/sim_world.h"

namespace pathways::simulate {

// Looks at the grants that devices get: each device gets them in the order of
// their positions, and a position is the same firings of the same program on
// the whole island. So all members of a gang have one order of gangs.
class GangOrder {
 public:
  void Start(const SimWorld* world) { world_ = world; }
  void Observe(const SimEvent& event);
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  struct Range {
    uint32_t incarnation = 0;
    uint64_t first = 0, end = 0;
    bool operator==(const Range&) const = default;
  };

  const SimWorld* world_ = nullptr;
  std::map<std::pair<int32_t, uint64_t>, Range> places_;  // of an island
  std::map<LocalId, uint64_t> last_;                      // position, by device
  std::vector<std::string> wrong_;
};

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_GANG_ORDER_H_
