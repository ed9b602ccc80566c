//===- run_checkpoints.cc - Checkpoints of one recovered run --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_checkpoints.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/checkpoint_folder.h"
#include "runtime/client/loaded_program.h"
#include "runtime/client/value_views.h"

namespace pathways {

absl::Status RunCheckpoints::Open(std::shared_ptr<const LoadedProgram> program,
                                  int64_t steps) {
  program_ = std::move(program);
  current_.values.resize(program_->num_arguments());
  if (!has_folder()) return absl::OkStatus();
  const absl::StatusOr<std::string> last =
      OpenCheckpointFolder(options_.checkpoint_dir);
  if (!last.ok()) return last.status();
  if (last->empty()) return absl::OkStatus();
  if (!options_.resume) {
    return absl::AlreadyExistsError(
        absl::StrCat("'", *last,
                     "' was saved by an earlier run; resume that "
                     "run, or use another folder",
                     Tag(ErrorId::kCheckpointOfAnotherRun)));
  }
  const proto::Header& header = program_->plan().plan().header();
  const absl::StatusOr<CheckpointFacts> facts = ReadCheckpoint(
      *last, header.program(), header.fingerprint(), first_step_);
  if (!facts.ok()) return facts.status();
  if (facts->steps >= steps) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", *last, "' is a checkpoint after ", facts->steps,
        " steps, expected fewer than the ", steps, " steps of this run",
        Tag(ErrorId::kCheckpointOfAnotherRun)));
  }
  current_.steps = facts->steps;
  current_.folder = *last;
  resumed_ = *facts;
  return absl::OkStatus();
}

absl::Status RunCheckpoints::NoteInput(int argument, const SharedValue& value) {
  if (!has_folder() || value == nullptr) return absl::OkStatus();
  return inputs_.Add(program_->argument(argument).name(), value,
                     program_->argument(argument).stepped());
}

absl::Status RunCheckpoints::CheckInputs() {
  if (!resumed_.has_value()) return absl::OkStatus();
  return inputs_.Check(current_.folder, *resumed_);
}

absl::Status RunCheckpoints::SaveBeginning(const LaunchArguments& arguments) {
  std::vector<ArrayHandle> arrays(arguments.size());
  std::vector<HeldArray> put;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (current_.values[i] != nullptr) {
      absl::StatusOr<ArrayHandle> array = store_.Put(Whole(current_.values[i]));
      if (!array.ok()) return array.status();
      put.emplace_back(&store_, *array);
      arrays[i] = *array;
    } else if (program_->argument(static_cast<int>(i)).carried()) {
      arrays[i] = std::get<ArrayHandle>(arguments[i]);
    }
  }
  Checkpoint checkpoint;
  absl::Status saved = Save(arrays, &checkpoint);
  if (saved.ok()) current_ = std::move(checkpoint);
  return saved;
}

absl::Status RunCheckpoints::PrepareHosts() {
  if (!options_.checkpoints_on_hosts) return absl::OkStatus();
  beginning_ = current_.values;
  return on_hosts_->Prepare(options_.load);
}

absl::Status RunCheckpoints::Make(int64_t steps,
                                  const std::vector<ArrayHandle>& arrays) {
  Checkpoint checkpoint;
  checkpoint.steps = steps;
  absl::Status made = options_.checkpoints_on_hosts
                          ? KeepOnHosts(arrays, &checkpoint)
                      : has_folder() ? Save(arrays, &checkpoint)
                                     : Copy(arrays, &checkpoint);
  if (!made.ok()) return made;
  std::swap(current_, checkpoint);
  if (is_in_files()) {
    RemoveCheckpointsBefore(options_.checkpoint_dir, current_.steps);
  }
  return absl::OkStatus();
}

absl::Status RunCheckpoints::Copy(const std::vector<ArrayHandle>& arrays,
                                  Checkpoint* checkpoint) {
  checkpoint->values.resize(arrays.size());
  report_.checkpoint_bytes = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!program_->argument(static_cast<int>(i)).carried()) continue;
    absl::StatusOr<SharedValue> copy = store_.GetValue(arrays[i]);
    if (!copy.ok()) return copy.status();
    report_.checkpoint_bytes += (*copy)->data().size();
    checkpoint->values[i] = *std::move(copy);
  }
  return absl::OkStatus();
}

uint64_t RunCheckpoints::BytesOf(int argument, ArrayHandle array) const {
  const absl::StatusOr<ArrayType> type = store_.TypeOf(array);
  if (!type.ok()) return 0;
  return BytesOfArray(type->element, type->shape).value_or(0) *
         static_cast<uint64_t>(program_->ContributionsOf(argument).count());
}

absl::Status RunCheckpoints::KeepOnHosts(const std::vector<ArrayHandle>& arrays,
                                         Checkpoint* checkpoint) {
  const auto copies = on_hosts_->Copy(arrays);
  if (!copies.ok()) {
    absl::Status copied = Copy(arrays, checkpoint);
    if (!copied.ok()) return copied;
    Notify(*checkpoint, absl::StrCat("is kept in the client: ",
                                     WithoutTag(copies.status().message())));
    return copied;
  }
  checkpoint->values.resize(arrays.size());
  report_.checkpoint_bytes = 0;
  for (size_t i = 0; i < copies->size(); ++i) {
    const ArrayHandle copy = (*copies)[i];
    if (copy.id == 0) {
      checkpoint->arrays.emplace_back();
      continue;
    }
    checkpoint->arrays.emplace_back(&store_, copy);
    report_.checkpoint_bytes += BytesOf(static_cast<int>(i), copy);
  }
  return absl::OkStatus();
}

void RunCheckpoints::FetchFromHosts() {
  if (current_.arrays.empty()) return;
  std::vector<ArrayHandle> arrays;
  for (const HeldArray& held : current_.arrays) arrays.push_back(held.handle());
  absl::Status copied = Copy(arrays, &current_);
  if (!copied.ok()) {
    Notify(current_, absl::StrCat("is lost: ", WithoutTag(copied.message())));
    current_.steps = 0;
    current_.values = beginning_;
  }
  current_.arrays.clear();
}

absl::Status RunCheckpoints::Save(const std::vector<ArrayHandle>& arrays,
                                  Checkpoint* checkpoint) {
  checkpoint->values.resize(arrays.size());
  const std::string path =
      CheckpointPath(options_.checkpoint_dir, checkpoint->steps);
  absl::StatusOr<std::unique_ptr<SaveFolder>> folder = SaveFolder::Create(path);
  if (!folder.ok()) return folder.status();
  report_.checkpoint_bytes = 0;
  std::vector<std::string> names;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const proto::Argument& argument = program_->argument(static_cast<int>(i));
    if (!argument.carried()) continue;
    absl::Status good = CheckArrayName(argument.name());
    if (good.ok()) {
      good = store_.Save(arrays[i], folder->get(), argument.name());
    }
    if (!good.ok()) return good;
    names.push_back(argument.name());
    report_.checkpoint_bytes += BytesOf(static_cast<int>(i), arrays[i]);
  }
  std::sort(names.begin(), names.end());
  const proto::Header& header = program_->plan().plan().header();
  absl::StatusOr<std::vector<CheckpointInput>> inputs =
      inputs_.After(checkpoint->steps);
  if (!inputs.ok()) return inputs.status();
  const CheckpointFacts facts{header.program(), header.fingerprint(),
                              checkpoint->steps, first_step_,
                              *std::move(inputs)};
  absl::Status written =
      (*folder)->AddFile(kIndexFile, {PrintSetIndex(names, &facts)});
  if (written.ok()) written = (*folder)->Commit();
  checkpoint->folder = path;
  return written;
}

absl::StatusOr<SharedValue> RunCheckpoints::ValueOf(int argument) const {
  const SharedValue& value = current_.values[argument];
  if (value != nullptr) return value;
  absl::StatusOr<std::shared_ptr<const SavedArray>> saved = SavedArray::Open(
      absl::StrCat(current_.folder, "/", program_->argument(argument).name()));
  if (!saved.ok()) return saved.status();
  return std::make_shared<const ArrayValue>(*std::move(saved));
}

void RunCheckpoints::Notify(const Checkpoint& checkpoint,
                            const std::string& what) const {
  if (!options_.on_event) return;
  options_.on_event(absl::StrCat("the checkpoint after step ",
                                 first_step_ + checkpoint.steps, " ", what));
}

}  // namespace pathways
