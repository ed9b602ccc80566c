//===- plan_manifest.cc - Manifest of a plan ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_manifest.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "runtime/base/little_endian.h"

namespace pathways {
namespace {

constexpr absl::string_view kManifestMagic = "PWMANIF\n";
constexpr uint32_t kVersion = 1;

// Hashes the bytes that are written to it.
class HashingStream final : public google::protobuf::io::CopyingOutputStream {
 public:
  bool Write(const void* data, int bytes) override {
    hasher_.Add(absl::MakeConstSpan(static_cast<const uint8_t*>(data),
                                    static_cast<size_t>(bytes)));
    return true;
  }
  PlanHash Finish() { return hasher_.Finish(); }

 private:
  PlanHasher hasher_;
};

absl::Status CheckBytes(const std::string& program, size_t bytes) {
  if (bytes <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "program '", program, "' has tables of ", bytes,
      " bytes, expected at most ", std::numeric_limits<int32_t>::max()));
}

absl::Status Write(const proto::Plan& tables,
                   google::protobuf::io::ZeroCopyOutputStream* out) {
  absl::Status checked =
      CheckBytes(tables.header().program(), tables.ByteSizeLong());
  if (!checked.ok()) return checked;
  google::protobuf::io::CodedOutputStream coded(out);
  coded.SetSerializationDeterministic(true);
  tables.SerializeWithCachedSizes(&coded);
  return absl::OkStatus();
}

}  // namespace

std::optional<uint64_t> PlanManifest::SizeOf(absl::string_view start,
                                             uint64_t limit) {
  if (start.substr(0, kManifestMagic.size()) != kManifestMagic ||
      LoadLittleEndian(start.data() + 8, 4) != kVersion) {
    return std::nullopt;
  }
  const uint64_t bytes =
      kHeaderBytes + LoadLittleEndian(start.data() + 12, 4) * kObjectBytes;
  if (bytes > limit) return std::nullopt;
  return bytes;
}

std::optional<PlanManifest> PlanManifest::Read(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes ||
      SizeOf(bytes, bytes.size()) != bytes.size()) {
    return std::nullopt;
  }
  PlanManifest manifest;
  auto read = [&](size_t at, Part* part) {
    part->bytes = LoadLittleEndian(bytes.data() + at, 8);
    part->hash.Read(bytes.substr(at + 8, part->hash.bytes.size()));
  };
  if (LoadLittleEndian(bytes.data() + 16, 8) != 0) return std::nullopt;
  read(24, &manifest.tables);
  manifest.objects.resize((bytes.size() - kHeaderBytes) / kObjectBytes);
  for (size_t i = 0; i < manifest.objects.size(); ++i) {
    read(kHeaderBytes + i * kObjectBytes, &manifest.objects[i]);
  }
  return manifest;
}

std::string PlanManifest::Write() const {
  std::string bytes(kManifestMagic);
  bytes.reserve(kHeaderBytes + objects.size() * kObjectBytes);
  AppendLittleEndian(kVersion, 4, &bytes);
  AppendLittleEndian(objects.size(), 4, &bytes);
  AppendLittleEndian(0, 8, &bytes);
  auto write = [&](const Part& part) {
    AppendLittleEndian(part.bytes, 8, &bytes);
    bytes.append(part.hash.view().data(), part.hash.view().size());
  };
  write(tables);
  for (const Part& object : objects) write(object);
  return bytes;
}

std::optional<uint64_t> PlanManifest::TotalBytes() const {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  uint64_t total = kHeaderBytes + objects.size() * kObjectBytes;
  if (tables.bytes > kMost - total) return std::nullopt;
  total += tables.bytes;
  for (const Part& object : objects) {
    if (object.bytes > kMost - total) return std::nullopt;
    total += object.bytes;
  }
  return total;
}

absl::StatusOr<std::string> WriteTables(const proto::Plan& tables) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    absl::Status written = pathways::Write(tables, &stream);
    if (!written.ok()) return written;
  }
  return bytes;
}

absl::StatusOr<std::vector<absl::Span<const uint8_t>>> ObjectsOf(
    const PlanData& plan) {
  std::vector<absl::Span<const uint8_t>> objects;
  for (const proto::Kernel& kernel : plan.tables.kernels()) {
    for (const proto::KernelObject& object : kernel.objects()) {
      if (object.blob_offset() > plan.blobs.size() ||
          object.blob_bytes() > plan.blobs.size() - object.blob_offset()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "kernel '", kernel.name(), "' has code of ", object.blob_bytes(),
            " bytes at ", object.blob_offset(), ", the plan has ",
            plan.blobs.size()));
      }
      objects.push_back(
          plan.blobs.subspan(object.blob_offset(), object.blob_bytes()));
    }
  }
  return objects;
}

namespace {

absl::StatusOr<std::vector<PlanManifest::Part>> HashObjects(
    const PlanData& plan) {
  absl::StatusOr<std::vector<absl::Span<const uint8_t>>> objects =
      ObjectsOf(plan);
  if (!objects.ok()) return objects.status();
  std::vector<PlanManifest::Part> parts;
  for (absl::Span<const uint8_t> object : *objects) {
    parts.push_back({object.size(), HashOf(object)});
  }
  return parts;
}

PlanName NameOf(const PlanManifest& manifest) {
  // TotalBytes has a value: a sum of sizes in memory does not overflow.
  return {HashOf(manifest.Write()), *manifest.TotalBytes()};
}

}  // namespace

absl::StatusOr<PlanManifest> ManifestOf(const PlanData& plan) {
  PlanManifest manifest;
  HashingStream hashing;
  {
    google::protobuf::io::CopyingOutputStreamAdaptor stream(&hashing, 1 << 16);
    absl::Status written = Write(plan.tables, &stream);
    if (!written.ok()) return written;
    stream.Flush();
    manifest.tables.bytes = static_cast<uint64_t>(stream.ByteCount());
  }
  manifest.tables.hash = hashing.Finish();
  absl::StatusOr<std::vector<PlanManifest::Part>> objects = HashObjects(plan);
  if (!objects.ok()) return objects.status();
  manifest.objects = *std::move(objects);
  return manifest;
}

absl::StatusOr<PlanName> NameOf(const PlanData& plan) {
  absl::StatusOr<PlanManifest> manifest = ManifestOf(plan);
  if (!manifest.ok()) return manifest.status();
  return NameOf(*manifest);
}

// Tables are serialized in the order of their numbers: the header, the slices,
// then all others.
static_assert(proto::Plan::kHeaderFieldNumber == 1 &&
              proto::Plan::kSlicesFieldNumber == 2);

absl::StatusOr<PlanNamer> PlanNamer::Create(const PlanData& plan) {
  absl::StatusOr<std::string> bytes = WriteTables(plan.tables);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::vector<PlanManifest::Part>> objects = HashObjects(plan);
  if (!objects.ok()) return objects.status();
  proto::Plan head;
  *head.mutable_header() = plan.tables.header();
  const size_t begin = head.ByteSizeLong();
  *head.mutable_slices() = plan.tables.slices();
  const size_t end = head.ByteSizeLong();
  PlanNamer namer;
  namer.program_ = plan.tables.header().program();
  namer.before_ = bytes->substr(0, begin);
  namer.after_ = bytes->substr(end);
  namer.objects_ = *std::move(objects);
  return namer;
}

absl::StatusOr<PlanName> PlanNamer::NameWith(const PlanSlices& slices) const {
  proto::Plan own;
  *own.mutable_slices() = slices;
  absl::StatusOr<std::string> bytes = WriteTables(own);
  if (!bytes.ok()) return bytes.status();
  PlanManifest manifest;
  manifest.objects = objects_;
  manifest.tables.bytes = before_.size() + bytes->size() + after_.size();
  absl::Status checked = CheckBytes(program_, manifest.tables.bytes);
  if (!checked.ok()) return checked;
  PlanHasher hasher;
  for (const std::string_view part :
       {std::string_view(before_), std::string_view(*bytes),
        std::string_view(after_)}) {
    hasher.Add(absl::MakeConstSpan(
        reinterpret_cast<const uint8_t*>(part.data()), part.size()));
  }
  manifest.tables.hash = hasher.Finish();
  return NameOf(manifest);
}

}  // namespace pathways
