//===- kernel_imports.cc --------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // sincos, roundeven
#endif

#include "runtime/kernel/kernel_imports.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace pathways {
namespace {

struct Import {
  std::string_view name;
  const void* address;
};

using F1 = double (*)(double);
using F1f = float (*)(float);
using F2 = double (*)(double, double);
using F2f = float (*)(float, float);

// The casts choose the C function where C++ adds overloads.
template <typename F>
const void* Address(F* function) {
  return reinterpret_cast<const void*>(function);
}

std::vector<Import> MakeImports() {
  std::vector<Import> imports = {
      {"memcpy", Address<void*(void*, const void*, size_t)>(memcpy)},
      {"memmove", Address<void*(void*, const void*, size_t)>(memmove)},
      {"memset", Address<void*(void*, int, size_t)>(memset)},
      {"memcmp", Address<int(const void*, const void*, size_t)>(memcmp)},
      {"bcmp", Address<int(const void*, const void*, size_t)>(memcmp)},
      {"fma", Address<double(double, double, double)>(fma)},
      {"fmaf", Address<float(float, float, float)>(fmaf)},
      {"ldexp", Address<double(double, int)>(ldexp)},
      {"ldexpf", Address<float(float, int)>(ldexpf)},
      {"roundeven", Address<double(double)>(roundeven)},
      {"roundevenf", Address<float(float)>(roundevenf)},
      {"sincos", Address<void(double, double*, double*)>(sincos)},
      {"sincosf", Address<void(float, float*, float*)>(sincosf)},
  };
#define PATHWAYS_ADD(name)                                      \
  imports.push_back({#name, Address(static_cast<F1>(::name))}); \
  imports.push_back({#name "f", Address(static_cast<F1f>(::name##f))});
  PATHWAYS_FOR_EACH_MATH1(PATHWAYS_ADD)
#undef PATHWAYS_ADD
#define PATHWAYS_ADD(name)                                      \
  imports.push_back({#name, Address(static_cast<F2>(::name))}); \
  imports.push_back({#name "f", Address(static_cast<F2f>(::name##f))});
  PATHWAYS_FOR_EACH_MATH2(PATHWAYS_ADD)
#undef PATHWAYS_ADD
  std::sort(imports.begin(), imports.end(),
            [](const Import& a, const Import& b) { return a.name < b.name; });
  return imports;
}

}  // namespace

const void* FindKernelImport(const char* name, unsigned long name_bytes) {
  static const auto* imports = new std::vector<Import>(MakeImports());
  std::string_view wanted(name, name_bytes);
  auto it = std::lower_bound(
      imports->begin(), imports->end(), wanted,
      [](const Import& a, std::string_view b) { return a.name < b; });
  return it != imports->end() && it->name == wanted ? it->address : nullptr;
}

}  // namespace pathways
