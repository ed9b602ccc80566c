//===- saved_array.cc - Array read from files -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/saved_array.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/crc32.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/npy.h"

namespace pathways {
namespace {

// Bytes read at a time by the check and by ReadAll.
constexpr uint64_t kCheckedBytes = uint64_t{1} << 20;
// Segments of a file whose gap is at most kNearBytes are read together with the
// gap, up to kJoinedBytes: copying costs less than another system call.
constexpr uint64_t kNearBytes = uint64_t{1} << 12;
constexpr uint64_t kJoinedBytes = uint64_t{1} << 18;

std::string Hex(uint32_t crc) {
  return absl::StrCat("0x", absl::Hex(crc, absl::kZeroPad8));
}

template <typename... Parts>
absl::Status Damaged(const std::string& path, const Parts&... parts) {
  return absl::DataLossError(absl::StrCat("'", path, "' is damaged: ", parts...,
                                          Tag(ErrorId::kSavedDamaged)));
}

// Reads `bytes` bytes, or up to the end of the file. Returns 0 or an errno.
int ReadAt(int fd, uint64_t at, size_t bytes, char* to, size_t* have) {
  for (*have = 0; *have < bytes;) {
    const ssize_t got =
        pread(fd, to + *have, bytes - *have, static_cast<off_t>(at + *have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    *have += got;
  }
  return 0;
}

// Checks a just opened file of a block that the index names, and fills `info`.
absl::Status OpenBlock(const std::string& path, uint64_t bytes,
                       const FileDescriptor& file, struct stat* info) {
  if (file.get() < 0 && errno == ENOENT) {
    return absl::DataLossError(
        absl::StrCat("'", path, "' is missing, but the index names it",
                     Tag(ErrorId::kSavedDamaged)));
  }
  if (file.get() < 0 || fstat(file.get(), info) != 0) {
    return FileStatus("read", path, errno);
  }
  if (!S_ISREG(info->st_mode)) return Damaged(path, "it is not a regular file");
  if (static_cast<uint64_t>(info->st_size) != bytes) {
    return Damaged(path, "it has ", info->st_size, " bytes, expected ", bytes);
  }
  return absl::OkStatus();
}

}  // namespace

SavedArray::SavedArray(std::string folder, ArrayIndex index)
    : folder_(std::move(folder)),
      index_(std::move(index)),
      shape_(index_.layout.shape.begin() +
                 (index_.contributions.sizes.empty() ? 0 : 1),
             index_.layout.shape.end()),
      grid_(index_.layout, index_.mesh),
      bytes_(static_cast<uint64_t>(CheckedElements(index_.element, shape_)) *
             elementBytes(index_.element)),
      files_(index_.blocks.size()) {}

std::string SavedArray::PathOf(int64_t block) const {
  return absl::StrCat(folder_, "/", index_.blocks[block].file);
}

absl::StatusOr<std::shared_ptr<const SavedArray>> SavedArray::Open(
    const std::string& given) {
  const std::string folder = WithoutSlash(given);
  std::shared_ptr<SavedArray> array;
  absl::Status status;
  const bool has_memory = HasMemoryFor([&] {
    absl::StatusOr<std::string> text = ReadIndexText(folder);
    status = text.status();
    if (!status.ok()) return;
    absl::StatusOr<ArrayIndex> index = ParseArrayIndex(*text);
    status = InIndex(folder, index.status());
    if (!status.ok()) return;
    array.reset(new SavedArray(folder, *std::move(index)));
    uint64_t largest = 0;
    for (const ArrayIndex::Block& block : array->index_.blocks) {
      largest = std::max(largest, block.bytes);
    }
    std::string buffer(std::min(kCheckedBytes, largest), '\0');
    const auto blocks = static_cast<int64_t>(array->index_.blocks.size());
    for (int64_t i = 0; i < blocks && status.ok(); ++i) {
      status = array->Check(i, &buffer);
    }
  });
  if (!has_memory) {
    return absl::ResourceExhaustedError(
        absl::StrCat("'", folder, "': there is no memory for its index"));
  }
  if (!status.ok()) return status;
  return array;
}

absl::Status SavedArray::Check(int64_t block, std::string* buffer) {
  const ArrayIndex::Block& expected = index_.blocks[block];
  const std::string path = PathOf(block);
  FileDescriptor file(OpenToRead(path));
  struct stat info;
  absl::Status opened = OpenBlock(path, expected.bytes, file, &info);
  if (!opened.ok()) return opened;
  const layout::Box box = grid_.box(block);
  uint64_t at = 0, data_at = 0;
  uint32_t crc = 0;
  absl::Status header_status;
  int64_t no_boolean = -1;
  while (at < expected.bytes) {
    size_t have = 0;
    const int error =
        ReadAt(file.get(), at, buffer->size(), buffer->data(), &have);
    if (error != 0) return FileStatus("read", path, error);
    if (have == 0) break;
    absl::string_view part(buffer->data(), have);
    crc = Crc32(crc, part);
    if (at == 0) {
      const absl::StatusOr<NpyHeader> header = ParseNpyHeader(part);
      if (!header.ok()) {
        header_status = Damaged(path, WithoutTag(header.status().message()));
      } else if (header->element != index_.element ||
                 header->shape != box.extent || header->fortran_order) {
        header_status = Damaged(
            path, "it has ", shapeString(header->element, header->shape),
            header->fortran_order ? " in Fortran order" : "", ", expected ",
            shapeString(index_.element, box.extent));
      } else {
        data_at = header->bytes;
        part.remove_prefix(data_at);
      }
    }
    if (index_.element == ElementType::kI1 && header_status.ok() &&
        no_boolean < 0) {
      no_boolean = FindNoBoolean(part);
    }
    at += have;
  }
  if (at != expected.bytes) {
    return Damaged(path, "it has ", at, " bytes, expected ", expected.bytes);
  }
  if (crc != expected.crc) {
    return Damaged(path, "its checksum is ", Hex(crc), ", expected ",
                   Hex(expected.crc));
  }
  if (!header_status.ok()) return header_status;
  const uint64_t data_bytes =
      static_cast<uint64_t>(box.numElements()) * elementBytes(index_.element);
  if (expected.bytes != data_at + data_bytes) {
    return Damaged(path, "it has ", expected.bytes - data_at,
                   " bytes of data, ", shapeString(index_.element, box.extent),
                   " needs ", data_bytes);
  }
  if (no_boolean >= 0) {
    return Damaged(path, "it has booleans other than 0 and 1");
  }
  files_[block] = {data_at, info.st_ino, info.st_mtim};
  return absl::OkStatus();
}

absl::Status SavedArray::Read(absl::Span<const Range> ranges) const {
  const auto element_bytes =
      static_cast<uint64_t>(elementBytes(index_.element));
  std::vector<Segment> segments;
  for (const Range& range : ranges) {
    grid_.Split(
        static_cast<int64_t>(range.offset / element_bytes),
        static_cast<int64_t>(range.bytes / element_bytes),
        [&](int64_t block, int64_t at, int64_t begin, int64_t count) {
          segments.push_back({block, files_[block].data_at + at * element_bytes,
                              count * element_bytes,
                              range.to + begin * element_bytes});
        });
  }
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) {
              return std::pair(a.block, a.at) < std::pair(b.block, b.at);
            });
  for (size_t first = 0; first < segments.size();) {
    size_t end = first;
    while (end < segments.size() &&
           segments[end].block == segments[first].block) {
      ++end;
    }
    absl::Status read =
        ReadFile(absl::MakeSpan(segments).subspan(first, end - first));
    if (!read.ok()) return read;
    first = end;
  }
  return absl::OkStatus();
}

absl::Status SavedArray::ReadFile(absl::Span<const Segment> segments) const {
  const int64_t block = segments.front().block;
  const std::string path = PathOf(block);
  const File& checked = files_[block];
  FileDescriptor file(OpenToRead(path));
  struct stat info;
  absl::Status opened =
      OpenBlock(path, index_.blocks[block].bytes, file, &info);
  if (!opened.ok()) return opened;
  if (info.st_ino != checked.inode ||
      info.st_mtim.tv_sec != checked.modified.tv_sec ||
      info.st_mtim.tv_nsec != checked.modified.tv_nsec) {
    return absl::DataLossError(
        absl::StrCat("'", path, "' was changed after it was checked",
                     Tag(ErrorId::kSavedDamaged)));
  }
  std::string joined;
  for (size_t first = 0; first < segments.size();) {
    const uint64_t begin = segments[first].at;
    uint64_t last = begin + segments[first].bytes;
    size_t end = first + 1;
    for (; end < segments.size(); ++end) {
      const uint64_t next = segments[end].at + segments[end].bytes;
      if (segments[end].at - last > kNearBytes || next - begin > kJoinedBytes) {
        break;
      }
      last = next;
    }
    const bool is_alone = end == first + 1;
    const uint64_t bytes = last - begin;
    if (!is_alone) joined.resize(bytes);
    char* const to = is_alone ? segments[first].to : joined.data();
    size_t have = 0;
    const int error = ReadAt(file.get(), begin, bytes, to, &have);
    if (error != 0) return FileStatus("read", path, error);
    if (have != bytes) {
      return Damaged(path, "it ends at byte ", begin + have, ", expected ",
                     begin + bytes);
    }
    for (size_t i = first; i < end && !is_alone; ++i) {
      std::memcpy(segments[i].to, joined.data() + (segments[i].at - begin),
                  segments[i].bytes);
    }
    first = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<HostArray> SavedArray::ReadAll() const {
  HostArray array{element(), shape(), {}};
  const uint64_t all = bytes_ * static_cast<uint64_t>(contributions().count());
  if (!HasMemoryFor([&] { array.data.resize(all); })) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "'", folder_, "': ", NoMemoryText(element(), layout().shape)));
  }
  // Reads a part at a time: for narrow blocks the segments take more memory
  // than the values.
  for (uint64_t at = 0; at < all; at += kCheckedBytes) {
    const uint64_t bytes = std::min(kCheckedBytes, all - at);
    absl::Status read = Read({{at, bytes, array.data.data() + at}});
    if (!read.ok()) return read;
  }
  return array;
}

}  // namespace pathways
