//===- array_store.cc - Arrays of a client --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/loaded_program.h"
#include "runtime/client/save_array.h"

namespace pathways {
namespace {

// Returns the name of an array in errors.
std::string ArrayName(ArrayHandle array) {
  return absl::StrCat("array ", array.id);
}

}  // namespace

absl::StatusOr<ArrayHandle> ArrayStore::Put(SharedValue value) {
  const ArrayType& type = value->type();
  const absl::StatusOr<uint64_t> bytes = BytesOfArray(type.element, type.shape);
  if (!bytes.ok()) return bytes.status();
  if (*bytes != value->bytes() &&
      (runtime_.backends->has_values() || value->bytes() != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of ", shapeString(type.element, type.shape),
                     " has ", value->bytes(), " bytes, expected ", *bytes));
  }
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<uint64_t> id = arrays_.Put(std::move(value));
  if (!id.ok()) return id.status();
  return owner_.Make<ArrayHandle>(*id);
}

absl::StatusOr<ArrayType> ArrayStore::TypeOf(ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return *(*array)->type;
}

absl::StatusOr<bool> ArrayStore::IsReady(ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return (*array)->producer == nullptr || (*array)->producer->done.load();
}

absl::StatusOr<std::shared_ptr<const ArrayPlacement>> ArrayStore::PlacementOf(
    ArrayHandle handle) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  if ((*array)->placed.object == 0) return nullptr;
  return (*array)->placed.placement;
}

absl::Status ArrayStore::Release(ArrayHandle handle) {
  WorldCall call(runtime_.world);
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  SharedValues values;  // destroyed without the lock
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status released = arrays_.Release(handle.id, &objects, &values);
  channel_.ReleaseObjects(holds_.Unhold(objects));
  return released;
}

absl::StatusOr<bool> ArrayStore::AwaitFor(ArrayHandle handle,
                                          int64_t limit_ns) {
  absl::Status owned = owner_.Check(handle, "array");
  if (!owned.ok()) return owned;
  return AwaitFor(handle.id, limit_ns);
}

absl::StatusOr<bool> ArrayStore::AwaitFor(uint64_t id, int64_t limit_ns) {
  std::shared_ptr<RunState> producer;
  int64_t result;
  {
    MutexLock lock(&channel_.mutex());
    absl::StatusOr<ArrayState*> array = arrays_.Find(id);
    if (!array.ok()) return array.status();
    producer = (*array)->producer;
    result = (*array)->result;
  }
  if (producer == nullptr) return true;
  absl::StatusOr<bool> ended = channel_.WaitForLimit(
      producer->done, limit_ns, [&] { return producer->Describe(); });
  if (!ended.ok() || !*ended) return ended;
  absl::Status good = producer->CheckResult(result);
  if (!good.ok()) return good;
  return true;
}

absl::StatusOr<ArrayLocation> ArrayStore::Locate(ArrayHandle handle) {
  absl::Status good = owner_.Check(handle, "array");
  if (good.ok()) good = Await(handle.id);
  if (!good.ok()) return good;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<ArrayState*> array = arrays_.Find(handle.id);
  if (!array.ok()) return array.status();
  return ArrayLocation{(*array)->type, (*array)->dense, (*array)->placed};
}

bool ArrayStore::HasFailed(uint64_t id) {
  MutexLock lock(&channel_.mutex());
  const absl::StatusOr<ArrayState*> array = arrays_.Find(id);
  return array.ok() && (*array)->HasFailed();
}

absl::StatusOr<HostArray> ArrayStore::Get(ArrayHandle handle) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  return reader_.Get(*array, ArrayName(handle));
}

absl::Status ArrayStore::GetInto(ArrayHandle handle, char* into,
                                 uint64_t bytes) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  return reader_.GetInto(*array, into, bytes, ArrayName(handle));
}

absl::StatusOr<ValueView> ArrayStore::View(ArrayHandle handle) {
  absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  return reader_.View(*std::move(array), ArrayName(handle));
}

absl::StatusOr<HostArray> ArrayStore::GetShard(ArrayHandle handle,
                                               int64_t shard) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  return reader_.GetShard(*array, shard, ArrayName(handle));
}

absl::StatusOr<SharedValue> ArrayStore::GetValue(ArrayHandle handle) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  return reader_.GetValue(*array, ArrayName(handle));
}

absl::Status ArrayStore::Save(ArrayHandle handle, SaveFolder* folder,
                              const std::string& name) {
  const absl::StatusOr<ArrayLocation> array = Locate(handle);
  if (!array.ok()) return array.status();
  if (!runtime_.backends->has_values()) {
    return absl::FailedPreconditionError(
        absl::StrCat("array ", handle.id,
                     " has no values to save: the simulation computes none"));
  }
  return SaveArray(*array, ArrayName(handle), &reader_, folder, name);
}

absl::Status ArrayStore::Save(ArrayHandle array, const std::string& path) {
  absl::StatusOr<std::unique_ptr<SaveFolder>> folder = SaveFolder::Create(path);
  if (!folder.ok()) return folder.status();
  absl::Status saved = Save(array, folder->get(), /*name=*/"");
  if (saved.ok()) saved = (*folder)->Commit();
  return saved;
}

absl::Status ArrayStore::Save(const std::map<std::string, ArrayHandle>& arrays,
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

absl::StatusOr<ArrayHandle> ArrayStore::Load(const std::string& folder) {
  absl::StatusOr<std::shared_ptr<const SavedArray>> saved =
      SavedArray::Open(folder);
  if (!saved.ok()) return saved.status();
  return Put(std::make_shared<const ArrayValue>(*std::move(saved)));
}

absl::StatusOr<std::vector<std::string>> ArrayStore::SavedNames(
    const std::string& folder) {
  absl::StatusOr<std::string> text = ReadIndexText(folder);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<std::string>> names = ParseSetIndex(*text);
  if (!names.ok()) return InIndex(folder, names.status());
  return names;
}

absl::StatusOr<std::map<std::string, ArrayHandle>> ArrayStore::LoadAll(
    const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> names = SavedNames(folder);
  if (!names.ok()) return names.status();
  std::map<std::string, ArrayHandle> arrays;
  for (const std::string& name : *names) {
    absl::StatusOr<ArrayHandle> array =
        Load(absl::StrCat(WithoutSlash(folder), "/", name));
    if (!array.ok()) {
      for (const auto& [other, loaded] : arrays) (void)Release(loaded);
      return array.status();
    }
    arrays[name] = *array;
  }
  return arrays;
}

absl::Status ArrayStore::FetchToClient(const std::vector<bool>& hosts,
                                       const std::string& path) {
  std::vector<uint64_t> arrays;
  {
    MutexLock lock(&channel_.mutex());
    arrays = arrays_.OnHosts(hosts);
  }
  if (arrays.empty()) return absl::OkStatus();
  std::unique_ptr<SaveFolder> folder;
  if (!path.empty()) {
    absl::StatusOr<std::unique_ptr<SaveFolder>> made = SaveFolder::Create(path);
    if (!made.ok()) return made.status();
    folder = *std::move(made);
  }
  std::vector<std::pair<uint64_t, std::string>> saved;  // array, and its folder
  for (uint64_t id : arrays) {
    const auto handle = owner_.Make<ArrayHandle>(id);
    // Arrays that were lost, are results of failed launches, or were released
    // meanwhile stay as they are.
    if (!Await(id).ok()) continue;
    if (folder != nullptr) {
      const std::string name = absl::StrCat("array-", id);
      absl::Status done = Save(handle, folder.get(), name);
      if (absl::IsNotFound(done) || absl::IsUnavailable(done)) continue;
      if (!done.ok()) return done;
      saved.emplace_back(id, absl::StrCat(folder->path(), "/", name));
      continue;
    }
    absl::StatusOr<SharedValue> value = GetValue(handle);
    if (absl::IsNotFound(value.status()) ||
        absl::IsUnavailable(value.status())) {
      continue;
    }
    if (!value.ok()) return value.status();
    absl::Status home = TakeFromHosts(id, *std::move(value));
    if (!home.ok()) return home;
  }
  if (folder == nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& [id, at] : saved)
    names.push_back(absl::StrCat("array-", id));
  absl::Status committed = folder->AddFile(kIndexFile, {PrintSetIndex(names)});
  if (committed.ok()) committed = folder->Commit();
  for (size_t i = 0; i < saved.size() && committed.ok(); ++i) {
    absl::StatusOr<std::shared_ptr<const SavedArray>> array =
        SavedArray::Open(saved[i].second);
    committed = array.status();
    if (!array.ok()) break;
    committed = TakeFromHosts(
        saved[i].first, std::make_shared<const ArrayValue>(*std::move(array)));
  }
  return committed;
}

absl::Status ArrayStore::TakeFromHosts(uint64_t array, SharedValue value) {
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status home = arrays_.FetchToClient(array, std::move(value), &objects);
  if (absl::IsNotFound(home)) return absl::OkStatus();  // released meanwhile
  channel_.ReleaseObjects(holds_.Unhold(objects));
  return home;
}

}  // namespace pathways
