//===- profile.h - Measured costs of a program ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A profile is written after a run of a plan (runtime/trace/measure.h) and read
// when the same text is compiled again, perhaps for other machines or meshes.
// So its entries have names that depend only on the text and on the shapes of
// shards.
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

// Returns true if `text` is a fingerprint, by which plans and profiles identify
// the text of a program: 32 lowercase hexadecimal digits.
bool IsFingerprint(absl::string_view text);

// Identity of gangs that do the same work, in any plan.
struct Computation {
  std::string name;       // kernel, or collectives if it has none
  std::string signature;  // hash of the steps, hexadecimal

  auto operator<=>(const Computation&) const = default;
};

// Builds a Computation from the steps of a gang, in their order.
class ComputationBuilder {
 public:
  void AddRun(const proto::Segment& segment);
  // `source_bytes`: size of one shard of the source.
  void AddCollective(const proto::Collective& collective,
                     uint64_t source_bytes);
  // Returns the computation, or nullopt if no step was added. `kernel`
  // identifies it only if the gang runs a kernel.
  std::optional<Computation> Finish(const std::string& kernel);

 private:
  bool runs_ = false;
  std::string steps_;
  std::vector<std::string> collectives_;
};

// Returns the computation of a gang. All references of the plan must be in
// range.
std::optional<Computation> ComputationOf(const proto::Plan& plan,
                                         const proto::Action& gang);

// The checked profile of one program. Immutable, so thread-safe.
class Profile {
 public:
  // Reads a file. Returns NotFound or InvalidArgument; the message names the
  // file.
  static absl::StatusOr<Profile> Read(const std::string& path);
  // Checks a profile. `name` identifies it in messages. Returns InvalidArgument
  // if a rule is violated.
  static absl::StatusOr<Profile> Create(proto::Profile profile,
                                        const std::string& name);

  // Returns InvalidArgument, naming both programs, unless the profile is of
  // this program.
  absl::Status CheckProgram(const std::string& program,
                            const std::string& fingerprint) const;

  // Returns the cost of one shard of a gang, or nullopt if it was not measured.
  std::optional<uint64_t> ComputationNs(const Computation& computation) const;
  // Returns the cost of moving one shard of this size. Interpolates linearly
  // between two measured sizes; a smaller shard costs as much as the smallest
  // measured one, and a larger one costs in proportion to the largest. Returns
  // nullopt if no size was measured.
  std::optional<uint64_t> MovementNs(proto::ActionKind kind,
                                     uint64_t bytes) const;
  // Links; zeros if not measured.
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

// Returns the text of a file that Read() accepts.
std::string PrintProfile(const proto::Profile& profile);

}  // namespace pathways

#endif  // RUNTIME_PLAN_PROFILE_H_
