//===- CodeCache.cpp - Compiled kernels on disk ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Codegen/CodeCache.h"

#include "CodeVersion.inc"
#include "pathways/Support/WholeText.h"
#include "runtime/base/temporary_file.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::proto::Target;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral kMagic = "PWKERNEL";
static constexpr uint32_t kVersion = 1;
static constexpr llvm::StringLiteral kEntrySuffix = ".kernel";
static constexpr llvm::StringLiteral kTemporarySuffix = ".kernel.tmp";
// Offsets of the parts of a file.
static constexpr size_t kKeyAt = 16, kSizeAt = 48, kSumAt = 56, kPayloadAt = 88;
static constexpr uint64_t kMaxEntryBytes = uint64_t{1} << 30;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

namespace {
/// Hashes parts, each preceded by its size, so that different lists of parts
/// never give the same input.
class PartHasher {
public:
  void add(llvm::StringRef part) {
    uint8_t size[8];
    llvm::support::endian::write64le(size, part.size());
    hasher.update(size);
    hasher.update(part);
  }
  CodeCache::Key finish() {
    CodeCache::Key key;
    llvm::BLAKE3Result<32> result = hasher.final<32>();
    std::copy(result.begin(), result.end(), key.begin());
    return key;
  }

private:
  llvm::BLAKE3 hasher;
};
} // namespace

CodeCache::Keys CodeCache::getKeys(ArrayRef<func::FuncOp> functions,
                                   ArrayRef<Target> targets,
                                   Rounding rounding) {
  // Use the version of the loaded library, which may differ from the one at
  // compile time.
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  PartHasher hasher;
  hasher.add(kMagic);
  hasher.add(kCodeVersion);
  hasher.add((Twine(major) + "." + Twine(minor) + "." + Twine(patch)).str());
  hasher.add(getRoundingName(rounding));
  for (const Target &target : targets) {
    hasher.add(target.triple());
    hasher.add(target.cpu());
    hasher.add(llvm::join(target.features(), ","));
  }
  PartHasher withPlaces = hasher;
  // The text of a function begins with a quote and the triple of a target does
  // not, so the lists need no counts.
  for (func::FuncOp function : functions) {
    hasher.add(getWholeText(function, /*withPlaces=*/false));
    withPlaces.add(getWholeText(function, /*withPlaces=*/true));
    visitResources(function, [&](StringRef part) {
      hasher.add(part);
      withPlaces.add(part);
    });
  }
  return {hasher.finish(), withPlaces.finish()};
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static CodeCache::Key checksumOf(llvm::StringRef header,
                                 llvm::StringRef payload) {
  PartHasher hasher;
  hasher.add(header);
  hasher.add(payload);
  return hasher.finish();
}

static llvm::StringRef toText(const CodeCache::Key &key) {
  return {reinterpret_cast<const char *>(key.data()), key.size()};
}

static void appendNumber(std::string &bytes, uint64_t number) {
  char text[8];
  llvm::support::endian::write64le(text, number);
  bytes.append(text, 8);
}

static uint64_t numberAt(llvm::StringRef bytes, size_t at) {
  return llvm::support::endian::read64le(bytes.data() + at);
}

/// Returns the payload: the size of the table, the table, the objects.
static std::string writePayload(const CompiledKernel &kernel) {
  ::pathways::proto::Kernel table;
  table.set_hash(kernel.hash);
  for (const CompiledSegment &segment : kernel.segments) {
    auto *out = table.add_segments();
    out->set_symbol(segment.symbol);
    out->set_scratch_bytes(segment.scratchBytes);
    for (const CodeLocation &location : segment.locations) {
      auto *place = out->add_locations();
      place->set_where(location.where);
      place->set_message(location.message);
    }
  }
  std::string blobs;
  for (auto [target, object] :
       llvm::zip_equal(kernel.targets, kernel.objects)) {
    auto *out = table.add_objects();
    *out->mutable_target() = target;
    out->set_blob_offset(blobs.size());
    out->set_blob_bytes(object.size());
    blobs += object;
  }
  std::string text = table.SerializeAsString(), payload;
  appendNumber(payload, text.size());
  return payload + text + blobs;
}

/// Returns nullopt if `payload` is not what writePayload() wrote for `targets`.
static std::optional<CompiledKernel> readPayload(llvm::StringRef payload,
                                                 ArrayRef<Target> targets) {
  if (payload.size() < 8 || numberAt(payload, 0) > payload.size() - 8)
    return std::nullopt;
  llvm::StringRef text = payload.substr(8, numberAt(payload, 0));
  llvm::StringRef blobs = payload.drop_front(8 + text.size());
  ::pathways::proto::Kernel table;
  if (!table.ParseFromArray(text.data(), static_cast<int>(text.size())) ||
      table.objects_size() != static_cast<int>(targets.size()))
    return std::nullopt;
  CompiledKernel kernel;
  kernel.hash = table.hash();
  kernel.isCached = true;
  for (const auto &segment : table.segments()) {
    CompiledSegment &out = kernel.segments.emplace_back();
    out.symbol = segment.symbol();
    out.scratchBytes = segment.scratch_bytes();
    for (const auto &location : segment.locations())
      out.locations.push_back({location.where(), location.message()});
  }
  for (auto [object, target] : llvm::zip_equal(table.objects(), targets)) {
    if (object.target().SerializeAsString() != target.SerializeAsString() ||
        object.blob_offset() > blobs.size() ||
        object.blob_bytes() > blobs.size() - object.blob_offset())
      return std::nullopt;
    kernel.targets.push_back(target);
    kernel.objects.push_back(
        blobs.substr(object.blob_offset(), object.blob_bytes()).str());
  }
  return kernel;
}

/// Returns why another user may have put code, which would run as this user,
/// into the file or folder with `status`; empty if only this user and root
/// could. A folder with the sticky bit is safe: users that may write to it
/// cannot touch entries of others.
static std::string getDistrust(const fs::file_status &status) {
  const uint32_t user = geteuid();
  if (status.getUser() != user && status.getUser() != 0)
    return ("belongs to user " + Twine(status.getUser()) + ", expected user " +
            Twine(user) + " or root")
        .str();
  const bool isSticky = status.type() == fs::file_type::directory_file &&
                        (status.permissions() & fs::sticky_bit);
  if (!isSticky &&
      (status.permissions() & (fs::group_write | fs::others_write))) {
    std::string mode;
    llvm::raw_string_ostream(mode)
        << llvm::format("0%03o", status.permissions() & 07777);
    return "has mode " + mode +
           ", expected a mode that lets no other user write (chmod go-w)";
  }
  return "";
}

/// Creates a file that others may read and only this user may write.
static std::error_code createTemporary(llvm::StringRef folder,
                                       ::pathways::TemporaryFile &file) {
  return std::error_code(
      file.Create((folder + "/").str(), kTemporarySuffix.str(), 0644),
      std::generic_category());
}

std::string CodeCache::pathOf(const Key &key) const {
  llvm::SmallString<128> result(folder);
  path::append(result, llvm::toHex(ArrayRef<uint8_t>(key), /*LowerCase=*/true) +
                           kEntrySuffix);
  return result.str().str();
}

llvm::Expected<std::optional<CompiledKernel>>
CodeCache::read(const Key &key, ArrayRef<Target> targets) const {
  auto wrong = [](const Twine &what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
  };
  std::string file = pathOf(key);
  fs::file_status status;
  if (std::error_code error = fs::status(file, status)) {
    if (error == std::errc::no_such_file_or_directory)
      return std::nullopt;
    return wrong("cannot be read: " + error.message());
  }
  // Opening a pipe without a writer would block forever.
  if (status.type() != fs::file_type::regular_file)
    return wrong("is not a regular file");
  if (status.getSize() > kMaxEntryBytes)
    return wrong("has " + Twine(status.getSize()) +
                 " bytes, expected at most " + Twine(kMaxEntryBytes));
  if (std::string why = getDistrust(status); !why.empty())
    return wrong(why);
  // The file is not mapped: if another process shortened a mapped file, a read
  // would kill this process.
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer) {
    // Another process has trimmed the cache meanwhile.
    if (buffer.getError() == std::errc::no_such_file_or_directory)
      return std::nullopt;
    return wrong("cannot be read: " + buffer.getError().message());
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < kPayloadAt)
    return wrong("has " + Twine(bytes.size()) +
                 " bytes, expected a header of " + Twine(kPayloadAt));
  if (!bytes.starts_with(kMagic))
    return wrong("begins with 0x" + llvm::toHex(bytes.take_front(8), true) +
                 ", expected '" + kMagic + "'");
  uint64_t version = numberAt(bytes, kMagic.size());
  if (version != kVersion)
    return wrong("has version " + Twine(version) + ", expected " +
                 Twine(kVersion));
  if (bytes.substr(kKeyAt, key.size()) != toText(key))
    return wrong("holds the kernel " +
                 llvm::toHex(bytes.substr(kKeyAt, key.size()), true) +
                 ", expected the one of its file name");
  uint64_t size = numberAt(bytes, kSizeAt);
  llvm::StringRef payload = bytes.drop_front(kPayloadAt);
  if (payload.size() != size)
    return wrong("has " + Twine(payload.size()) +
                 " bytes after its header, expected " + Twine(size));
  Key sum = checksumOf(bytes.take_front(kSumAt), payload);
  if (bytes.substr(kSumAt, sum.size()) != toText(sum))
    return wrong("has the checksum " + llvm::toHex(toText(sum), true) +
                 ", expected " +
                 llvm::toHex(bytes.substr(kSumAt, sum.size()), true));
  std::optional<CompiledKernel> kernel = readPayload(payload, targets);
  if (!kernel)
    return wrong("has a payload that does not match its key");
  return kernel;
}

llvm::Error CodeCache::write(const Key &key,
                             const CompiledKernel &kernel) const {
  std::string payload = writePayload(kernel);
  std::string header(kMagic);
  appendNumber(header, kVersion);
  header += toText(key);
  appendNumber(header, payload.size());
  header += toText(checksumOf(header, payload));

  // Each writer has a file of its own and renames it atomically at the end:
  // readers see an entry whole or not at all, even if a writer is killed.
  ::pathways::TemporaryFile file;
  std::error_code error = createTemporary(folder, file);
  if (!error)
    error.assign(::pathways::WriteAll(file.fd(), header + payload),
                 std::generic_category());
  if (!error)
    error.assign(file.Commit(pathOf(key)), std::generic_category());
  return llvm::errorCodeToError(error);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// Calls visit(path, status) for the files whose names end in `suffix`. Skips
/// files that disappear meanwhile.
static void visitFiles(
    llvm::StringRef folder, llvm::StringRef suffix,
    llvm::function_ref<void(llvm::StringRef, const fs::file_status &)> visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error, /*follow_symlinks=*/false), end;
       it != end && !error; it.increment(error)) {
    fs::file_status status;
    if (llvm::StringRef(it->path()).ends_with(suffix) &&
        !fs::status(it->path(), status, /*follow=*/false) &&
        status.type() == fs::file_type::regular_file)
      visit(it->path(), status);
  }
}

llvm::Expected<std::unique_ptr<CodeCache>>
CodeCache::open(llvm::StringRef folder, uint64_t maxBytes) {
  auto fail = [&](std::error_code error) {
    return llvm::createStringError(error, "cannot keep compiled kernels in '" +
                                              folder + "': " + error.message());
  };
  if (std::error_code error = fs::create_directories(
          folder, /*IgnoreExisting=*/true,
          fs::owner_all | fs::group_read | fs::group_exe))
    return fail(error);
  fs::file_status status;
  if (std::error_code error = fs::status(folder, status))
    return fail(error);
  if (std::string why = getDistrust(status); !why.empty())
    return llvm::createStringError(
        std::make_error_code(std::errc::operation_not_permitted),
        "cannot keep compiled kernels in '" + folder +
            "', because other users could put code there that this user runs: "
            "it " +
            why);
  // Permissions are not sufficient: file systems may be read-only, and root may
  // write everywhere.
  ::pathways::TemporaryFile probe;
  if (std::error_code error = createTemporary(folder, probe))
    return fail(error);
  std::unique_ptr<CodeCache> cache(new CodeCache(folder, maxBytes));
  cache->removeStaleTemporaries();
  return cache;
}

void CodeCache::removeStaleTemporaries() {
  auto now = std::chrono::system_clock::now();
  visitFiles(folder, kTemporarySuffix,
             [&](llvm::StringRef file, const fs::file_status &status) {
               if (now - status.getLastModificationTime() >
                   std::chrono::seconds(kStaleSeconds))
                 fs::remove(file);
             });
}

void CodeCache::trim() {
  if (maxBytes == 0 || stored == 0)
    return;
  struct Entry {
    llvm::sys::TimePoint<> used;
    std::string file;
    uint64_t bytes;
    bool operator<(const Entry &other) const {
      return std::tie(used, file) < std::tie(other.used, other.file);
    }
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  visitFiles(folder, kEntrySuffix,
             [&](llvm::StringRef file, const fs::file_status &status) {
               entries.push_back({status.getLastModificationTime(), file.str(),
                                  status.getSize()});
               total += status.getSize();
             });
  std::sort(entries.begin(), entries.end());
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      return;
    if (!fs::remove(entry.file))
      ++removed;
    total -= entry.bytes;
  }
}

//===----------------------------------------------------------------------===//
// Lookup and storage
//===----------------------------------------------------------------------===//

std::optional<CompiledKernel>
CodeCache::find(const Keys &keys, ArrayRef<Target> targets, Location loc) {
  for (const Key *key : {&keys.code, &keys.places}) {
    auto kernel = read(*key, targets);
    if (!kernel) {
      ++damaged;
      emitWarning(loc, "compiled again: '")
          << pathOf(*key) << "' " << llvm::toString(kernel.takeError());
      fs::remove(pathOf(*key));
      continue;
    }
    if (!*kernel)
      continue;
    ++hits;
    // The modification time marks the last use: trim() removes the least
    // recently used entries first.
    int fd = -1;
    if (!fs::openFileForRead(pathOf(*key), fd)) {
      (void)fs::setLastAccessAndModificationTime(
          fd, std::chrono::system_clock::now());
      (void)llvm::sys::Process::SafelyCloseFileDescriptor(fd);
    }
    return std::move(**kernel);
  }
  ++misses;
  return std::nullopt;
}

void CodeCache::store(const Keys &keys, const CompiledKernel &kernel,
                      Location loc) {
  if (isBroken)
    return;
  bool hasPlaces =
      llvm::any_of(kernel.segments, [](const CompiledSegment &segment) {
        return !segment.locations.empty();
      });
  llvm::Error error = write(hasPlaces ? keys.places : keys.code, kernel);
  if (!error) {
    ++stored;
    return;
  }
  std::string reason = llvm::toString(std::move(error));
  if (!isBroken.exchange(true))
    emitWarning(loc, "compiled kernels are no longer kept: cannot write to '")
        << folder << "': " << reason;
}

CodeCache::Counts CodeCache::getCounts() const {
  return {hits, misses, damaged, stored, removed};
}
