//===- socket_bind.cc - Listening sockets -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_bind.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kOwnerOnly = 0600;

Descriptor NewSocket(int family) {
  return Descriptor(
      socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Removes the file of a Unix socket on which no process listens. Returns 0 or
// an errno; EADDRINUSE if a process listens there, or the file is no socket.
int RemoveStale(const std::string& path, const Endpoint& endpoint) {
  struct stat file;
  if (lstat(path.c_str(), &file) != 0) return errno == ENOENT ? 0 : errno;
  if (!S_ISSOCK(file.st_mode)) return EADDRINUSE;
  const Descriptor probe = NewSocket(AF_UNIX);
  if (probe.get() < 0) return errno;
  if (connect(probe.get(), endpoint.get(), endpoint.bytes) == 0 ||
      errno == EAGAIN) {
    return EADDRINUSE;
  }
  if (errno != ECONNREFUSED) return errno == ENOENT ? 0 : errno;
  return unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
}

// Two processes that find the same stale file must not remove each other's new
// file, so a process locks the folder while it binds.
Descriptor LockFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  Descriptor folder(open(slash == 0 ? "/" : path.substr(0, slash).c_str(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // If the folder cannot be read or locked, bind reports what is wrong, if
  // anything.
  if (folder.get() >= 0) {
    while (flock(folder.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  return folder;
}

}  // namespace

absl::StatusOr<BoundSocket> BoundSocket::Bind(const SocketAddress& address,
                                              const Endpoint& endpoint,
                                              absl::string_view text) {
  const auto failed = [text] { return SystemError("listen on", text, errno); };
  BoundSocket bound;
  bound.socket_ = NewSocket(endpoint.storage.ss_family);
  if (bound.fd() < 0) return failed();
  if (!address.is_unix) {
    const int yes = 1;
    setsockopt(bound.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(bound.fd(), endpoint.get(), endpoint.bytes) != 0 ||
        listen(bound.fd(), kBacklog) != 0) {
      return failed();
    }
    return bound;
  }
  if (address.is_abstract) {
    if (bind(bound.fd(), endpoint.get(), endpoint.bytes) != 0 ||
        listen(bound.fd(), kBacklog) != 0) {
      return failed();
    }
    return bound;
  }
  // Restricting the mode before bind leaves no moment in which other users can
  // open the file.
  if (fchmod(bound.fd(), kOwnerOnly) != 0) return failed();
  const Descriptor folder = LockFolderOf(address.path);
  if (int error = RemoveStale(address.path, endpoint); error != 0) {
    return SystemError("listen on", text, error);
  }
  if (bind(bound.fd(), endpoint.get(), endpoint.bytes) != 0) return failed();
  bound.path_ = address.path;
  struct stat file;
  if (lstat(address.path.c_str(), &file) != 0) return failed();
  bound.device_ = file.st_dev;
  bound.inode_ = file.st_ino;
  // Still under the lock: a socket that is bound but does not listen looks
  // stale.
  if (listen(bound.fd(), kBacklog) != 0) return failed();
  return bound;
}

BoundSocket::~BoundSocket() {
  struct stat file;
  if (!path_.empty() && lstat(path_.c_str(), &file) == 0 &&
      file.st_dev == device_ && file.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

uint16_t BoundSocket::port() const {
  Endpoint endpoint;
  endpoint.bytes = sizeof endpoint.storage;
  getsockname(fd(), reinterpret_cast<sockaddr*>(&endpoint.storage),
              &endpoint.bytes);
  return endpoint.port();
}

}  // namespace pathways
