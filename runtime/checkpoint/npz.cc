//===- npz.cc - Archives of arrays in NumPy's file format -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/little_endian.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/crc32.h"

namespace pathways {
namespace {

// Records of a ZIP file begin with these numbers.
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;

constexpr size_t kLocalHeaderBytes = 30;
constexpr size_t kDirectoryEntryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kEnd64LocatorBytes = 20;
constexpr size_t kMaxCommentBytes = 65535;

constexpr uint16_t kZip64Field = 1;                  // of the extra fields
constexpr uint16_t kEncrypted = 1, kUtf8 = 1 << 11;  // flags
constexpr uint16_t kStored = 0, kDeflated = 8;       // methods
// A field of 16 or 32 bits with this value is in a zip64 record.
constexpr uint64_t kIn64Of16 = 0xffff, kIn64Of32 = 0xffffffff;

// January 1st, 1980: the beginning of the format's time.
constexpr uint16_t kDate = 1 << 5 | 1;
// Versions of the format that a reader must know, for members and for zip64.
constexpr uint16_t kVersion = 20, kVersion64 = 45;

// Deflate makes bytes at most 1032 times smaller.
constexpr uint64_t kMaxRatio = 1032;

absl::Status DamagedArchive(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the archive is damaged: ", what, Tag(ErrorId::kArchive)));
}

absl::Status UnsupportedArchive(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, Tag(ErrorId::kArchive)));
}

// ZipFields of a record, in order. The caller has checked the record's size.
class ZipFields {
 public:
  explicit ZipFields(absl::string_view record) : record_(record) {}

  uint64_t Next(int bytes) {
    const uint64_t value = LoadLittleEndian(record_.data() + at_, bytes);
    at_ += bytes;
    return value;
  }
  uint16_t Next16() { return static_cast<uint16_t>(Next(2)); }
  uint32_t Next32() { return static_cast<uint32_t>(Next(4)); }
  void Skip(size_t bytes) { at_ += bytes; }

 private:
  absl::string_view record_;
  size_t at_ = 0;
};

bool BeginsWithRecord(absl::string_view bytes, uint32_t record) {
  return bytes.size() >= 4 && LoadLittleEndian(bytes.data(), 4) == record;
}

// Returns the place of the record that ends the file, behind which there is
// only a comment; npos if there is none.
size_t FindEnd(absl::string_view file) {
  if (file.size() < kEndBytes) return absl::string_view::npos;
  const size_t last = file.size() - kEndBytes;
  const size_t first = last - std::min(last, kMaxCommentBytes);
  for (size_t at = last + 1; at-- > first;) {
    if (BeginsWithRecord(file.substr(at), kEnd) &&
        LoadLittleEndian(file.data() + at + kEndBytes - 2, 2) == last - at) {
      return at;
    }
  }
  return absl::string_view::npos;
}

// Replaces the fields of an entry that are in its zip64 field. Returns false if
// that is missing or too short.
bool ReadZip64(absl::string_view extra, std::vector<uint64_t*> fields) {
  fields.erase(
      std::remove_if(fields.begin(), fields.end(),
                     [](uint64_t* field) { return *field != kIn64Of32; }),
      fields.end());
  while (!fields.empty() && extra.size() >= 4) {
    const uint64_t kind = LoadLittleEndian(extra.data(), 2);
    const uint64_t bytes = LoadLittleEndian(extra.data() + 2, 2);
    extra.remove_prefix(4);
    if (bytes > extra.size()) return false;
    if (kind != kZip64Field) {
      extra.remove_prefix(bytes);
      continue;
    }
    if (bytes < 8 * fields.size()) return false;
    for (size_t i = 0; i < fields.size(); ++i) {
      *fields[i] = LoadLittleEndian(extra.data() + 8 * i, 8);
    }
    return true;
  }
  return fields.empty();
}

// Inflates up to `bytes` bytes of raw deflated data. `all`: fails unless these
// are all.
absl::Status Inflate(absl::string_view data, uint64_t bytes, bool all,
                     std::string* to) {
  if (!HasMemoryFor([&] { to->resize(bytes); })) {
    return absl::ResourceExhaustedError(NoMemoryText(bytes));
  }
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return absl::ResourceExhaustedError(NoMemoryText(uint64_t{1} << 16));
  }
  constexpr uint64_t kMost = std::numeric_limits<uInt>::max();
  uint64_t taken = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const uint64_t in = std::min(data.size() - taken, kMost);
    const uint64_t out = std::min(bytes - made, kMost);
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(to->data() + made);
    stream.avail_out = static_cast<uInt>(out);
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (!all && made == bytes) break;
  }
  inflateEnd(&stream);
  to->resize(made);
  if (!all) return absl::OkStatus();
  if (result != Z_STREAM_END || made != bytes || taken != data.size()) {
    return DamagedArchive(absl::StrCat("expected ", data.size(),
                                       " deflated bytes to become ", bytes,
                                       ", but ", taken, " became ", made));
  }
  return absl::OkStatus();
}

absl::Status OfZipMember(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("'", name, "': ", status.message()));
}

}  // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

absl::StatusOr<NpzReader::Directory> NpzReader::FindDirectory(
    absl::string_view file) {
  if (file.empty()) return absl::InvalidArgumentError("the file is empty");
  const size_t end = FindEnd(file);
  if (end == absl::string_view::npos) {
    // An archive without arrays begins with its end.
    if (!BeginsWithRecord(file, kLocalHeader)) {
      return UnsupportedArchive("not a .npz file: it is no ZIP archive");
    }
    return DamagedArchive("it has no end, so it may be truncated");
  }
  ZipFields fields(file.substr(end + 4));
  const uint64_t disk = fields.Next(2), first_disk = fields.Next(2);
  const uint64_t here = fields.Next(2);
  Directory directory;
  directory.members = fields.Next(2);
  directory.bytes = fields.Next(4);
  directory.at = fields.Next(4);
  const bool is_64 = directory.members == kIn64Of16 ||
                     directory.bytes == kIn64Of32 || directory.at == kIn64Of32;
  uint64_t limit = end;
  if (is_64 && end >= kEnd64LocatorBytes &&
      BeginsWithRecord(file.substr(end - kEnd64LocatorBytes), kEnd64Locator)) {
    const uint64_t at =
        LoadLittleEndian(file.data() + end - kEnd64LocatorBytes + 8, 8);
    limit = end - kEnd64LocatorBytes;
    if (limit < kEnd64Bytes || at > limit - kEnd64Bytes ||
        !BeginsWithRecord(file.substr(at), kEnd64)) {
      return DamagedArchive(absl::StrCat("its zip64 end is not at byte ", at));
    }
    ZipFields wide(file.substr(at));
    wide.Skip(32);
    directory.members = wide.Next(8);
    directory.bytes = wide.Next(8);
    directory.at = wide.Next(8);
    limit = at;
  } else if (disk != 0 || first_disk != 0 || here != directory.members) {
    return UnsupportedArchive("the archive is one of several files");
  }
  if (directory.bytes > limit || directory.at != limit - directory.bytes) {
    return DamagedArchive(absl::StrCat(
        "its list of members has ", directory.bytes, " bytes at byte ",
        directory.at, ", but ends at byte ", limit));
  }
  return directory;
}

absl::StatusOr<NpzReader::Member> NpzReader::ParseMember(
    absl::string_view begin, absl::string_view* entries) {
  if (entries->size() < kDirectoryEntryBytes ||
      !BeginsWithRecord(*entries, kDirectoryEntry)) {
    return DamagedArchive("its list of members ends too early");
  }
  ZipFields fields(*entries);
  fields.Skip(8);
  const uint16_t flags = fields.Next16(), method = fields.Next16();
  fields.Skip(4);
  Member member;
  member.crc = fields.Next32();
  uint64_t stored = fields.Next32();
  member.bytes = fields.Next32();
  const size_t name_bytes = fields.Next16(), extra_bytes = fields.Next16(),
               comment_bytes = fields.Next16();
  fields.Skip(8);
  uint64_t at = fields.Next32();
  entries->remove_prefix(kDirectoryEntryBytes);
  if (name_bytes + extra_bytes + comment_bytes > entries->size()) {
    return DamagedArchive("its list of members ends too early");
  }
  member.name = std::string(entries->substr(0, name_bytes));
  const absl::string_view extra = entries->substr(name_bytes, extra_bytes);
  entries->remove_prefix(name_bytes + extra_bytes + comment_bytes);
  if (!ReadZip64(extra, {&member.bytes, &stored, &at})) {
    return DamagedArchive(
        absl::StrCat("'", member.name, "' has no zip64 sizes"));
  }
  if ((flags & kEncrypted) != 0) {
    return UnsupportedArchive(absl::StrCat("'", member.name, "' is encrypted"));
  }
  if (method != kStored && method != kDeflated) {
    return UnsupportedArchive(absl::StrCat(
        "'", member.name, "' is compressed by method ", method,
        "; expected 0 (stored) or 8 (deflated), as numpy.savez writes"));
  }
  member.deflated = method == kDeflated;
  if (at > begin.size() || begin.size() - at < kLocalHeaderBytes ||
      !BeginsWithRecord(begin.substr(at), kLocalHeader)) {
    return DamagedArchive(
        absl::StrCat("'", member.name, "' does not begin at byte ", at));
  }
  // The lengths of name and extra fields may differ from those in the list.
  const uint64_t skipped = kLocalHeaderBytes +
                           LoadLittleEndian(begin.data() + at + 26, 2) +
                           LoadLittleEndian(begin.data() + at + 28, 2);
  if (begin.size() - at < skipped || begin.size() - at - skipped < stored) {
    return DamagedArchive(absl::StrCat("'", member.name, "' has ", stored,
                                       " bytes at byte ", at,
                                       ", but the file ends before them"));
  }
  member.data = begin.substr(at + skipped, stored);
  if (member.deflated ? member.bytes / kMaxRatio > stored + 1
                      : member.bytes != stored) {
    return DamagedArchive(absl::StrCat("'", member.name, "' has ", member.bytes,
                                       " bytes, but ", stored, " in the file"));
  }
  return member;
}

absl::StatusOr<NpzReader> NpzReader::Open(absl::string_view bytes) {
  absl::StatusOr<Directory> directory = FindDirectory(bytes);
  if (!directory.ok()) return directory.status();
  absl::string_view entries = bytes.substr(directory->at, directory->bytes);
  if (directory->members > entries.size() / kDirectoryEntryBytes) {
    return DamagedArchive(absl::StrCat("it lists ", directory->members,
                                       " members in ", entries.size(),
                                       " bytes"));
  }
  NpzReader reader;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < directory->members; ++i) {
    absl::StatusOr<Member> member =
        ParseMember(bytes.substr(0, directory->at), &entries);
    if (!member.ok()) return member.status();
    absl::string_view key = member->name;
    if (!absl::ConsumeSuffix(&key, ".npy")) {
      return UnsupportedArchive(absl::StrCat("'", member->name,
                                             "' is no .npy file; expected only "
                                             "arrays in the archive"));
    }
    if (!names.insert(member->name).second) {
      return UnsupportedArchive(
          absl::StrCat("'", key, "' is in the archive twice"));
    }
    reader.keys_.emplace_back(key);
    reader.members_.push_back(*std::move(member));
  }
  if (!entries.empty()) {
    return DamagedArchive(absl::StrCat("its list of ", directory->members,
                                       " members has ", entries.size(),
                                       " bytes more"));
  }
  return reader;
}

absl::StatusOr<NpyHeader> NpzReader::ReadHeader(size_t index) const {
  const Member& member = members_[index];
  absl::string_view begin = member.data;
  std::string inflated;
  if (member.deflated) {
    const uint64_t bytes = std::min<uint64_t>(member.bytes, kMaxNpyPrefixBytes);
    const absl::Status status =
        Inflate(member.data, bytes, /*all=*/false, &inflated);
    if (!status.ok()) return OfZipMember(keys_[index], status);
    begin = inflated;
  }
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(begin);
  if (!header.ok()) return OfZipMember(keys_[index], header.status());
  return header;
}

absl::StatusOr<HostArray> NpzReader::Read(size_t index) const {
  const Member& member = members_[index];
  absl::string_view file = member.data;
  std::string inflated;
  if (member.deflated) {
    const absl::Status status =
        Inflate(member.data, member.bytes, /*all=*/true, &inflated);
    if (!status.ok()) return OfZipMember(keys_[index], status);
    file = inflated;
  }
  if (const uint32_t crc = Crc32(0, file); crc != member.crc) {
    return OfZipMember(keys_[index],
                       DamagedArchive(absl::StrCat("its CRC-32 is ", crc,
                                                   ", expected ", member.crc)));
  }
  absl::StatusOr<HostArray> array = ParseNpy(file);
  if (!array.ok()) return OfZipMember(keys_[index], array.status());
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

// Appends the fields that a local header and an entry of the list share, up to
// the length of the extra fields.
void AppendMember(const std::string& name, uint32_t crc, uint64_t bytes,
                  bool is_64, size_t extra_bytes, std::string* to) {
  const bool is_ascii = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<signed char>(c) > 0;
  });
  AppendLittleEndian(is_64 ? kVersion64 : kVersion, 2, to);
  AppendLittleEndian(is_ascii ? 0 : kUtf8, 2, to);
  AppendLittleEndian(kStored, 2, to);
  AppendLittleEndian(0, 2, to);  // time
  AppendLittleEndian(kDate, 2, to);
  AppendLittleEndian(crc, 4, to);
  for (int i = 0; i < 2; ++i) {
    AppendLittleEndian(is_64 ? kIn64Of32 : bytes, 4, to);
  }
  AppendLittleEndian(name.size(), 2, to);
  AppendLittleEndian(extra_bytes, 2, to);
}

// Appends the records before the end that have the place of the list in 64
// bits.
void AppendEnd64(uint64_t at, uint64_t bytes, uint64_t count, std::string* to) {
  AppendLittleEndian(kEnd64, 4, to);
  AppendLittleEndian(kEnd64Bytes - 12, 8, to);
  for (int i = 0; i < 2; ++i) AppendLittleEndian(kVersion64, 2, to);
  for (int i = 0; i < 2; ++i) AppendLittleEndian(0, 4, to);
  for (uint64_t value : {count, count, bytes, at}) {
    AppendLittleEndian(value, 8, to);
  }
  AppendLittleEndian(kEnd64Locator, 4, to);
  AppendLittleEndian(0, 4, to);
  AppendLittleEndian(at + bytes, 8, to);
  AppendLittleEndian(1, 4, to);
}

}  // namespace

absl::Status NpzWriter::Append(absl::string_view bytes) {
  at_ += bytes.size();
  return write_(bytes);
}

absl::Status NpzWriter::Add(const std::string& key, const HostArray& array) {
  const std::string npy = SerializeNpyHeader(array.element, array.shape);
  const absl::string_view data(array.data.data(), array.data.size());
  Entry entry;
  entry.name = absl::StrCat(key, ".npy");
  if (entry.name.size() > kIn64Of16) {
    return UnsupportedArchive(
        absl::StrCat("the name of an array has ", key.size(),
                     " bytes, which an archive cannot have"));
  }
  entry.crc = Crc32(Crc32(0, npy), data);
  entry.bytes = npy.size() + data.size();
  entry.offset = at_;
  const bool is_64 = entry.bytes >= zip64_from_;
  std::string header;
  AppendLittleEndian(kLocalHeader, 4, &header);
  AppendMember(entry.name, entry.crc, entry.bytes, is_64, is_64 ? 20 : 0,
               &header);
  header += entry.name;
  if (is_64) {
    AppendLittleEndian(kZip64Field, 2, &header);
    AppendLittleEndian(16, 2, &header);
    AppendLittleEndian(entry.bytes, 8, &header);
    AppendLittleEndian(entry.bytes, 8, &header);
  }
  entries_.push_back(std::move(entry));
  for (absl::string_view part :
       {absl::string_view(header), absl::string_view(npy), data}) {
    if (absl::Status status = Append(part); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NpzWriter::Finish() {
  std::string list;
  for (const Entry& entry : entries_) {
    const bool is_wide = entry.bytes >= zip64_from_,
               is_far = entry.offset >= zip64_from_;
    std::string extra;
    for (int i = 0; i < 2 && is_wide; ++i) {
      AppendLittleEndian(entry.bytes, 8, &extra);
    }
    if (is_far) AppendLittleEndian(entry.offset, 8, &extra);
    AppendLittleEndian(kDirectoryEntry, 4, &list);
    AppendLittleEndian(kVersion64, 2, &list);
    AppendMember(entry.name, entry.crc, entry.bytes, is_wide,
                 extra.empty() ? 0 : extra.size() + 4, &list);
    // A comment, the disk and attributes.
    for (int bytes : {2, 2, 2, 4}) AppendLittleEndian(0, bytes, &list);
    AppendLittleEndian(is_far ? kIn64Of32 : entry.offset, 4, &list);
    list += entry.name;
    if (extra.empty()) continue;
    AppendLittleEndian(kZip64Field, 2, &list);
    AppendLittleEndian(extra.size(), 2, &list);
    list += extra;
  }
  const uint64_t at = at_, bytes = list.size(), count = entries_.size();
  const bool is_64 =
      at >= zip64_from_ || bytes >= zip64_from_ || count >= kIn64Of16;
  if (is_64) AppendEnd64(at, bytes, count, &list);
  AppendLittleEndian(kEnd, 4, &list);
  AppendLittleEndian(0, 4, &list);
  for (int i = 0; i < 2; ++i) {
    AppendLittleEndian(is_64 ? kIn64Of16 : count, 2, &list);
  }
  AppendLittleEndian(is_64 ? kIn64Of32 : bytes, 4, &list);
  AppendLittleEndian(is_64 ? kIn64Of32 : at, 4, &list);
  AppendLittleEndian(0, 2, &list);
  return Append(list);
}

}  // namespace pathways
