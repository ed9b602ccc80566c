//===- plan_fetch.h - Plan received in pieces -------------------*- C++ -*-===//
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

// A plan that is fetched from another process. Only its name is trusted. The
// head comes first, then the objects that the owner wants. Invariants: (1)
// memory is at most twice the received bytes, and these are at most those in
// the name; (2) everything returned has the hash that the name implies; (3)
// each byte counts once: a part that is repeated or was not requested changes
// nothing. One owner calls it; it sends nothing.
class PlanFetch {
 public:
  explicit PlanFetch(const PlanName& name) : name_(name) {}

  const PlanName& name() const { return name_; }
  // Fills a request for the next part. If an answer was lost, the request
  // repeats.
  void FillRequest(proto::PlanRequest* request) const;

  enum class Step {
    kNothing,  // the part was not the requested one
    kMore,     // more parts are missing: request the next one
    // The tables are complete: call Want.
    kHead,
    kDone,
  };
  // Takes a part. Returns InvalidArgument, naming what is wrong, if the plan
  // does not match its name; or the status that the part carries. After an
  // error the fetch is over.
  absl::StatusOr<Step> Take(const proto::PlanPart& part);
  // Starts to fetch objects, by their ascending numbers in the manifest. Call
  // it once, after kHead. Returns kMore, or kDone if there are none to fetch.
  // Returns InvalidArgument as Take does.
  absl::StatusOr<Step> Want(std::vector<uint32_t> objects);

  // Available after kHead. The tables are not verified as a plan.
  const PlanManifest& manifest() const { return manifest_; }
  proto::Plan& tables() { return tables_; }
  // Objects passed to Want.
  const std::vector<uint32_t>& wanted() const { return wanted_; }
  // The bytes of the head, and those of the objects by their number, with empty
  // strings for objects that were not wanted. Call each once, after kDone.
  std::string TakeHead() { return std::move(head_); }
  std::vector<std::string> TakeObjects() { return std::move(objects_); }

  // Returns the number of received bytes that counted.
  uint64_t received() const { return received_; }

 private:
  absl::Status Bad(absl::string_view what) const;
  absl::Status CheckManifest();
  absl::Status ReadTables();
  absl::StatusOr<Step> Deal();

  const PlanName name_;
  bool code_ = false;  // true while objects are fetched
  bool done_ = false;
  uint64_t received_ = 0;
  uint64_t total_ = 0;  // bytes of the head or of all objects; 0 if unknown
  uint64_t manifest_bytes_ = 0;  // 0 if unknown
  bool checked_ = false;         // the manifest was checked
  PlanManifest manifest_;
  proto::Plan tables_;
  std::string head_, stream_;
  std::vector<uint32_t> wanted_;
  std::vector<std::string> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_FETCH_H_
