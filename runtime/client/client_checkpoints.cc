//===- client_checkpoints.cc - Arrays of a client in files ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/client/client.h"

namespace pathways {
absl::Status Client::Save(ArrayHandle array, const std::string& path) {
  absl::StatusOr<std::unique_ptr<SaveFolder>> folder = SaveFolder::Create(path);
  if (!folder.ok()) return folder.status();
  absl::Status saved = Save(array, folder->get());
  if (saved.ok()) saved = (*folder)->Commit();
  return saved;
}

absl::Status Client::Save(const std::map<std::string, ArrayHandle>& arrays,
                          const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) {
    absl::Status good = CheckArrayName(name);
    if (!good.ok()) return good;
    names.push_back(name);
  }
  absl::StatusOr<std::unique_ptr<SaveFolder>> folder = SaveFolder::Create(path);
  if (!folder.ok()) return folder.status();
  for (const auto& [name, array] : arrays) {
    absl::Status saved = Save(array, folder->get(), name);
    if (!saved.ok()) return saved;
  }
  absl::Status indexed = (*folder)->AddFile(kIndexFile, {PrintSetIndex(names)});
  if (indexed.ok()) indexed = (*folder)->Commit();
  return indexed;
}

absl::Status Client::Save(ArrayHandle array, SaveFolder* folder,
                          const std::string& name) {
  return store_.Save(array, folder, name);
}

absl::StatusOr<ArrayHandle> Client::LoadArray(const std::string& folder) {
  absl::StatusOr<std::shared_ptr<const SavedArray>> saved =
      SavedArray::Open(folder);
  if (!saved.ok()) return saved.status();
  return Put(*std::move(saved));
}

absl::StatusOr<std::vector<std::string>> Client::SavedNames(
    const std::string& folder) {
  absl::StatusOr<std::string> text = ReadIndexText(folder);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<std::string>> names = ParseSetIndex(*text);
  if (!names.ok()) return InIndex(folder, names.status());
  return names;
}

absl::StatusOr<std::map<std::string, ArrayHandle>> Client::LoadArrays(
    const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> names = SavedNames(folder);
  if (!names.ok()) return names.status();
  std::map<std::string, ArrayHandle> arrays;
  for (const std::string& name : *names) {
    absl::StatusOr<ArrayHandle> array =
        LoadArray(absl::StrCat(WithoutSlash(folder), "/", name));
    if (!array.ok()) {
      for (const auto& [other, loaded] : arrays) (void)Release(loaded);
      return array.status();
    }
    arrays[name] = *array;
  }
  return arrays;
}

}  // namespace pathways
