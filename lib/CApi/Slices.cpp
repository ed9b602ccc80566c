//===- Slices.cpp - Reserved devices of the C API -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace pathways;
using namespace pathways::capi;

static pw_error *readSliceOptions(const pw_slice_options *given,
                                  SliceOptions &options) {
  pw_slice_options o{};
  if (pw_error *error = readOptions(given, o, "pw_slice_options"))
    return error;
  if (o.shape && o.rank < 0)
    return makeError(PW_INVALID_ARGUMENT, "pw_slice_options: rank is " +
                                              std::to_string(o.rank) +
                                              ", expected at least 0");
  if (o.name)
    options.name = o.name;
  if (o.shape)
    options.shape.assign(o.shape, o.shape + o.rank);
  if (o.kind)
    options.kind = o.kind;
  if (o.islands != 0)
    options.islands = o.islands;
  options.contiguous = o.contiguous != 0;
  options.device_bytes = o.device_bytes;
  options.wait_ns = toWaitNs(o.wait_ns);
  return nullptr;
}

pw_error *pw_reserve(pw_session *session, const pw_slice_options *given,
                     const pw_slice *const *apart_from, size_t count,
                     pw_slice **slice) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}, {"slice", slice}}))
      return error;
    SliceOptions options;
    if (pw_error *error = readSliceOptions(given, options))
      return error;
    std::vector<Slice> others;
    for (size_t i = 0; i < count; ++i) {
      if (!apart_from || !apart_from[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "slice " + std::to_string(i) + " is null");
      others.push_back(apart_from[i]->slice);
    }
    return makeHandle(session->session.reserve(options, others), slice);
  });
}

pw_error *pw_slice_devices(const pw_slice *slice, pw_text **devices) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"slice", slice}, {"devices", devices}}))
      return error;
    std::string lines;
    for (const std::string &device : slice->slice.devices())
      lines += device + "\n";
    return makeText(std::move(lines), devices);
  });
}

void pw_slice_free(pw_slice *slice) { freeHandle(slice); }
