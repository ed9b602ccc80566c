//===- cluster_key.cc - Shared key of a cluster -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/cluster_key.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/transport/descriptor.h"

namespace pathways {
namespace {

constexpr size_t kDigits = 2 * ClusterKey::kBytes;
// The digits are read to a place behind the key in the same page, and wiped.
constexpr size_t kPageBytes = 4096;
constexpr size_t kTextAt = 1024;

int ValueOf(unsigned char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

absl::Status Failed(const std::string& path, int error) {
  const std::string text =
      absl::StrCat("cannot read the key file '", path,
                   "': ", std::generic_category().message(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(text);
  }
  return absl::UnavailableError(text);
}

absl::Status CheckOwner(const std::string& path, int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0) return Failed(path, errno);
  if (!S_ISREG(file.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("the key file '", path,
                                                   "' is not a plain file",
                                                   Tag(ErrorId::kKeyFile)));
  }
  if (file.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the key file '", path, "' belongs to user ", file.st_uid,
                     ", expected ", geteuid(), Tag(ErrorId::kKeyFile)));
  }
  if ((file.st_mode & 077) != 0) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "the key file '%s' may be used by others: its mode is %03o, expected "
        "600 or 400%s",
        path, file.st_mode & 0777, Tag(ErrorId::kKeyFile)));
  }
  return absl::OkStatus();
}

// Writes the key that the digits in `text` spell to the beginning of the page.
bool Parse(unsigned char* page, const unsigned char* text, size_t bytes) {
  if (bytes == kDigits + 1 && text[kDigits] == '\n') --bytes;
  if (bytes != kDigits) return false;
  for (size_t i = 0; i < ClusterKey::kBytes; ++i) {
    const int high = ValueOf(text[2 * i]), low = ValueOf(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    page[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ClusterKey>> ClusterKey::Read(
    const std::string& path) {
  // O_NONBLOCK: a path that is no regular file must not block the open.
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return Failed(path, errno);
  if (absl::Status status = CheckOwner(path, file.get()); !status.ok()) {
    return status;
  }
  void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Failed(path, errno);
  auto* page = static_cast<unsigned char*>(memory);
  std::shared_ptr<const ClusterKey> key(new ClusterKey(page));
  if (madvise(page, kPageBytes, MADV_DONTDUMP) != 0) {
    return Failed(path, errno);
  }
  unsigned char* text = page + kTextAt;
  size_t bytes = 0;
  while (bytes < kDigits + 2) {
    const ssize_t came = read(file.get(), text + bytes, kDigits + 2 - bytes);
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) return Failed(path, errno);
    if (came == 0) break;
    bytes += came;
  }
  const bool parsed = Parse(page, text, bytes);
  OPENSSL_cleanse(text, kDigits + 2);
  if (parsed) return key;
  return absl::InvalidArgumentError(absl::StrCat(
      "the key file '", path, "' does not hold ", kDigits,
      " hexadecimal digits and nothing else", Tag(ErrorId::kKeyFile)));
}

ClusterKey::~ClusterKey() {
  OPENSSL_cleanse(page_, kBytes);
  munmap(page_, kPageBytes);
}

}  // namespace pathways
