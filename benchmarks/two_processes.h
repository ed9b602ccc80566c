//===- two_processes.h - Benchmarks of processes ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_TWO_PROCESSES_H
#define BENCHMARKS_TWO_PROCESSES_H

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/bench.h"

namespace pathways::bench {

inline constexpr size_t kSmallBytes = 64;         // size of a short message
inline constexpr unsigned kLongestSeconds = 120;  // longest life of a process

// Writes `text` to the other end of a pipe.
inline void Notify(int to, const std::string& text) {
  if (write(to, text.data(), text.size()) != ssize_t(text.size())) {
    Die("cannot tell the parent");
  }
}

// A process that runs `body` with the end of a pipe to this one, and ends with
// it. Must be made before this process has threads.
class Child {
 public:
  explicit Child(const std::function<void(int to_parent)>& body) {
    int ends[2];
    if (pipe(ends) != 0) Die("no pipe");
    alarm(kLongestSeconds);
    pid_ = fork();
    if (pid_ < 0) Die("cannot fork");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(kLongestSeconds);
      close(ends[0]);
      body(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Child() {
    close(from_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;

  // Returns the first message from the process.
  std::string Hear() const {
    char text[256];
    const ssize_t bytes = read(from_, text, sizeof text);
    if (bytes <= 0) Die("the child said nothing");
    return std::string(text, bytes);
  }

 private:
  pid_t pid_;
  int from_;
};

// Polls as workers do: other threads may use the core from time to time.
class Idle {
 public:
  void After(bool moved) {
    if (moved) {
      polls_ = 0;
    } else if (++polls_ % 16 == 0) {
      sched_yield();
    }
  }

 private:
  int polls_ = 0;
};

inline double Median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

// Returns microseconds.
inline double RoundTrip(double scale, const std::function<void()>& one) {
  for (int i = 0; i < 1000 * scale; ++i) one();
  std::vector<double> us;
  for (int sample = 0; sample < 20; ++sample) {
    const int count = std::max(1, static_cast<int>(500 * scale));
    const double begin = Seconds();
    for (int i = 0; i < count; ++i) one();
    us.push_back((Seconds() - begin) * 1e6 / count);
  }
  return Median(us);
}

inline void RoundTrips(const std::string& name, double scale,
                       const std::function<void()>& one) {
  Figure("process.roundtrip." + name + ".us", RoundTrip(scale, one), "us");
}

inline double Transfers(const std::string& name, double scale, size_t bytes,
                        const std::function<void()>& one) {
  one();
  std::vector<double> rates;
  for (int i = 0; i < std::max(1.0, 9 * scale); ++i) {
    const double begin = Seconds();
    one();
    rates.push_back(bytes * 1e-9 / (Seconds() - begin));
  }
  Figure("process.transfer64M." + name + ".GBps", Median(rates), "GB/s");
  return Median(rates);
}

}  // namespace pathways::bench

#endif  // BENCHMARKS_TWO_PROCESSES_H
