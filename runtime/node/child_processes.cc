//===- child_processes.cc - Child processes of this process ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/child_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace pathways {
namespace {

absl::Status SpawnError(int error, const std::string& program) {
  const std::string text = absl::StrCat("cannot start '", program, "'");
  if (error == EAGAIN || error == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat(text, ": ", std::generic_category().message(error)));
  }
  return absl::ErrnoToStatus(error, text);
}

std::string HowEnded(int status) {
  return WIFSIGNALED(status)
             ? absl::StrCat("signal ", WTERMSIG(status))
             : absl::StrCat("exit status ", WEXITSTATUS(status));
}

}  // namespace

ChildProcesses::ChildProcesses(OnExit on_exit, int read_end, int write_end)
    : on_exit_(std::move(on_exit)),
      read_end_(read_end),
      write_end_(write_end) {}

absl::StatusOr<std::unique_ptr<ChildProcesses>> ChildProcesses::Create(
    OnExit on_exit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot create a pipe for child processes: ",
                     std::generic_category().message(errno)));
  }
  return std::unique_ptr<ChildProcesses>(
      new ChildProcesses(std::move(on_exit), ends[0], ends[1]));
}

ChildProcesses::~ChildProcesses() {
  Stop(absl::Seconds(5));
  close(read_end_);
}

absl::StatusOr<int> ChildProcesses::Start(
    const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // If both numbers are equal, this only clears close-on-exec.
  posix_spawn_file_actions_adddup2(&actions, read_end_, kParentFd);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawnattr_setpgroup(&attributes, 0);
  // Children do not inherit the parent's blocked and ignored signals.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  MutexLock lock(&mutex_);
  pid_t pid = -1;
  int error = write_end_ < 0 ? ECANCELED
                             : posix_spawnp(&pid, argv[0], &actions,
                                            &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return SpawnError(error, command[0]);
  const int number = static_cast<int>(children_.size());
  Child& child = children_[number];
  child.pid = pid;
  try {
    child.reaper = std::thread([this, number, pid] { Reap(number, pid); });
  } catch (const std::system_error& system) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    children_.erase(number);
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread that waits for '", command[0],
                     "': ", system.what()));
  }
  return number;
}

void ChildProcesses::Reap(int number, pid_t pid) {
  // The pid stays the child's until it is reaped, under the lock, so Stop
  // cannot kill another process.
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  int status = 0;
  {
    MutexLock lock(&mutex_);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    const auto child = children_.find(number);
    if (child != children_.end()) child->second.running = false;
    ended_.notify_all();
  }
  if (on_exit_) on_exit_(number, HowEnded(status), WIFSIGNALED(status));
}

void ChildProcesses::Stop(absl::Duration grace) {
  std::vector<std::thread> reapers;
  {
    MutexLock lock(&mutex_);
    if (write_end_ >= 0) close(write_end_);
    write_end_ = -1;
    auto all_ended = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      for (const auto& [number, child] : children_) {
        if (child.running) return false;
      }
      return true;
    };
    if (!ended_.wait_for(
            mutex_, absl::ToChronoNanoseconds(std::min(grace, absl::Hours(1))),
            all_ended)) {
      for (const auto& [number, child] : children_) {
        if (child.running) kill(-child.pid, SIGKILL);  // its process group
      }
    }
    for (auto& [number, child] : children_) {
      if (child.reaper.joinable()) reapers.push_back(std::move(child.reaper));
    }
  }
  for (std::thread& reaper : reapers) reaper.join();
}

void EndWithParent() {
  std::thread([] {
    char byte;
    while (read(kParentFd, &byte, 1) > 0 || errno == EINTR) errno = 0;
    _exit(0);
  }).detach();
}

}  // namespace pathways
