//===- report_collection.h - Reports of all processes -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_REPORT_COLLECTION_H_
#define RUNTIME_CLIENT_REPORT_COLLECTION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/proto/control.pb.h"
#include "runtime/world/world.h"

namespace pathways {

// Answers of all processes to one question. Each may come in parts, in any
// order, and twice. A process that is gone before all its parts have come, as
// an answer of no parts says, has no answer. One owner calls it.
class ReportCollection {
 public:
  // Sets how many processes answer, and when the controller asked them, by its
  // clock.
  void Expect(uint32_t processes, TimeNs asked) {
    processes_ = processes;
    asked_ = asked;
  }
  TimeNs asked() const { return asked_; }
  // Adds a part. `now`: the time by the clock of the owner's process.
  void Add(proto::Collected part, TimeNs now);
  // Returns true if all parts of all processes have come, except of those that
  // are gone.
  bool complete() const;
  // Returns the parts of each process, in order.
  std::vector<std::vector<const proto::Collected*>> Parts() const;
  // Returns when the first part of each process came.
  const std::map<uint32_t, TimeNs>& arrivals() const { return arrivals_; }

 private:
  // Returns true if all parts of the process have come.
  bool Has(uint32_t process) const;

  uint32_t processes_ = UINT32_MAX;  // this large if not known yet
  TimeNs asked_ = 0;
  std::map<uint32_t, std::map<uint32_t, proto::Collected>> parts_;
  std::map<uint32_t, TimeNs> arrivals_;
  std::set<uint32_t> gone_;  // processes
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REPORT_COLLECTION_H_
