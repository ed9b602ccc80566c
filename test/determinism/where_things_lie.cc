//===- where_things_lie.cc - A program whose output depends on it ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the order of a hash map by name, and that of a set by pointer: what
// no program of ours may do. hash_order.py shows by it that it would notice.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/container/flat_hash_map.h"

int main() {
  absl::flat_hash_map<std::string, int> names;
  std::vector<std::unique_ptr<int>> owners;
  std::unordered_set<const int *> pointers;
  for (int i = 0; i < 100; ++i) {
    names[std::to_string(i)] = i;
    owners.push_back(std::make_unique<int>(i));
    pointers.insert(owners.back().get());
  }
  for (const auto &[name, i] : names)
    std::printf("name %s\n", name.c_str());
  for (const int *pointer : pointers)
    std::printf("pointer %d\n", *pointer);
  return 0;
}
