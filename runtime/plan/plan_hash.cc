//===- plan_hash.cc - Hashes and names of plans ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_hash.h"

#include <openssl/evp.h>

#include <cstring>
#include <new>

#include "absl/strings/escaping.h"

namespace pathways {

bool PlanHash::Read(absl::string_view from) {
  if (from.size() != bytes.size()) return false;
  std::memcpy(bytes.data(), from.data(), bytes.size());
  return true;
}

std::string PlanHash::Text() const {
  return absl::BytesToHexString(view().substr(0, 8));
}

struct PlanHasher::Context {
  ~Context() { EVP_MD_CTX_free(state); }
  EVP_MD_CTX* const state = EVP_MD_CTX_new();
};

// The library fails here only for lack of memory.
PlanHasher::PlanHasher() : context_(std::make_unique<Context>()) {
  if (context_->state == nullptr ||
      EVP_DigestInit_ex(context_->state, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}

PlanHasher::~PlanHasher() = default;

void PlanHasher::Add(absl::Span<const uint8_t> bytes) {
  if (EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) != 1) {
    throw std::bad_alloc();
  }
}

PlanHash PlanHasher::Finish() {
  PlanHash hash;
  if (EVP_DigestFinal_ex(context_->state, hash.bytes.data(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  return hash;
}

PlanHash HashOf(absl::Span<const uint8_t> bytes) {
  PlanHasher hasher;
  hasher.Add(bytes);
  return hasher.Finish();
}

}  // namespace pathways
