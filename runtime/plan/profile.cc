//===- profile.cc - Measured costs of a program ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "runtime/proto/text_file.h"

namespace pathways {
namespace {

// A fingerprint is a hash of 128 bits.
constexpr size_t kFingerprintDigits = 32;

// Returns true for actions that move data without a computation.
bool IsMovement(proto::ActionKind kind) {
  return kind == proto::FEED || kind == proto::FETCH || kind == proto::SEND ||
         kind == proto::RECV;
}

}  // namespace

bool IsFingerprint(absl::string_view text) {
  return text.size() == kFingerprintDigits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

void ComputationBuilder::AddRun(const proto::Segment& segment) {
  runs_ = true;
  absl::StrAppend(&steps_, "run");
  for (const proto::KernelOperand& operand : segment.operands()) {
    absl::StrAppend(&steps_, operand.written() ? " out " : " ",
                    operand.element(), ":",
                    absl::StrJoin(operand.shape(), "x"));
  }
  steps_ += "\n";
}

void ComputationBuilder::AddCollective(const proto::Collective& collective,
                                       uint64_t source_bytes) {
  const std::string kind = CollectiveKindName(collective.kind());
  collectives_.push_back(kind);
  absl::StrAppend(&steps_, kind, " ", source_bytes, " ", collective.reduction(),
                  " ", collective.dim(), " ", collective.concat_dim(), " ",
                  collective.shift(), " ", collective.wrap(), " ",
                  collective.root(), " ",
                  absl::StrJoin(collective.pairs(), ","));
  for (const std::string& axis : collective.axes()) {
    absl::StrAppend(&steps_, " ", axis.size(), ":", axis);
  }
  steps_ += "\n";
}

std::optional<Computation> ComputationBuilder::Finish(
    const std::string& kernel) {
  if (steps_.empty()) return std::nullopt;
  return Computation{runs_ ? kernel : absl::StrJoin(collectives_, "+"),
                     HashOf(steps_).Text()};
}

std::optional<Computation> ComputationOf(const proto::Plan& plan,
                                         const proto::Action& gang) {
  ComputationBuilder builder;
  std::string kernel;
  for (const proto::GangStep& step : gang.steps()) {
    if (step.has_collective()) {
      const proto::Collective& collective = step.collective();
      builder.AddCollective(
          collective, ShardBytes(plan, plan.buffers(collective.source())));
      continue;
    }
    kernel = plan.kernels(gang.kernel()).name();
    builder.AddRun(plan.kernels(gang.kernel()).segments(step.run().segment()));
  }
  return builder.Finish(kernel);
}

//===----------------------------------------------------------------------===//
// Reading and checking
//===----------------------------------------------------------------------===//

absl::StatusOr<Profile> Profile::Read(const std::string& path) {
  absl::StatusOr<std::string> text =
      ReadTextFile("profile", path, kMaxProfileFileBytes);
  if (!text.ok()) return text.status();
  const std::string name = absl::StrCat("profile ", QuotedWord(path));
  proto::Profile profile;
  if (absl::Status s = ParseText(*text, name, &profile); !s.ok()) return s;
  return Create(std::move(profile), name);
}

absl::StatusOr<Profile> Profile::Create(proto::Profile profile,
                                        const std::string& name) {
  Profile made(std::move(profile), name);
  if (absl::Status s = made.Index(); !s.ok()) return s;
  return made;
}

template <typename... Parts>
absl::Status Profile::Bad(const Parts&... parts) const {
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": ", parts..., Tag(ErrorId::kProfile)));
}

absl::Status Profile::Index() {
  if (profile_.version() != kProfileVersion) {
    return Bad("the version is ", profile_.version(), ", expected ",
               kProfileVersion);
  }
  if (profile_.program().empty())
    return Bad("the name of the program is missing");
  if (!IsFingerprint(profile_.fingerprint())) {
    return Bad("the fingerprint is ", QuotedWord(profile_.fingerprint()),
               ", expected ", kFingerprintDigits, " hexadecimal digits");
  }
  for (const proto::Profile::Computation& entry : profile_.computations()) {
    if (absl::Status s = AddComputation(entry); !s.ok()) return s;
  }
  for (const proto::Profile::Movement& entry : profile_.movements()) {
    if (absl::Status s = AddMovement(entry); !s.ok()) return s;
  }
  absl::Status links = CheckLink(profile_.ici(), "ici");
  return links.ok() ? CheckLink(profile_.dcn(), "dcn") : links;
}

absl::Status Profile::AddComputation(const proto::Profile::Computation& entry) {
  const std::string what =
      absl::StrCat("computation ", QuotedWord(entry.name()), " with signature ",
                   QuotedWord(entry.signature()));
  if (entry.name().empty() || entry.signature().empty()) {
    return Bad(what, " must have both a name and a signature");
  }
  if (entry.ns() < 1 || entry.ns() > kMaxCostNs) {
    return Bad(what, " takes ", entry.ns(), " ns, expected 1 to ", kMaxCostNs);
  }
  if (!computations_.try_emplace({entry.name(), entry.signature()}, entry.ns())
           .second) {
    return Bad(what, " appears twice");
  }
  return absl::OkStatus();
}

absl::Status Profile::AddMovement(const proto::Profile::Movement& entry) {
  if (!IsMovement(entry.kind())) {
    return Bad("a movement is of kind ", entry.kind(), " ('",
               ActionKindName(entry.kind()),
               "'), expected FEED, FETCH, SEND or RECV");
  }
  const std::string what = absl::StrCat(ActionKindName(entry.kind()), " of ",
                                        entry.bytes(), " bytes");
  if (entry.bytes() > kMaxBytes) {
    return Bad(what, ", expected at most ", kMaxBytes);
  }
  if (entry.ns() < 1 || entry.ns() > kMaxCostNs) {
    return Bad(what, " takes ", entry.ns(), " ns, expected 1 to ", kMaxCostNs);
  }
  if (!movements_[entry.kind()].try_emplace(entry.bytes(), entry.ns()).second) {
    return Bad(what, " appears twice");
  }
  return absl::OkStatus();
}

absl::Status Profile::CheckLink(const proto::Link& link,
                                const char* kind) const {
  // Links have 1 to 1e18 bytes per second, which no link reaches, and a latency
  // of at most an hour.
  constexpr double kMaxRate = 1e18, kMaxSeconds = 3600;
  const double rate = link.bytes_per_second(), latency = link.latency_seconds();
  if (rate != 0 && !(rate >= 1 && rate <= kMaxRate)) {
    return Bad(kind, " has ", rate, " bytes per second, expected 1 to ",
               kMaxRate, ", or 0: not measured");
  }
  if (!(latency >= 0 && latency <= kMaxSeconds)) {
    return Bad(kind, " has a latency of ", latency, " s, expected 0 to ",
               kMaxSeconds);
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

absl::Status Profile::CheckProgram(const std::string& program,
                                   const std::string& fingerprint) const {
  if (program == profile_.program() && fingerprint == profile_.fingerprint()) {
    return absl::OkStatus();
  }
  return Bad("the profile is of program ", QuotedWord(profile_.program()), " (",
             profile_.fingerprint(), "), expected program ", Quoted(program),
             " (", fingerprint, ")");
}

std::optional<uint64_t> Profile::ComputationNs(
    const Computation& computation) const {
  auto found = computations_.find(computation);
  if (found == computations_.end()) return std::nullopt;
  return found->second;
}

std::optional<uint64_t> Profile::MovementNs(proto::ActionKind kind,
                                            uint64_t bytes) const {
  auto of_kind = movements_.find(kind);
  if (of_kind == movements_.end()) return std::nullopt;
  const std::map<uint64_t, uint64_t>& sizes = of_kind->second;
  auto above = sizes.lower_bound(bytes);
  double ns;
  if (above == sizes.end()) {
    auto [most, its_ns] = *sizes.rbegin();
    ns = most == 0 ? its_ns
                   : static_cast<double>(its_ns) / static_cast<double>(most) *
                         static_cast<double>(bytes);
  } else if (above->first == bytes || above == sizes.begin()) {
    return above->second;
  } else {
    auto below = std::prev(above);
    const double part = static_cast<double>(bytes - below->first) /
                        static_cast<double>(above->first - below->first);
    ns = static_cast<double>(below->second) * (1 - part) +
         static_cast<double>(above->second) * part;
  }
  return std::clamp<uint64_t>(
      static_cast<uint64_t>(std::min<double>(ns, kMaxCostNs)), 1, kMaxCostNs);
}

std::string PrintProfile(const proto::Profile& profile) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(profile, &text);
  return text;
}

}  // namespace pathways
