//===- host_array.cc ------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <iterator>

#include "pathways/HostArray.h"

namespace pathways {
namespace {

struct Info {
  const char* name;
  int64_t bytes;
};
// The entry of an element type is at the index of its value.
constexpr Info kInfo[] = {{"invalid", 0}, {"f32", 4}, {"f64", 8}, {"i1", 1},
                          {"i8", 1},      {"i32", 4}, {"i64", 8}, {"f16", 2},
                          {"bf16", 2},    {"i16", 2}, {"ui8", 1}, {"ui16", 2},
                          {"ui32", 4},    {"ui64", 8}};

const Info& InfoOf(ElementType element) {
  auto index = static_cast<size_t>(element);
  return index < std::size(kInfo) ? kInfo[index] : kInfo[0];
}

}  // namespace

int64_t elementBytes(ElementType element) { return InfoOf(element).bytes; }

const char* elementName(ElementType element) { return InfoOf(element).name; }

ElementType elementFromName(const std::string& name) {
  for (size_t i = 1; i < std::size(kInfo); ++i) {
    if (name == kInfo[i].name) return static_cast<ElementType>(i);
  }
  return ElementType::kInvalid;
}

int64_t HostArray::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::string shapeString(ElementType element,
                        const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += std::to_string(extent) + "x";
  return text + elementName(element);
}

}  // namespace pathways
