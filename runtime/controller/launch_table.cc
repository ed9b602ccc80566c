//===- launch_table.cc - Launches, from request to end --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_table.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

// Finds arrays of a launch by their objects: by linear search if they are few,
// otherwise with a hash table.
class ArrayFinder {
 public:
  explicit ArrayFinder(const std::vector<LaunchSpec::Array>& arrays,
                       bool only_fresh = false)
      : arrays_(arrays), only_fresh_(only_fresh) {}

  // Returns the first array of an object among the first `count`, or null.
  // `count` must not decrease from call to call.
  const LaunchSpec::Array* Find(uint64_t object, size_t count) {
    if (arrays_.size() <= kFew) {
      for (size_t i = 0; i < count; ++i) {
        if (Counts(i) && arrays_[i].object == object) return &arrays_[i];
      }
      return nullptr;
    }
    for (; known_ < count; ++known_) {
      if (Counts(known_)) first_.try_emplace(arrays_[known_].object, known_);
    }
    const auto found = first_.find(object);
    return found == first_.end() ? nullptr : &arrays_[found->second];
  }

 private:
  static constexpr size_t kFew = 32;

  bool Counts(size_t i) const { return !only_fresh_ || arrays_[i].fresh; }

  const std::vector<LaunchSpec::Array>& arrays_;
  const bool only_fresh_;
  size_t known_ = 0;
  // Index of each object among the first `known_` arrays.
  absl::flat_hash_map<uint64_t, size_t> first_;
};

bool IsHost(int32_t host, uint32_t said) {
  return static_cast<uint32_t>(host) == said;
}

absl::Status NotNew(const std::string& program, uint64_t object) {
  return absl::InvalidArgumentError(
      absl::StrCat("a launch of program '", program, "' creates array ",
                   NumberOf(object), ", which already exists"));
}

}  // namespace

void LaunchTable::Launch::Reset() {
  id = steps = first_step = 0;
  program = 0;
  asked = 0;
  claim = Claim();
  ready = begun = granted = over = false;
  hosts = {};
  staging.Clear();
  running.Clear();
  ungranted = unended = 0;
  readers.clear();
  arguments.clear();
  results.clear();
  refusal = absl::OkStatus();
  refused_by = 0;
  failed = false;
  failure = Failure();
  cancelled = absl::OkStatus();
  poisoned.clear();
}

const std::vector<uint64_t>& LaunchTable::Open(uint32_t program) const {
  static const std::vector<uint64_t>* const none = new std::vector<uint64_t>;
  auto found = programs_.find(program);
  return found == programs_.end() ? *none : found->second.open;
}

absl::Status LaunchTable::Check(const LaunchSpec& spec,
                                const std::string& program) const {
  ArrayFinder fresh_arguments(spec.arguments, /*only_fresh=*/true);
  ArrayFinder arguments(spec.arguments), results(spec.results);
  const auto is_new = [&](uint64_t object) { return !objects_.Find(object); };
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const LaunchSpec::Array& argument = spec.arguments[i];
    if (argument.object == 0) continue;
    const LaunchSpec::Array* fresh = fresh_arguments.Find(argument.object, i);
    if (argument.fresh) {
      if (fresh != nullptr || !is_new(argument.object)) {
        return NotNew(program, argument.object);
      }
      continue;
    }
    bool is_same = false;
    if (fresh != nullptr) {
      is_same =
          fresh->hosts == argument.hosts && fresh->bytes == argument.bytes;
    } else if (const ObjectTable::Object* object =
                   objects_.Find(argument.object)) {
      is_same = object->missing ||
                (absl::c_equal(object->hosts, argument.hosts, IsHost) &&
                 absl::MakeConstSpan(object->bytes) == argument.bytes);
    } else {
      return absl::FailedPreconditionError(absl::StrCat(
          "a launch of program '", program,
          "' uses an array whose own launch did not begin; launch it again"));
    }
    if (!is_same) {
      return absl::InvalidArgumentError(
          absl::StrCat("a launch of program '", program, "' has as argument ",
                       i, " an array on other hosts or of another size"));
    }
  }
  for (size_t i = 0; i < spec.results.size(); ++i) {
    const uint64_t object = spec.results[i].object;
    if (object != 0 &&
        (!is_new(object) || results.Find(object, i) != nullptr ||
         arguments.Find(object, spec.arguments.size()) != nullptr)) {
      return NotNew(program, object);
    }
  }
  return absl::OkStatus();
}

void LaunchTable::Refuse(const LaunchSpec& spec, const absl::Status& status,
                         LaunchEffects* effects) {
  for (const LaunchSpec::Array& result : spec.results) {
    if (result.object != 0 && objects_.Find(result.object) == nullptr) {
      objects_.AddMissing(result.object, status);
    }
  }
  effects->ended.push_back({spec.launch,
                            spec.steps,
                            status,
                            /*completed=*/false,
                            /*granted=*/false,
                            {}});
}

void LaunchTable::Add(const LaunchSpec& spec, LaunchEffects* effects) {
  Launch& launch = launches_.Insert(spec.launch);
  launch.id = spec.launch;
  launch.program = spec.program;
  launch.steps = spec.steps;
  launch.first_step = spec.first_step;
  launch.asked = spec.asked;
  launch.claim = spec.claim;
  launch.hosts = spec.hosts;
  if (spec.asks) launch.staging.Assign(spec.hosts);
  launch.running.Assign(spec.islands);
  ProgramLaunches& program = programs_[spec.program];
  program.open.push_back(spec.launch);
  for (const LaunchSpec::Array& argument : spec.arguments) {
    if (argument.object == 0) continue;
    if (argument.fresh) {
      objects_.Add(argument.object, argument.hosts, argument.bytes,
                   /*held=*/argument.keep, /*filling=*/0,
                   /*arriving=*/argument.failure.ok());
      objects_.Settle(argument.object, argument.failure, argument.missing);
    }
    objects_.Refer(argument.object);
    launch.arguments.push_back(argument.object);
    Follow(objects_.Find(argument.object)->filling, &launch);
  }
  for (const LaunchSpec::Array& result : spec.results) {
    launch.results.push_back(result.object);
    if (result.object == 0) continue;
    objects_.Add(result.object, result.hosts, result.bytes, /*held=*/true,
                 spec.launch, /*arriving=*/spec.asks);
  }
  absl::Status missing =
      objects_.FirstFailure(launch.arguments, /*missing_only=*/true);
  if (!missing.ok()) {
    // No host hears of the launch, so none will pull its fresh arguments.
    for (const LaunchSpec::Array& argument : spec.arguments) {
      if (argument.fresh && argument.failure.ok()) {
        objects_.Settle(argument.object, missing, /*missing=*/true);
      }
    }
    endings_.push_back({launch.id, std::move(missing), /*completed=*/false});
    return EndAll(effects);
  }
  Offer(&program, effects);
  Hurry(launch.id, effects);
}

bool LaunchTable::Cancel(uint64_t id, const absl::Status& why,
                         LaunchEffects* effects) {
  Launch* launch = launches_.Find(id);
  if (launch == nullptr || launch->granted || !launch->cancelled.ok()) {
    return false;
  }
  if (launch->begun) {
    launch->cancelled = why;
    return true;
  }
  endings_.push_back({id, why, /*completed=*/false});
  EndAll(effects);
  std::erase(effects->ready, id);
  return false;
}

void LaunchTable::Shorten(uint64_t id, uint64_t steps) {
  if (Launch* launch = launches_.Find(id)) launch->steps = steps;
}

void LaunchTable::Inherit(uint64_t id, const Claim& claim,
                          LaunchEffects* effects) {
  Launch* launch = launches_.Find(id);
  if (launch == nullptr || launch->granted || !launch->claim.Inherit(claim)) {
    return;
  }
  effects->urgent.push_back(id);
  Hurry(id, effects);
}

void LaunchTable::Hurry(uint64_t id, LaunchEffects* effects) {
  hurry_.assign(1, id);
  auto inherit = [&](uint64_t before, const Claim& claim) {
    Launch* launch = launches_.Find(before);
    // A launch that has all its grants waits for none.
    if (launch == nullptr || launch->granted || !launch->claim.Inherit(claim)) {
      return;
    }
    effects->urgent.push_back(before);
    hurry_.push_back(before);
  };
  while (!hurry_.empty()) {
    const Launch& launch = *launches_.Find(hurry_.back());
    hurry_.pop_back();
    for (uint64_t argument : launch.arguments) {
      inherit(objects_.Find(argument)->filling, launch.claim);
    }
    // The launch before it inherits too, and passes the claim on.
    const std::vector<uint64_t>& open = programs_[launch.program].open;
    const auto own = std::find(open.rbegin(), open.rend(), launch.id);
    if (own + 1 != open.rend()) inherit(*(own + 1), launch.claim);
  }
}

void LaunchTable::Follow(uint64_t filling, Launch* launch) {
  Launch* filler = filling == 0 ? nullptr : launches_.Find(filling);
  if (filler == nullptr) return;
  std::vector<uint64_t>& readers = filler->readers;
  if (std::find(readers.begin(), readers.end(), launch->id) != readers.end()) {
    return;
  }
  readers.push_back(launch->id);
  ++launch->unended;
  if (!filler->granted) ++launch->ungranted;
}

void LaunchTable::Offer(ProgramLaunches* program, LaunchEffects* effects) {
  if (program->granted == program->open.size()) return;
  Launch* next = launches_.Find(program->open[program->granted]);
  if (next->ready || next->ungranted != 0 || !next->staging.empty() ||
      !next->refusal.ok()) {
    return;
  }
  next->ready = true;
  effects->ready.push_back(next->id);
}

void LaunchTable::Staged(uint64_t id, int32_t host, const absl::Status& status,
                         LaunchEffects* effects) {
  Launch* launch = launches_.Find(id);
  if (launch == nullptr || !launch->staging.Erase(host)) return;
  if (!status.ok() && (launch->refusal.ok() || host < launch->refused_by)) {
    launch->refusal = status;
    launch->refused_by = host;
  }
  if (!launch->staging.empty()) return;
  if (launch->refusal.ok()) {
    for (uint64_t argument : launch->arguments) objects_.Arrived(argument);
    for (uint64_t result : launch->results) objects_.Arrived(result);
    return Offer(&programs_[launch->program], effects);
  }
  endings_.push_back({id, launch->refusal, /*completed=*/false});
  EndAll(effects);
}

void LaunchTable::Begun(uint64_t id) {
  Launch* launch = launches_.Find(id);
  if (launch != nullptr && launch->ready) launch->begun = true;
}

bool LaunchTable::Stages(int32_t host) const {
  for (const auto& [program, launches] : programs_) {
    for (uint64_t id : launches.open) {
      if (Find(id)->staging.Contains(host)) return true;
    }
  }
  return false;
}

void LaunchTable::Unanswered(int32_t host, const absl::Status& status,
                             LaunchEffects* effects) {
  std::vector<uint64_t> waiting;
  for (const auto& [program, launches] : programs_) {
    for (uint64_t id : launches.open) {
      if (Find(id)->staging.Contains(host)) waiting.push_back(id);
    }
  }
  for (uint64_t id : waiting) Staged(id, host, status, effects);
}

void LaunchTable::Granted(uint64_t id, LaunchEffects* effects) {
  Launch* launch = launches_.Find(id);
  if (launch == nullptr || !launch->begun || launch->granted) return;
  launch->granted = true;
  ProgramLaunches& program = programs_[launch->program];
  ++program.granted;
  Offer(&program, effects);
  for (uint64_t reader : launch->readers) {
    Launch* after = launches_.Find(reader);
    if (after == nullptr) continue;
    --after->ungranted;
    Offer(&programs_[after->program], effects);
  }
  launch->over = launch->running.empty();  // true only if it runs on no island
  EndIfOver(*launch);
  EndAll(effects);
}

void LaunchTable::Done(uint64_t id, int32_t island, const Failure* failure,
                       absl::Span<const uint32_t> poisoned,
                       LaunchEffects* effects) {
  Launch* launch = launches_.Find(id);
  if (launch == nullptr || !launch->granted || !launch->running.Erase(island)) {
    return;
  }
  if (failure != nullptr && (!launch->failed || *failure < launch->failure)) {
    launch->failed = true;
    launch->failure = *failure;
  }
  for (uint32_t result : poisoned) {
    auto at = std::lower_bound(launch->poisoned.begin(), launch->poisoned.end(),
                               result);
    if (at != launch->poisoned.end() && *at == result) continue;
    launch->poisoned.insert(at, result);
  }
  launch->over = launch->running.empty();
  EndIfOver(*launch);
  EndAll(effects);
}

void LaunchTable::Abort(uint32_t program, const absl::Status& status,
                        LaunchEffects* effects) {
  for (uint64_t id : Open(program)) {
    endings_.push_back({id, status, /*completed=*/false});
  }
  EndAll(effects);
  effects->ready.erase(
      std::remove_if(effects->ready.begin(), effects->ready.end(),
                     [this](uint64_t id) { return Find(id) == nullptr; }),
      effects->ready.end());
}

void LaunchTable::EndIfOver(const Launch& launch) {
  if (!launch.over || launch.unended != 0) return;
  absl::Status status =
      objects_.FirstFailure(launch.arguments, /*missing_only=*/false);
  if (status.ok() && launch.failed) status = launch.failure.status;
  if (status.ok()) status = launch.cancelled;
  endings_.push_back({launch.id, std::move(status), /*completed=*/true});
}

void LaunchTable::EndAll(LaunchEffects* effects) {
  for (size_t i = 0; i < endings_.size(); ++i) {  // the loop appends to it
    const Ending ending = std::move(endings_[i]);
    Launch* launch = launches_.Find(ending.launch);
    // The launch may have ended with an earlier one.
    if (launch != nullptr) End(launch, ending, effects);
  }
  endings_.clear();
}

void LaunchTable::End(Launch* launch, const Ending& ending,
                      LaunchEffects* effects) {
  for (uint32_t r = 0; r < launch->results.size(); ++r) {
    if (launch->results[r] == 0) continue;
    const bool bad =
        !ending.completed ||
        std::binary_search(launch->poisoned.begin(), launch->poisoned.end(), r);
    objects_.Settle(launch->results[r], bad ? ending.status : absl::OkStatus(),
                    /*missing=*/bad && !launch->granted);
  }
  effects->ended.push_back({launch->id,
                            launch->steps,
                            ending.status,
                            ending.completed,
                            launch->granted,
                            {}});
  if (ending.completed) effects->ended.back().poisoned = launch->poisoned;
  if (launch->begun && !ending.completed) {
    effects->given_up.push_back(launch->id);
  }
  if (!launch->running.empty()) {
    // The launch left values on its hosts, or a grant that they must skip.
    for (int32_t host : launch->hosts) {
      effects->drops.push_back({host, launch->id, 0});
    }
  }
  objects_.Release(launch->arguments, launch->id, &effects->drops);

  ProgramLaunches& program = programs_[launch->program];
  auto place = std::find(program.open.begin(), program.open.end(), launch->id);
  program.open.erase(place);
  if (launch->granted) --program.granted;
  Offer(&program, effects);
  for (uint64_t reader : launch->readers) {
    Launch* after = launches_.Find(reader);
    if (after == nullptr) continue;
    --after->unended;
    if (launch->granted) {
      EndIfOver(*after);
    } else {
      endings_.push_back(
          {reader, objects_.FirstFailure(after->arguments, true), false});
    }
  }
  launches_.Erase(launch->id);
}

}  // namespace pathways
