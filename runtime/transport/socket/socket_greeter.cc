//===- socket_greeter.cc - Handshakes with strangers ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_greeter.h"

#include <sys/socket.h>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/socket/make_stream.h"
#include "runtime/transport/strangers.h"

namespace pathways {

// A process that has dialed. The lock separates its steps from its end.
class SocketGreeter::Guest {
 public:
  Guest(asio::io_context* context, uint64_t number,
        std::unique_ptr<ByteStream> stream, const TransportName& own,
        std::string who)
      : number(number),
        who(std::move(who)),
        fd(stream->fd()),
        stream(std::move(stream)),
        handshake(this->stream.get(), own),
        watch(*context),
        timer(*context) {}
  ~Guest() {
    if (watch.is_open()) watch.release();
  }

  // Returns true if it has sent anything, which may still be unread in its
  // socket.
  bool HasSpoken() const {
    char byte;
    return was_readable.load() ||
           recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  const uint64_t number;
  const std::string who;
  const int fd;  // the stream's, while in guests_
  std::atomic<bool> was_readable = false;
  Mutex mutex;
  std::unique_ptr<ByteStream> stream ABSL_GUARDED_BY(mutex);
  SocketHandshake handshake ABSL_GUARDED_BY(mutex);
  asio::posix::stream_descriptor watch ABSL_GUARDED_BY(mutex);
  asio::steady_timer timer ABSL_GUARDED_BY(mutex);
};

void SocketGreeter::Greet(Descriptor socket, bool is_unix, std::string who) {
  const auto refuse = [&](const absl::Status& why) {
    if (options_.refused) options_.refused(who, why);
  };
  if (is_unix) {
    absl::Status status = CheckSameUser(socket.get());
    if (!status.ok()) return refuse(status);
  }
  std::shared_ptr<Guest> guest, victim;
  {
    MutexLock lock(&mutex_);
    victim = FindVictim();
    guest = std::make_shared<Guest>(
        context_, ++last_,
        MakeStream(std::move(socket), is_unix ? nullptr : options_.tls,
                   /*dialed=*/false),
        options_.own, std::move(who));
    guests_[guest->number] = guest;
  }
  if (victim != nullptr) {
    Refuse(victim, absl::ResourceExhaustedError(absl::StrCat(
                       "the connection was dropped in favor of '", guest->who,
                       "': ", options_.max_open,
                       " connections have not completed the handshake")));
  }
  {
    MutexLock lock(&guest->mutex);
    asio::error_code error;
    guest->watch.assign(guest->stream->fd(), error);
    // If this fails, the timer still ends the guest.
    guest->timer.expires_after(absl::ToChronoNanoseconds(options_.timeout));
    guest->timer.async_wait([self = shared_from_this(),
                             guest](const asio::error_code& cancelled) {
      if (cancelled) return;
      self->Refuse(guest, absl::DeadlineExceededError(absl::StrCat(
                              "the other side sent no hello within ",
                              absl::FormatDuration(self->options_.timeout))));
    });
  }
  Step(guest);
}

std::shared_ptr<SocketGreeter::Guest> SocketGreeter::FindVictim() {
  if (guests_.size() < options_.max_open || guests_.empty()) return nullptr;
  std::vector<std::shared_ptr<Guest>> guests;
  std::vector<Stranger> strangers;
  for (const auto& [number, guest] : guests_) {
    guests.push_back(guest);
    strangers.push_back(
        {std::string(StrangerAddress(guest->who)), guest->HasSpoken()});
  }
  return guests[WhoGivesWay(strangers)];
}

void SocketGreeter::Step(const std::shared_ptr<Guest>& guest) {
  absl::StatusOr<SocketHandshake::Needs> needs;
  {
    MutexLock lock(&guest->mutex);
    if (guest->stream == nullptr) return;  // it was refused meanwhile
    needs = guest->handshake.Step();
    if (needs.ok() && *needs == SocketHandshake::Needs::kToRead) {
      guest->watch.async_wait(
          asio::posix::stream_descriptor::wait_read,
          [self = shared_from_this(), guest](const asio::error_code& error) {
            guest->was_readable.store(true);
            if (!error) self->Step(guest);
          });
      return;
    }
  }
  if (!needs.ok()) return Refuse(guest, needs.status());
  if (auto stream = Remove(guest)) options_.welcome(std::move(stream));
}

void SocketGreeter::Refuse(const std::shared_ptr<Guest>& guest,
                           const absl::Status& why) {
  if (Remove(guest) == nullptr) return;
  if (options_.refused) options_.refused(guest->who, why);
}

std::unique_ptr<ByteStream> SocketGreeter::Remove(
    const std::shared_ptr<Guest>& guest) {
  {
    MutexLock lock(&mutex_);
    if (guests_.erase(guest->number) == 0) return nullptr;
  }
  MutexLock lock(&guest->mutex);
  guest->timer.cancel();
  if (guest->watch.is_open()) guest->watch.release();
  return std::move(guest->stream);
}

}  // namespace pathways
