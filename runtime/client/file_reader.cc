//===- file_reader.cc - Reader of saved arrays for hosts ------------------===//
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

namespace {

// Most pieces that are read together; files are opened once for all of them.
constexpr size_t kMaxTogether = 16;

}  // namespace

void ReadPieces(absl::Span<PieceRead> reads) {
  absl::Status status;
  const bool has_memory = HasMemoryFor([&] {
    std::vector<SavedArray::Range> ranges;
    for (PieceRead& read : reads) {
      read.buffer = std::make_unique_for_overwrite<char[]>(read.bytes());
      char* const to = read.buffer.get();
      read.map->GatherRuns(
          read.piece.offset(), read.bytes(), to,
          [&](uint64_t offset, uint64_t count, uint64_t begin) {
            ranges.push_back({offset, count, to + begin});
          });
    }
    status = reads.front().saved->Read(ranges);
  });
  if (!has_memory) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("there is no memory to read pieces of '",
                     reads.front().saved->folder(), "'"));
  }
  for (PieceRead& read : reads) read.status = status;
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
      } catch (const std::system_error&) {  // no more threads
        done_.push_back(std::move(waiting_.back()));
        waiting_.pop_back();
        ReadPieces(absl::MakeSpan(&done_.back(), 1));
      }
    }
  }
  changed_.notify_all();
}

std::vector<PieceRead> FileReader::Take() {
  MutexLock lock(&mutex_);
  return std::exchange(done_, {});
}

std::vector<PieceRead> FileReader::Next() {
  std::vector<PieceRead> reads;
  const SavedArray* const saved = waiting_.front().saved;
  while (!waiting_.empty() && waiting_.front().saved == saved &&
         reads.size() < kMaxTogether) {
    reads.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return reads;
}

void FileReader::ReadAll() {
  while (true) {
    std::vector<PieceRead> reads;
    {
      MutexLock lock(&mutex_);
      while (waiting_.empty() && !stopping_) changed_.wait(mutex_);
      if (stopping_) return;
      reads = Next();
    }
    ReadPieces(absl::MakeSpan(reads));
    {
      MutexLock lock(&mutex_);
      for (PieceRead& read : reads) done_.push_back(std::move(read));
    }
    on_read_();
  }
}

}  // namespace pathways
