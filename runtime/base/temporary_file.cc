//===- temporary_file.cc - Files written whole or not at all ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/temporary_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace pathways {
namespace {

constexpr int kRandomCharacters = 8;
constexpr int kAttempts = 100;

// Entry in which a signal handler finds a path. The list of entries only grows;
// an entry is reused when its file is gone.
struct Slot {
  enum State { kFree, kBusy, kSet };
  std::atomic<State> state{kBusy};
  char path[PATH_MAX];
  Slot* next = nullptr;
};

std::atomic<Slot*> slots{nullptr};
std::atomic<bool> ending{false};  // true while a handler reads the slots

// Blocks while a signal handler runs, which means until the process ends: no
// slot changes its path, and no file appears that the handler might have
// missed.
void WaitForTheEnd() {
  while (ending.load()) pause();
}

// Returns null if `path` is longer than any file's path can be.
Slot* TakeSlot(const std::string& path) {
  if (path.size() >= PATH_MAX) return nullptr;
  Slot* slot = slots.load();
  for (; slot != nullptr; slot = slot->next) {
    Slot::State expected = Slot::kFree;
    if (slot->state.compare_exchange_strong(expected, Slot::kBusy)) break;
  }
  if (slot == nullptr) {
    slot = new Slot;
    slot->next = slots.load();
    while (!slots.compare_exchange_weak(slot->next, slot)) {
    }
  }
  WaitForTheEnd();
  std::memcpy(slot->path, path.c_str(), path.size() + 1);
  slot->state.store(Slot::kSet);
  WaitForTheEnd();
  return slot;
}

void EndBySignal(int signal) {
  ending.store(true);
  for (Slot* slot = slots.load(); slot != nullptr; slot = slot->next) {
    if (slot->state.load() == Slot::kSet) unlink(slot->path);
  }
  // The default action is restored already. The signal is delivered on return.
  raise(signal);
}

// Returns 0 or an errno.
int RandomName(char (&name)[kRandomCharacters + 1]) {
  unsigned char bytes[kRandomCharacters];
  for (size_t have = 0; have < sizeof bytes;) {
    const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
    if (got < 0 && errno != EINTR) return errno;
    if (got > 0) have += got;
  }
  for (int i = 0; i < kRandomCharacters; ++i) {
    name[i] = "0123456789abcdefghijklmnopqrstuv"[bytes[i] % 32];
  }
  name[kRandomCharacters] = '\0';
  return 0;
}

}  // namespace

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(slot_, other.slot_);
  return *this;
}

TemporaryFile::~TemporaryFile() { Remove(); }

void TemporaryFile::Remove() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
  if (slot_ == nullptr) return;
  unlink(path_.c_str());
  static_cast<Slot*>(std::exchange(slot_, nullptr))->state.store(Slot::kFree);
}

int TemporaryFile::Create(const std::string& prefix, const std::string& suffix,
                          mode_t mode) {
  Remove();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    char random[kRandomCharacters + 1];
    if (int error = RandomName(random); error != 0) return error;
    path_ = prefix;
    path_.append(random).append(suffix);
    // A signal handler must find the file from the moment at which it exists.
    Slot* slot = TakeSlot(path_);
    if (slot == nullptr) return ENAMETOOLONG;
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ >= 0) {
      slot_ = slot;
      return 0;
    }
    const int error = errno;
    slot->state.store(Slot::kFree);
    if (error != EEXIST && error != EINTR) return error;
  }
  return EEXIST;
}

int TemporaryFile::Commit(const std::string& path) {
  int error = close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
  if (error == 0 && rename(path_.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    Remove();
    return error;
  }
  static_cast<Slot*>(std::exchange(slot_, nullptr))->state.store(Slot::kFree);
  return 0;
}

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(written);
  }
  return 0;
}

void RemoveTemporaryFilesOnSignals() {
  struct sigaction action = {};
  action.sa_handler = EndBySignal;
  action.sa_flags = SA_RESETHAND;
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE,
                     SIGSEGV, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ}) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) != 0) continue;
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
      sigaction(signal, &action, nullptr);
    }
  }
}

}  // namespace pathways
