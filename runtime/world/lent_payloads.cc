//===- lent_payloads.cc - Payloads that stay until asked for --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/lent_payloads.h"

namespace pathways {
namespace {

template <typename Table>
std::optional<typename Table::mapped_type> Remove(Table* from, uint64_t key) {
  auto found = from->find(key);
  if (found == from->end()) return std::nullopt;
  const typename Table::mapped_type removed = found->second;
  from->erase(found);
  return removed;
}

}  // namespace

void LentPayloads::AddPeer(PeerId peer) {
  MutexLock lock(&mutex_);
  peers_[peer];
}

LentPayloads::Left LentPayloads::RemovePeer(PeerId peer) {
  Left left;
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return left;
  for (const auto& [token, lent] : found->second.lent) {
    left.lent.push_back(lent);
  }
  for (const auto& [token, awaited] : found->second.awaited) {
    left.awaited.push_back(awaited);
  }
  peers_.erase(found);
  absl::erase_if(offers_,
                 [peer](const auto& one) { return one.second.peer == peer; });
  return left;
}

std::optional<uint64_t> LentPayloads::Lend(PeerId peer, const Lent& lent) {
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return std::nullopt;
  const uint64_t token = ++found->second.last_token;
  found->second.lent[token] = lent;
  return token;
}

std::optional<LentPayloads::Lent> LentPayloads::TakeLent(PeerId peer,
                                                         uint64_t token) {
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return std::nullopt;
  return Remove(&found->second.lent, token);
}

std::optional<uint64_t> LentPayloads::AddOffer(const Offer& offer) {
  MutexLock lock(&mutex_);
  auto found = peers_.find(offer.peer);
  if (found == peers_.end() || !found->second.offered.Accept(offer.token)) {
    return std::nullopt;
  }
  offers_[++last_offer_] = offer;
  return last_offer_;
}

std::optional<LentPayloads::Offer> LentPayloads::TakeOffer(uint64_t number) {
  MutexLock lock(&mutex_);
  return Remove(&offers_, number);
}

bool LentPayloads::Await(PeerId peer, uint64_t token, const Awaited& awaited) {
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return false;
  found->second.awaited[token] = awaited;
  return true;
}

std::optional<LentPayloads::Awaited> LentPayloads::TakeAwaited(PeerId peer,
                                                               uint64_t token) {
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return std::nullopt;
  return Remove(&found->second.awaited, token);
}

}  // namespace pathways
