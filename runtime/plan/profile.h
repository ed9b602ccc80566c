//===- profile.h - What parts of a program cost, measured -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A profile is written after a run of a plan (runtime/trace/measure.h) and read
// when the same text is compiled again, perhaps for other machines or meshes.
// So what it speaks of has names that follow from the text and the shapes of
// shards alone.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PROFILE_H_
#define RUNTIME_PLAN_PROFILE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/proto/profile.pb.h"

namespace pathways {

inline constexpr uint32_t kProfileVersion = 1;
inline constexpr int64_t kMaxProfileFileBytes = int64_t{64} << 20;

// Whether `text` is what plans and profiles know the text of a program by: 32
// hexadecimal digits.
bool IsFingerprint(absl::string_view text);

// What gangs that do the same have in common, in whatever plan they are.
struct Computation {
  std::string name;       // of the kernel, or of the collectives alone
  std::string signature;  // hexadecimal

  auto operator<=>(const Computation&) const = default;
};

// Makes a Computation of the steps of a gang, in their order.
class ComputationBuilder {
 public:
  void AddRun(const proto::Segment& segment);
  // `source_bytes` are those of a shard.
  void AddCollective(const proto::Collective& collective,
                     uint64_t source_bytes);
  // Ends it; `kernel` is the name of the gang's, which counts if it runs any of
  // it. Nothing: there were no steps.
  std::optional<Computation> Finish(const std::string& kernel);

 private:
  bool runs_ = false;
  std::string steps_;
  std::vector<std::string> collectives_;
};

// Of a gang of a plan whose references are in range.
std::optional<Computation> ComputationOf(const proto::Plan& plan,
                                         const proto::Action& gang);

// The profile of one program: checked, and found by what is asked for.
// Immutable, so thread-safe.
class Profile {
 public:
  // InvalidArgument, NotFound; the message names the file.
  static absl::StatusOr<Profile> Read(const std::string& path);
  // `name` stands for it in messages. InvalidArgument: a rule is broken.
  static absl::StatusOr<Profile> Create(proto::Profile profile,
                                        const std::string& name);

  // InvalidArgument, naming both, unless it is of that program.
  absl::Status CheckProgram(const std::string& program,
                            const std::string& fingerprint) const;

  // One shard's part of a gang. Nothing: it was not measured.
  std::optional<uint64_t> ComputationNs(const Computation& computation) const;
  // Of one shard of that size. Between two sizes that were measured on the line
  // through both; less than the least as that, more than the most in
  // proportion. Nothing: none was measured.
  std::optional<uint64_t> MovementNs(proto::ActionKind kind,
                                     uint64_t bytes) const;
  // Zeros: not measured.
  const proto::Link& ici() const { return profile_.ici(); }
  const proto::Link& dcn() const { return profile_.dcn(); }

 private:
  Profile(proto::Profile profile, std::string name)
      : profile_(std::move(profile)), name_(std::move(name)) {}
  absl::Status Index();
  absl::Status AddComputation(const proto::Profile::Computation& entry);
  absl::Status AddMovement(const proto::Profile::Movement& entry);
  absl::Status CheckLink(const proto::Link& link, const char* kind) const;
  template <typename... Parts>
  absl::Status Bad(const Parts&... parts) const;

  proto::Profile profile_;
  std::string name_;
  std::map<Computation, uint64_t> computations_;
  std::map<proto::ActionKind, std::map<uint64_t, uint64_t>> movements_;
};

// As a file that Read() reads.
std::string PrintProfile(const proto::Profile& profile);

}  // namespace pathways

#endif  // RUNTIME_PLAN_PROFILE_H_
