//===- plan_file.cc - Plans as files and bytes ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/little_endian.h"
#include "runtime/base/temporary_file.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

constexpr char kFileMagic[8] = {'P', 'W', 'P', 'L', 'A', 'N', '\r', '\n'};
constexpr uint64_t kHeaderBytes = 32;
constexpr uint64_t kEntryBytes = 32;
constexpr uint32_t kBlobSection = 9;
constexpr uint32_t kLastSection = 10;

struct Section {
  uint32_t kind = 0;
  uint32_t crc = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// crc32_z takes a size_t; blobs may be larger than the unsigned of crc32.
uint32_t Crc(const uint8_t* data, uint64_t bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), data, static_cast<size_t>(bytes)));
}

uint64_t AlignUp(uint64_t value) {
  return (value + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

std::string SectionName(uint32_t kind) {
  static constexpr const char* kNames[] = {
      "header",  "slices", "layouts",   "kernels", "buffers",
      "actions", "edges",  "interface", "blobs",   "loops"};
  if (kind >= 1 && kind <= kLastSection)
    return absl::StrCat("section '", kNames[kind - 1], "'");
  return absl::StrCat("section of kind ", kind);
}

std::string Hex(uint32_t value) {
  return absl::StrCat("0x", absl::Hex(value, absl::kZeroPad8));
}

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckZero(const uint8_t* data, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    if (data[i] != 0)
      return Bad("plan is damaged: the byte at ", i, " between sections is ",
                 static_cast<int>(data[i]), ", expected 0");
  }
  return absl::OkStatus();
}

// Reads the section table, and checks that all sections are within the file, in
// order, and intact.
absl::StatusOr<std::vector<Section>> ReadSections(const uint8_t* data,
                                                  uint64_t size) {
  if (size < sizeof(kFileMagic) ||
      std::memcmp(data, kFileMagic, sizeof(kFileMagic)) != 0)
    return Bad("not a plan: it does not begin with PWPLAN");
  if (size < kHeaderBytes)
    return Bad("plan is truncated: it has ", size, " bytes, its header alone ",
               kHeaderBytes);
  uint32_t version = static_cast<uint32_t>(LoadLittleEndian(data + 8, 4));
  if (version != kPlanFormatVersion)
    return Bad("plan has format version ", version, ", this reader knows ",
               kPlanFormatVersion);
  uint64_t count = LoadLittleEndian(data + 12, 4);
  uint64_t total = LoadLittleEndian(data + 16, 8);
  if (total != size)
    return Bad("plan is ",
               total > size ? "truncated" : "followed by other bytes",
               ": it has ", size, " bytes, its header says ", total);
  if (uint64_t reserved = LoadLittleEndian(data + 28, 4); reserved != 0)
    return Bad("plan is damaged: the reserved word of its header is ", reserved,
               ", expected 0");
  if (count > (size - kHeaderBytes) / kEntryBytes)
    return Bad("plan is damaged: ", count, " sections do not fit ", size,
               " bytes");
  uint64_t at = kHeaderBytes + count * kEntryBytes;
  uint32_t expected = static_cast<uint32_t>(LoadLittleEndian(data + 24, 4));
  uint32_t actual = Crc(data + kHeaderBytes, count * kEntryBytes);
  if (expected != actual)
    return Bad("plan is damaged: the section table has checksum ", Hex(actual),
               ", its header says ", Hex(expected));

  std::vector<Section> sections(count);
  uint32_t last_kind = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t* entry = data + kHeaderBytes + i * kEntryBytes;
    Section& section = sections[i];
    section.kind = static_cast<uint32_t>(LoadLittleEndian(entry, 4));
    section.crc = static_cast<uint32_t>(LoadLittleEndian(entry + 4, 4));
    section.offset = LoadLittleEndian(entry + 8, 8);
    section.bytes = LoadLittleEndian(entry + 16, 8);
    std::string name = SectionName(section.kind);
    if (section.kind <= last_kind)
      return Bad("plan is damaged: ", name, " comes after ",
                 last_kind == 0 ? "the section table" : SectionName(last_kind),
                 ", sections come in order of kind, each once");
    last_kind = section.kind;
    if (LoadLittleEndian(entry + 24, 8) != 0)
      return Bad("plan is damaged: the reserved word of ", name, " is ",
                 LoadLittleEndian(entry + 24, 8), ", expected 0");
    if (section.offset % kBlobAlignment != 0)
      return Bad("plan is damaged: ", name, " begins at ", section.offset,
                 ", not a multiple of ", kBlobAlignment);
    if (section.offset < at)
      return Bad("plan is damaged: ", name, " begins at ", section.offset,
                 ", before what precedes it ends at ", at);
    if (section.offset > size || section.bytes > size - section.offset)
      return Bad("plan is damaged: ", name, " has ", section.bytes,
                 " bytes from ", section.offset, ", the plan has ", size);
    if (absl::Status zero = CheckZero(data, at, section.offset); !zero.ok())
      return zero;
    at = section.offset + section.bytes;
    uint32_t crc = Crc(data + section.offset, section.bytes);
    if (crc != section.crc)
      return Bad("plan is damaged: ", name, " has checksum ", Hex(crc),
                 ", the section table says ", Hex(section.crc));
  }
  if (at != size)
    return Bad("plan is followed by other bytes: its sections end at ", at,
               ", it has ", size, " bytes");
  return sections;
}

// Parses one table and moves it into `tables`.
absl::Status ReadTable(const uint8_t* data, const Section& section,
                       proto::Plan* tables) {
  std::string name = SectionName(section.kind);
  if (section.bytes > kMaxTableBytes)
    return Bad(name, " of the plan has ", section.bytes, " bytes, at most ",
               kMaxTableBytes, " are accepted");
  proto::Plan table;
  {
    // The silencer keeps protobuf from logging invalid UTF-8 to stderr.
    google::protobuf::LogSilencer silence;
    if (!table.ParseFromArray(data + section.offset,
                              static_cast<int>(section.bytes)))
      return Bad("plan is damaged: ", name, " of ", section.bytes,
                 " bytes is not a table");
  }
  if (HasUnknownFields(table))
    return Bad("plan is damaged: ", name, " has a field that no plan has");
  const google::protobuf::Reflection* reflection = proto::Plan::GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(table, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->number() != static_cast<int>(section.kind))
      return Bad("plan is damaged: ", name, " has entries of '", field->name(),
                 "'");
  }
  for (const google::protobuf::FieldDescriptor* field : fields)
    reflection->SwapFields(tables, &table, {field});
  return absl::OkStatus();
}

// Reads a plan whose bytes live as long as `owner`. Copies the blobs if there
// is no owner.
absl::StatusOr<PlanData> Read(const uint8_t* data, uint64_t size,
                              std::shared_ptr<const void> owner) {
  absl::StatusOr<std::vector<Section>> sections = ReadSections(data, size);
  if (!sections.ok()) return Coded(ErrorId::kPlanDamaged, sections.status());
  proto::Plan tables;
  absl::Span<const uint8_t> blobs;
  for (const Section& section : *sections) {
    if (section.kind == kBlobSection) {
      blobs = absl::MakeConstSpan(data + section.offset, section.bytes);
    } else if (section.kind <= kLastSection) {
      absl::Status status = ReadTable(data, section, &tables);
      if (!status.ok()) return Coded(ErrorId::kPlanDamaged, status);
    }
  }
  if (owner == nullptr) return MakePlanData(std::move(tables), blobs);
  PlanData plan;
  plan.tables = std::move(tables);
  plan.blobs = blobs;
  plan.owner = std::move(owner);
  return plan;
}

// Returns a system error as a status that names `path`.
absl::Status SystemError(absl::string_view what, absl::string_view path,
                         int error) {
  std::string message =
      absl::StrCat(what, " '", path, "': ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InvalidArgumentError(message);
  }
}

// Owns a file descriptor and closes it at the end of its scope.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  // Closes the file now. Returns false and sets errno if written data may be
  // lost.
  bool Close() {
    int descriptor = std::exchange(descriptor_, -1);
    return close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

}  // namespace

PlanData WithSlices(const PlanData& plan, PlanSlices slices) {
  PlanData copy = plan;
  *copy.tables.mutable_slices() = std::move(slices);
  return copy;
}

PlanData MakePlanData(proto::Plan tables, absl::Span<const uint8_t> blobs) {
  PlanData plan;
  plan.tables = std::move(tables);
  if (blobs.empty()) return plan;
  // aligned_alloc requires a size that is a multiple of the alignment.
  uint8_t* copy = static_cast<uint8_t*>(
      std::aligned_alloc(kBlobAlignment, AlignUp(blobs.size())));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, blobs.data(), blobs.size());
  plan.owner = std::shared_ptr<const void>(
      copy, [](const void* memory) { std::free(const_cast<void*>(memory)); });
  plan.blobs = absl::MakeConstSpan(copy, blobs.size());
  return plan;
}

bool LooksLikePlan(absl::string_view bytes) {
  return bytes.size() >= sizeof(kFileMagic) &&
         std::memcmp(bytes.data(), kFileMagic, sizeof(kFileMagic)) == 0;
}

absl::StatusOr<PlanData> ParsePlan(absl::string_view bytes) {
  return Read(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
              nullptr);
}

absl::StatusOr<PlanData> ReadPlanFile(const std::string& path) {
  // O_NONBLOCK keeps the open of a pipe from waiting for a writer.
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError("cannot open plan", path, errno);
  struct stat info;
  if (fstat(file.get(), &info) != 0)
    return SystemError("cannot read plan", path, errno);
  if (!S_ISREG(info.st_mode))
    return Bad("cannot read plan '", path, "': it is not a regular file");
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size == 0) return Bad("cannot read plan '", path, "': it is empty");
  void* memory =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), /*offset=*/0);
  if (memory == MAP_FAILED) return SystemError("cannot map plan", path, errno);
  std::shared_ptr<const void> owner(memory, [size](const void* mapped) {
    munmap(const_cast<void*>(mapped), size);
  });
  absl::StatusOr<PlanData> plan =
      Read(static_cast<const uint8_t*>(memory), size, std::move(owner));
  if (!plan.ok())
    return absl::Status(plan.status().code(),
                        absl::StrCat("cannot read plan '", path,
                                     "': ", plan.status().message()));
  return plan;
}

std::string SerializePlan(const proto::Plan& plan,
                          absl::Span<const uint8_t> blobs) {
  std::vector<std::pair<uint32_t, std::string>> sections;
  const google::protobuf::Reflection* reflection = proto::Plan::GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(plan, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    // Holds only this table, as a copy, because a message cannot be written in
    // part.
    proto::Plan table;
    if (field->is_repeated()) {
      int count = reflection->FieldSize(plan, field);
      for (int i = 0; i < count; ++i)
        reflection->AddMessage(&table, field)
            ->CopyFrom(reflection->GetRepeatedMessage(plan, field, i));
    } else {
      reflection->MutableMessage(&table, field)
          ->CopyFrom(reflection->GetMessage(plan, field));
    }
    if (table.ByteSizeLong() > kMaxTableBytes) return "";
    std::string bytes;
    {
      google::protobuf::io::StringOutputStream stream(&bytes);
      google::protobuf::io::CodedOutputStream coded(&stream);
      coded.SetSerializationDeterministic(true);
      table.SerializeToCodedStream(&coded);
    }
    sections.emplace_back(field->number(), std::move(bytes));
  }
  // The bytes of each section, by kind.
  std::map<uint32_t, absl::Span<const uint8_t>> all;
  for (const auto& [kind, bytes] : sections)
    all[kind] = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  if (!blobs.empty()) all[kBlobSection] = blobs;
  uint64_t count = all.size();
  uint64_t at = kHeaderBytes + count * kEntryBytes;
  std::string table;
  for (const auto& [kind, bytes] : all) {
    at = AlignUp(at);
    AppendLittleEndian(kind, 4, &table);
    AppendLittleEndian(Crc(bytes.data(), bytes.size()), 4, &table);
    AppendLittleEndian(at, 8, &table);
    AppendLittleEndian(bytes.size(), 8, &table);
    AppendLittleEndian(0, 8, &table);
    at += bytes.size();
  }

  std::string file(kFileMagic, sizeof(kFileMagic));
  file.reserve(at);
  AppendLittleEndian(kPlanFormatVersion, 4, &file);
  AppendLittleEndian(count, 4, &file);
  AppendLittleEndian(at, 8, &file);
  AppendLittleEndian(
      Crc(reinterpret_cast<const uint8_t*>(table.data()), table.size()), 4,
      &file);
  AppendLittleEndian(0, 4, &file);
  file += table;
  for (const auto& [kind, bytes] : all) {
    file.resize(AlignUp(file.size()), '\0');
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return file;
}

absl::Status WritePlanFile(const std::string& path, const proto::Plan& plan,
                           absl::Span<const uint8_t> blobs) {
  std::string bytes = SerializePlan(plan, blobs);
  if (bytes.empty())
    return Bad("cannot write plan '", path, "': a table has more than ",
               kMaxTableBytes, " bytes");
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode))
      return SystemError("cannot write plan", path, EISDIR);
    // A device or a pipe cannot be replaced, so it is written in place.
    File file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) return SystemError("cannot write plan", path, errno);
    int error = WriteAll(file.get(), {bytes.data(), bytes.size()});
    if (error == 0 && !file.Close()) error = errno;
    if (error != 0) return SystemError("cannot write plan", path, error);
    return absl::OkStatus();
  }
  // Renaming requires write access to the folder only, but a read-only file
  // must stay.
  if (exists && access(path.c_str(), W_OK) != 0)
    return SystemError("cannot write plan", path, errno);
  // A symbolic link stays; its target is replaced.
  std::string target = path;
  if (char* resolved = exists ? realpath(path.c_str(), nullptr) : nullptr) {
    target = resolved;
    std::free(resolved);
  }
  TemporaryFile file;
  int error = file.Create(target + ".", "", 0666);
  if (error == 0 && exists && fchmod(file.fd(), info.st_mode & 07777) != 0)
    error = errno;
  if (error == 0) error = WriteAll(file.fd(), {bytes.data(), bytes.size()});
  if (error == 0) error = file.Commit(target);
  if (error != 0) return SystemError("cannot write plan", path, error);
  return absl::OkStatus();
}

}  // namespace pathways
