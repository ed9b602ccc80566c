//===- file_reader.h - Reader of saved arrays for hosts ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_FILE_READER_H_
#define RUNTIME_CLIENT_FILE_READER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/block_map.h"
#include "runtime/protocol/block_pull.h"

namespace pathways {

// A request of a host for one piece of an array in files.
struct PieceRead {
  uint64_t id = 0;  // object's id, as hosts know it
  uint64_t object = 0;
  int32_t host = 0;
  PulledPiece piece;
  std::shared_ptr<const void> owner;  // keeps `saved` alive
  const SavedArray* saved = nullptr;
  std::shared_ptr<const BlockMap> map;
  // Results of reading: all of the piece, or an error.
  std::unique_ptr<char[]> buffer;
  absl::Status status;

  uint64_t bytes() const { return piece.BytesOf(map->bytes()); }
};
// Reads pieces of one array and sets their status, the same for all of them:
// errors of SavedArray::Read, or ResourceExhausted if there is no memory.
void ReadPieces(absl::Span<PieceRead> reads);

// Reads pieces on a thread of its own, which starts with the first one, since
// handlers must not wait for a disk. It reads in the order of the requests, and
// pieces of one array together. It belongs to a client of a world of threads;
// in a simulation files take no time. Any thread may call it.
class FileReader {
 public:
  // `on_read` is called on that thread when Take has something to return; it
  // must not wait.
  explicit FileReader(std::function<void()> on_read)
      : on_read_(std::move(on_read)) {}
  // Waits for the read in progress, and drops the rest.
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  void Add(PieceRead read);
  // Returns the pieces that were read since the last call, in the order of Add.
  std::vector<PieceRead> Take();

 private:
  void ReadAll();
  // Returns the next pieces to read together.
  std::vector<PieceRead> Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<void()> on_read_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<PieceRead> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<PieceRead> done_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_FILE_READER_H_
