//===- trace_messages_fuzz.cc - Trace messages of a process ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/summary.h"
#include "runtime/trace/trace_message.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {

// Some thousand actors that are not named; and an event of 40 bytes is a slice
// with its names and numbers, in several tables and as text.
const fuzz::Budget fuzz::kBudget = {4 << 20, 600};

}  // namespace pathways

// The input says how far the clock of the process is off, and has its messages.
// The joined trace of two such processes is JSON, and has a summary.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  const google::protobuf::LogSilencer silence;
  fuzz::Input input(data, size);
  const auto offset = static_cast<TimeNs>(input.Number(8));
  proto::ProcessTrace said;
  if (!said.ParseFromString(input.TakeRest())) return 0;
  const absl::StatusOr<TraceLog> log = ReadTraceMessages({&said});
  if (!log.ok()) return 0;
  // Messages that are passed on stay the same.
  std::vector<const proto::ProcessTrace*> again;
  const std::vector<proto::ProcessTrace> written =
      WriteTraceMessages(*log, /*most_bytes=*/100);
  for (const proto::ProcessTrace& message : written) again.push_back(&message);
  const absl::StatusOr<TraceLog> read = ReadTraceMessages(again);
  FUZZ_CHECK(read.ok() && read->events.size() == log->events.size());

  std::vector<ProcessLog> logs = {{*log, {}}, {*log, {}}};
  logs[1].clock.process = 1;
  logs[1].clock.offset_ns = offset;
  const absl::StatusOr<TraceLog> joined = JoinTraceLogs(std::move(logs));
  if (!joined.ok()) return 0;
  FUZZ_CHECK(joined->events.size() + joined->dropped >= joined->events.size());
  std::ostringstream out;
  WriteChromeTrace(*joined, {}, &out);
  FUZZ_CHECK(nlohmann::json::accept(out.str()));
  SummarizeTrace(*joined);
  return 0;
}
