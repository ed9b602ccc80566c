//===- plan_fetch.h - A plan that comes in pieces ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_FETCH_H_
#define RUNTIME_PLAN_PLAN_FETCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_manifest.h"
#include "runtime/proto/control.pb.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// A plan on its way from another process, of which only its name is believed:
// first the head, then those objects that the owner wants. Invariants: (1) no
// more memory is taken than twice what came, and what comes is no more than the
// name says; (2) whatever is handed out has the hash that the name stands for;
// (3) each byte counts once: a part that comes again, or was not asked for,
// changes nothing. One owner calls it; it sends nothing.
class PlanFetch {
 public:
  explicit PlanFetch(const PlanName& name) : name_(name) {}

  const PlanName& name() const { return name_; }
  // What to ask for now, also when an answer was lost.
  void FillRequest(proto::PlanRequest* request) const;

  enum class Step {
    kNothing,  // not what was asked for
    kMore,     // ask again: there is more
    kHead,     // the tables are there: say what code is wanted
    kDone,
  };
  // InvalidArgument: it is not the plan of that name, says where. Or what the
  // part says went wrong. The fetch is over then.
  absl::StatusOr<Step> Take(const proto::PlanPart& part);
  // After kHead, once: objects by their number in the manifest, ascending.
  // kMore, or kDone when there are none. InvalidArgument as Take.
  absl::StatusOr<Step> Want(std::vector<uint32_t> objects);

  // After kHead. Not verified as a plan.
  const PlanManifest& manifest() const { return manifest_; }
  proto::Plan& tables() { return tables_; }
  // Also that in `tables`.
  const std::vector<uint32_t>& wanted() const { return wanted_; }
  // After kDone, once each: the bytes of the head; and of the objects, by their
  // number, without those that nobody wanted.
  std::string TakeHead() { return std::move(head_); }
  std::vector<std::string> TakeObjects() { return std::move(objects_); }

  // Bytes that came and counted.
  uint64_t received() const { return received_; }

 private:
  absl::Status Bad(absl::string_view what) const;
  absl::Status CheckManifest();
  absl::Status ReadTables();
  absl::StatusOr<Step> Deal();

  const PlanName name_;
  bool code_ = false;  // what comes now are objects
  bool done_ = false;
  uint64_t received_ = 0;
  uint64_t total_ = 0;           // of what comes now; 0: not known
  uint64_t manifest_bytes_ = 0;  // 0: not known
  bool checked_ = false;         // the manifest
  PlanManifest manifest_;
  proto::Plan tables_;
  std::string head_, stream_;
  std::vector<uint32_t> wanted_;
  std::vector<std::string> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_FETCH_H_
