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
#include <string>
#include <utility>
#include <vector>

#include "runtime/proto/control.pb.h"

namespace pathways {

// The answers of all processes to one question, each of which may come in
// parts, in any order, and twice. One owner calls it.
class ReportCollection {
 public:
  // How many processes answer.
  void Expect(uint32_t processes) { processes_ = processes; }
  void Add(proto::Collected part);
  // All parts of all processes are here.
  bool complete() const;
  // By process, in order of its parts.
  std::vector<std::vector<const proto::Collected*>> Parts() const;

 private:
  uint32_t processes_ = UINT32_MAX;  // not known yet
  std::map<uint32_t, std::map<uint32_t, proto::Collected>> parts_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REPORT_COLLECTION_H_
