//===- mix.h - Random numbers and hashes of the worlds ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are small, fast and the same on every machine. They are not for secrets.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_MIX_H_
#define RUNTIME_WORLD_MIX_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pathways {

// Returns a 64-bit value that depends on all bits of both arguments.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) *
      (b ^ 0xd1b54a32d192ed03u);
  // Adding both inputs keeps a factor of zero from swallowing the other one.
  return (static_cast<uint64_t>(product) ^
          static_cast<uint64_t>(product >> 64)) +
         a * 0xff51afd7ed558ccdu + (b << 29 | b >> 35);
}

inline uint64_t MixBytes(uint64_t hash, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  hash = Mix(hash, bytes);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    // Returns a hash of `hash` and of `bytes` bytes at `data`.
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = Mix(hash, word);
  }
  if (bytes > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    hash = Mix(hash, word);
  }
  return hash;
}

// The generator Splitmix64. Any seed is a good one.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, bound]. The bias is below 2^-32 for any bound used
  // as a delay.
  uint64_t UpTo(uint64_t bound) {
    if (bound == UINT64_MAX) return Next();
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(Next()) * (bound + 1)) >> 64);
  }
  // Returns true with this probability.
  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) * 0x1p-53 < probability;
  }

 private:
  uint64_t state_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_MIX_H_
