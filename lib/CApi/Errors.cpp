//===- Errors.cpp - Errors, texts and options of the C API ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <algorithm>

using namespace pathways;
using namespace pathways::capi;

/// The error for which there is no memory.
static pw_error &getMemoryError() {
  static pw_error error{PW_REFUSED, "no memory", ""};
  return error;
}

pw_error *capi::makeError(pw_code code, const std::string &message) {
  // The static one is made while there is memory.
  pw_error &reserve = getMemoryError();
  try {
    return new pw_error{code, message, Error{{}, message}.id()};
  } catch (const std::bad_alloc &) {
    return &reserve;
  }
}

pw_error *capi::makeError(const Error &error) {
  static_assert(int(ErrorCode::kInvalidProgram) + 1 == PW_INVALID_PROGRAM &&
                int(ErrorCode::kInternal) + 1 == PW_INTERNAL);
  return makeError(static_cast<pw_code>(static_cast<int>(error.code) + 1),
                   error.message);
}

pw_error *capi::makeForkError() {
  return makeError(PW_REFUSED,
                   "this process was forked from one with sessions, whose "
                   "threads it does not have; start it by exec instead "
                   "(in Python: the start method \"spawn\")");
}

pw_error *capi::requireAll(std::initializer_list<Given> given) {
  for (const Given &each : given)
    if (!each.pointer)
      return makeError(PW_INVALID_ARGUMENT,
                       std::string("'") + each.name + "' is null");
  return nullptr;
}

/// Structures of more bytes than this were never meant.
static constexpr size_t kMostBytes = 4096;

pw_error *capi::readOptions(const void *given, void *options, size_t knownSize,
                            const char *what) {
  if (!given)
    return nullptr;
  size_t size;
  std::memcpy(&size, given, sizeof size);
  const auto *bytes = static_cast<const char *>(given);
  if (size < sizeof size)
    return makeError(PW_INVALID_ARGUMENT,
                     std::string(what) + ": struct_size is " +
                         std::to_string(size) + ", expected at least " +
                         std::to_string(sizeof size));
  // It would have this read what is not there.
  if (size > kMostBytes ||
      (size > knownSize && std::any_of(bytes + knownSize, bytes + size,
                                       [](char byte) { return byte != 0; })))
    return makeError(PW_INVALID_ARGUMENT,
                     std::string(what) + ": struct_size is " +
                         std::to_string(size) +
                         " with fields that this library does not know; it "
                         "knows " +
                         std::to_string(knownSize) + " bytes");
  std::memcpy(options, given, std::min(size, knownSize));
  return nullptr;
}

pw_error *capi::checkOutput(const void *given, const char *what) {
  size_t size;
  std::memcpy(&size, given, sizeof size);
  if (size >= sizeof size && size <= kMostBytes)
    return nullptr;
  return makeError(PW_INVALID_ARGUMENT,
                   std::string(what) + ": struct_size is " +
                       std::to_string(size) + ", expected " +
                       std::to_string(sizeof size) + " to " +
                       std::to_string(kMostBytes));
}

pw_error *capi::writeOutput(void *given, const void *made, size_t knownSize,
                            const char *what) {
  if (pw_error *error = checkOutput(given, what))
    return error;
  size_t size;
  std::memcpy(&size, given, sizeof size);
  auto *to = static_cast<char *>(given);
  const auto *from = static_cast<const char *>(made);
  const size_t shared = std::min(size, knownSize);
  std::copy(from + sizeof size, from + shared, to + sizeof size);
  std::fill(to + shared, to + size, 0);
  return nullptr;
}

pw_error *capi::readTexts(const char *const *given, size_t count,
                          const char *what, std::vector<std::string> &texts) {
  for (size_t i = 0; i < count; ++i) {
    if (!given || !given[i])
      return makeError(PW_INVALID_ARGUMENT, std::string(what) + " " +
                                                std::to_string(i) + " is null");
    texts.emplace_back(given[i]);
  }
  return nullptr;
}

uint32_t pw_abi_version(void) { return PW_ABI_VERSION; }

const char *pw_version(void) { return PATHWAYS_VERSION; }

pw_code pw_error_code(const pw_error *error) {
  return error ? error->code : PW_INTERNAL;
}

const char *pw_error_message(const pw_error *error) {
  return error ? error->message.c_str() : "";
}

const char *pw_error_id(const pw_error *error) {
  return error ? error->id.c_str() : "";
}

void pw_error_free(pw_error *error) {
  if (error != &getMemoryError())
    delete error;
}

const char *pw_text_data(const pw_text *text, size_t *size) {
  if (size)
    *size = text ? text->text.size() : 0;
  return text ? text->text.c_str() : "";
}

void pw_text_free(pw_text *text) { delete text; }
