//===- Saving.cpp - Arrays in files of the C API --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <map>

using namespace pathways;
using namespace pathways::capi;

pw_error *pw_array_save(const pw_array *array, const char *folder) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"array", array}, {"folder", folder}}))
      return error;
    return toError(array->array.save(folder));
  });
}

pw_error *pw_save(pw_session *session, const pw_array *const *arrays,
                  const char *const *names, size_t count, const char *folder) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"session", session}, {"folder", folder}}))
      return error;
    std::vector<std::string> texts;
    if (pw_error *error = readTexts(names, count, "name", texts))
      return error;
    std::map<std::string, Array> named;
    for (size_t i = 0; i < count; ++i) {
      if (!arrays || !arrays[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "array " + std::to_string(i) + " is null");
      if (!named.emplace(texts[i], arrays[i]->array).second)
        return makeError(PW_INVALID_ARGUMENT,
                         "two arrays have the name '" + texts[i] + "'");
    }
    return toError(session->session.save(named, folder));
  });
}

pw_error *pw_restore(pw_session *session, const char *folder,
                     pw_array **array) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"session", session}, {"folder", folder}, {"array", array}}))
      return error;
    return makeHandle(session->session.loadArray(folder), array);
  });
}

pw_error *pw_saved_names(const char *folder, pw_text **names) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"folder", folder}, {"names", names}}))
      return error;
    Result<std::vector<std::string>> saved = Session::savedNames(folder);
    if (!saved)
      return makeError(saved.error());
    std::string lines;
    for (const std::string &name : *saved)
      lines += name + "\n";
    return makeText(std::move(lines), names);
  });
}
