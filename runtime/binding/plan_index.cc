//===- plan_index.cc - Plans of a process, by content ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {

std::shared_ptr<const PreparedPlan> PlanIndex::FindLocked(
    const PlanHash& hash) {
  auto found = entries_.find(hash);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.plan.lock();
}

std::shared_ptr<const PreparedPlan> PlanIndex::Find(const PlanHash& hash) {
  MutexLock lock(&mutex_);
  return FindLocked(hash);
}

std::shared_ptr<const PreparedPlan> PlanIndex::Put(
    const PlanName& name, std::shared_ptr<const PreparedPlan> plan) {
  MutexLock lock(&mutex_);
  if (auto there = FindLocked(name.hash)) return there;
  Entry& entry = entries_[name.hash];
  entry = {name, plan, nullptr, nullptr, ++uses_};
  return plan;
}

void PlanIndex::Keep(const PlanName& name,
                     std::shared_ptr<const PreparedPlan> plan,
                     std::shared_ptr<const PlanSource> source) {
  {
    MutexLock lock(&mutex_);
    Entry& entry = entries_[name.hash];
    entry = {name, plan, std::move(plan), std::move(source), ++uses_};
  }
  Trim();
}

std::vector<KeptPlan> PlanIndex::TakeKept() {
  std::vector<Entry> entries;
  {
    MutexLock lock(&mutex_);
    for (auto& [hash, entry] : entries_) {
      if (entry.kept != nullptr) entries.push_back(std::move(entry));
    }
    // Entries whose plan was moved from have expired.
    std::erase_if(entries_,
                  [](const auto& one) { return one.second.plan.expired(); });
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  std::vector<KeptPlan> kept;
  for (Entry& entry : entries) {
    kept.push_back(
        {entry.name, std::move(entry.kept), std::move(entry.source)});
  }
  return kept;
}

absl::StatusOr<std::shared_ptr<const PlanSource>> PlanIndex::Source(
    const PlanHash& hash) {
  std::shared_ptr<const PreparedPlan> plan;
  {
    MutexLock lock(&mutex_);
    plan = FindLocked(hash);
    const auto found = entries_.find(hash);
    const Entry* entry =
        plan == nullptr || found == entries_.end() ? nullptr : &found->second;
    if (entry != nullptr && entry->source != nullptr) return entry->source;
    if (entry == nullptr || entry->kept != nullptr) {
      return absl::NotFoundError(
          absl::StrCat("plan ", hash.Text(), " is not in the index"));
    }
  }
  // Created outside the lock, so two concurrent requests may both create it.
  absl::StatusOr<std::shared_ptr<const PlanSource>> source =
      PlanSource::Create(plan->data());
  if (!source.ok()) return source.status();
  MutexLock lock(&mutex_);
  auto entry = entries_.find(hash);
  if (entry != entries_.end()) entry->second.source = *source;
  return source;
}

void PlanIndex::Trim() {
  // Declared before the lock, so that plans are destroyed after its release.
  std::vector<Entry> dropped;
  MutexLock lock(&mutex_);
  std::vector<Entry*> unused;
  uint64_t bytes = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.plan.expired()) {
      dropped.push_back(std::move(entry));
      it = entries_.erase(it);
      continue;
    }
    if (entry.kept.use_count() == 1) {
      unused.push_back(&entry);
      bytes += entry.name.bytes;
    }
    ++it;
  }
  std::sort(unused.begin(), unused.end(),
            [](const Entry* a, const Entry* b) { return a->used < b->used; });
  for (Entry* entry : unused) {
    // The caller may be about to use the most recently used plan.
    if (bytes <= max_unused_bytes_ || entry->used == uses_) break;
    bytes -= entry->name.bytes;
    const PlanHash hash = entry->name.hash;
    dropped.push_back(std::move(*entry));
    entries_.erase(hash);
  }
}

}  // namespace pathways
