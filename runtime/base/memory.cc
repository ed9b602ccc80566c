//===- memory.cc - Allocations that may fail ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

// MADV_POPULATE_WRITE of linux/mman.h since 5.14, which the installed headers
// may lack.
constexpr int kPopulateWrite = 23;

}  // namespace

std::string NoMemoryText(ElementType element,
                         const std::vector<int64_t>& shape) {
  // The arithmetic is unsigned, since an unchecked shape may overflow.
  auto bytes = static_cast<uint64_t>(elementBytes(element));
  for (int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
  return "there is no memory for " + shapeString(element, shape) + " (" +
         std::to_string(bytes) + " bytes)" + Tag(ErrorId::kNoProcessMemory);
}

std::string NoMemoryText(uint64_t bytes) {
  return "there is no memory for its " + std::to_string(bytes) + " bytes" +
         Tag(ErrorId::kNoProcessMemory);
}

bool TouchPages(char* data, uint64_t bytes) {
  if (bytes == 0) return true;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // The range covers all pages that hold a byte of the memory.
  const uint64_t head = reinterpret_cast<uintptr_t>(data) % page;
  int done;
  do {
    done = madvise(data - head, head + bytes, kPopulateWrite);
  } while (done != 0 && (errno == EINTR || errno == EAGAIN));
  if (done == 0) return true;
  if (errno != EINVAL) return false;
  for (uint64_t at = 0; at < bytes; at += page) {
    static_cast<volatile char*>(data)[at] = 0;
  }
  return true;
}

}  // namespace pathways
