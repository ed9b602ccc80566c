//===- tls_stream.cc - Stream of a socket under TLS -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/tls_stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

constexpr size_t kMostOfStrangers = 4 << 10;
// Most bytes that TLS puts in one record.
constexpr size_t kRecordBytes = 16 << 10;

// Looking first is cheaper than clearing, and mostly there is no error.
void ClearErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// Returns the library's reason, which contains no secret.
std::string Reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason is known" : reason;
}

}  // namespace

TlsStream::TlsStream(const TlsContext* context, Descriptor socket, bool dialed)
    : socket_(std::move(socket)), end_(context->NewEnd(dialed)) {
  BIO* bio = end_ == nullptr ? nullptr : BIO_new(SocketMethod());
  if (bio == nullptr) return;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(end_, bio, bio);
}

TlsStream::~TlsStream() {
  MutexLock lock(&mutex_);
  SSL_free(end_);
}

absl::StatusOr<bool> TlsStream::Open() {
  MutexLock lock(&mutex_);
  if (open_) return true;
  if (end_ == nullptr || SSL_get_rbio(end_) == nullptr) {
    return absl::InternalError("cannot start TLS");
  }
  ERR_clear_error();
  const int done = SSL_do_handshake(end_);
  const int error = SSL_get_error(end_, done);
  const int sent = FlushLocked();
  if (came_ > kMostOfStrangers) {
    return absl::PermissionDeniedError(
        absl::StrCat("the other side sent more than ", kMostOfStrangers,
                     " bytes and did not prove that it knows the key",
                     Tag(ErrorId::kKeyNotProved)));
  }
  if (done == 1 && SSL_session_reused(end_) == 1 && sent == 0) {
    open_ = true;
    return true;
  }
  if (error == SSL_ERROR_WANT_READ && sent == 0) return false;
  if (error == SSL_ERROR_SYSCALL || sent != 0) {
    // The other side may have ended or be starting: a process that dials may
    // dial again.
    return absl::UnavailableError(absl::StrCat(
        "the connection ended before the other side proved that it knows the "
        "key",
        sent == 0 ? "" : ": ",
        sent == 0 ? "" : std::generic_category().message(sent),
        Tag(ErrorId::kKeyNotProved)));
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the other side did not prove that it knows the key: ", Reason(),
      Tag(ErrorId::kKeyNotProved)));
}

ssize_t TlsStream::Write(absl::Span<const iovec> parts) {
  InTurn lock(&turn_, &mutex_);
  size_t taken = 0;
  for (;;) {
    if (const int error = FlushLocked(); error != 0) {
      if (error == EAGAIN && taken > 0) return taken;
      errno = error;
      return -1;
    }
    // Encrypted bytes count as written once the system has them. Otherwise no
    // thread would wait until the rest can be sent.
    taken += std::exchange(held_, 0);
    const absl::Span<const char> bytes = Gather(parts, taken);
    if (bytes.empty()) return taken;
    ClearErrors();
    size_t written = 0;
    if (SSL_write_ex(end_, bytes.data(), bytes.size(), &written) != 1) {
      ClearErrors();
      errno = EPROTO;
      return -1;
    }
    held_ = written;
  }
}

absl::Span<const char> TlsStream::Gather(absl::Span<const iovec> parts,
                                         size_t skipped) {
  gathered_.clear();
  for (const iovec& part : parts) {
    const size_t left_out = std::min(skipped, part.iov_len);
    skipped -= left_out;
    const size_t bytes =
        std::min(part.iov_len - left_out, kRecordBytes - gathered_.size());
    const char* from = static_cast<const char*>(part.iov_base) + left_out;
    // Whole records are encrypted from where they lie.
    if (bytes == kRecordBytes) return {from, bytes};
    gathered_.append(from, bytes);
    if (gathered_.size() == kRecordBytes) break;
  }
  return gathered_;
}

ssize_t TlsStream::Read(absl::Span<const iovec> parts) {
  InTurn lock(&turn_, &mutex_);
  size_t came = 0;
  for (const iovec& part : parts) {
    for (size_t filled = 0; filled < part.iov_len;) {
      ClearErrors();
      size_t bytes = 0;
      if (SSL_read_ex(end_, static_cast<char*>(part.iov_base) + filled,
                      part.iov_len - filled, &bytes) == 1) {
        filled += bytes;
        came += bytes;
        // The system would only return that there is no more.
        if (is_drained_ && SSL_has_pending(end_) == 0) return came;
        continue;
      }
      const int system = errno;
      const int error = SSL_get_error(end_, 0);
      ClearErrors();
      if (came > 0) return came;  // the next call returns the error
      if (error == SSL_ERROR_ZERO_RETURN) return 0;
      if (error == SSL_ERROR_WANT_READ) {
        errno = EAGAIN;
      } else {
        errno = has_ended_                                  ? ECONNRESET
                : error == SSL_ERROR_SYSCALL && system != 0 ? system
                                                            : EPROTO;
      }
      return -1;
    }
  }
  return came;
}

void TlsStream::EndWriting() { shutdown(fd(), SHUT_WR); }

void TlsStream::Break() { shutdown(fd(), SHUT_RDWR); }

int TlsStream::FlushLocked() {
  size_t sent = 0;
  int error = 0;
  while (sent < encrypted_.size() && error == 0) {
    const ssize_t bytes =
        send(fd(), encrypted_.data() + sent, encrypted_.size() - sent,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes >= 0) {
      sent += bytes;
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  encrypted_.erase(0, sent);
  return error;
}

BIO_METHOD* TlsStream::SocketMethod() {
  // Never freed, like the library's own tables.
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                                    "pathways socket");
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

// Called only inside the library's calls above, which hold the lock.
int TlsStream::BioRead(BIO* bio, char* bytes,
                       int size) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  auto* self = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  size_t room = size;
  if (!self->open_) {
    // Reads one byte more than is allowed, to detect the excess, and then
    // nothing until Open has seen it, however much the library asks for.
    if (self->came_ > kMostOfStrangers) {
      BIO_set_retry_read(bio);
      return -1;
    }
    room = std::min(room, kMostOfStrangers + 1 - self->came_);
  }
  ssize_t came;
  do {
    came = recv(self->fd(), bytes, room, MSG_DONTWAIT);
  } while (came < 0 && errno == EINTR);
  self->is_drained_ = came < static_cast<ssize_t>(room);
  if (came < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
  if (came == 0) self->has_ended_ = true;
  if (came > 0 && !self->open_) self->came_ += came;
  return static_cast<int>(came);
}

int TlsStream::BioWrite(BIO* bio, const char* bytes,
                        int size) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  auto* self = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  self->encrypted_.append(bytes, size);
  return size;
}

long TlsStream::BioControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace pathways
