//===- report_collection.h - What processes tell of themselves --*- C++ -*-===//
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

// The answers of all processes to one question, each of which may come in
// parts, in any order, and twice. Of one that is gone before all its parts have
// come, as an answer of no parts says, there are none. One owner calls it.
class ReportCollection {
 public:
  // How many processes answer, and when the controller asked them, by its
  // clock.
  void Expect(uint32_t processes, TimeNs asked) {
    processes_ = processes;
    asked_ = asked;
  }
  TimeNs asked() const { return asked_; }
  // `now`: by the clock of the owner's process.
  void Add(proto::Collected part, TimeNs now);
  // All parts of all processes are here, but for those that are gone.
  bool complete() const;
  // By process, in order of its parts.
  std::vector<std::vector<const proto::Collected*>> Parts() const;
  // When the first part of each process came.
  const std::map<uint32_t, TimeNs>& arrivals() const { return arrivals_; }

 private:
  // Whether all parts of the process are here.
  bool Has(uint32_t process) const;

  uint32_t processes_ = UINT32_MAX;  // not known yet
  TimeNs asked_ = 0;
  std::map<uint32_t, std::map<uint32_t, proto::Collected>> parts_;
  std::map<uint32_t, TimeNs> arrivals_;
  std::set<uint32_t> gone_;  // processes
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REPORT_COLLECTION_H_
