//===- file_reader.cc - Reads what hosts ask for from files ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/file_reader.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/memory.h"

namespace pathways {

void PieceRead::Run() {
  const bool has_memory = HasMemoryFor([&] {
    buffer = std::make_unique_for_overwrite<char[]>(bytes());
    std::vector<SavedArray::Range> ranges;
    map->GatherRuns(piece.offset(), bytes(), buffer.get(),
                    [&](uint64_t offset, uint64_t count, uint64_t begin) {
                      ranges.push_back({offset, count, buffer.get() + begin});
                    });
    status = saved->Read(ranges);
  });
  if (!has_memory) {
    status = absl::ResourceExhaustedError(absl::StrCat(
        "a piece of '", saved->folder(), "': ", NoMemoryText(bytes())));
  }
}

FileReader::~FileReader() {
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

void FileReader::Add(PieceRead read) {
  {
    MutexLock lock(&mutex_);
    waiting_.push_back(std::move(read));
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { ReadAll(); });
      } catch (const std::system_error&) {  // there are no more threads
        PieceRead last = std::move(waiting_.back());
        waiting_.pop_back();
        last.Run();
        done_.push_back(std::move(last));
      }
    }
  }
  changed_.notify_all();
}

std::vector<PieceRead> FileReader::Take() {
  MutexLock lock(&mutex_);
  return std::exchange(done_, {});
}

void FileReader::ReadAll() {
  while (true) {
    PieceRead read;
    {
      MutexLock lock(&mutex_);
      while (waiting_.empty() && !stopping_) changed_.wait(mutex_);
      if (stopping_) return;
      read = std::move(waiting_.front());
      waiting_.pop_front();
    }
    read.Run();
    {
      MutexLock lock(&mutex_);
      done_.push_back(std::move(read));
    }
    on_read_();
  }
}

}  // namespace pathways
