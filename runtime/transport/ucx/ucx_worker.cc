//===- ucx_worker.cc - UCP worker -----------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_worker.h"

#include <sys/socket.h>
#include <sys/statvfs.h>
#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/descriptor.h"

namespace pathways {
namespace {

// Sets options of the whole process: UCX leaves signals for faults alone, and
// does not print messages about lost peers, which OnPeerDown reports.
void SetUpProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (int fault : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) {
      ucs_debug_disable_signal(fault);
    }
    ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    ucs_global_opts_set_value("HANDLE_ERRORS", "none");
  });
}

// Approximate size of what UCX takes in /dev/shm for one process.
constexpr uint64_t kSharedBytes = 3 << 20;

using Settings = std::vector<std::pair<const char*, std::string>>;

Settings SettingsOf(UcxWay way, const std::string& device) {
  // Bytes of a packet, its header, and what UCX puts before it.
  const std::string segment =
      absl::StrCat(UcxWorker::kPacketBytes + UcxWorker::kHeadBytes + (1 << 10));
  // Names of a transport's settings begin as in the tables of UCX, not as in
  // the environment. Unknown names are ignored.
  Settings settings = {
      {"TLS", way == UcxWay::kSharedMemory ? "posix,tcp" : "tcp"},
      // Reports lost peers at once; shared memory is not used without it.
      {"MM_ERROR_HANDLING", "y"},
      {"MM_SEG_SIZE", segment},
      {"TX_SEG_SIZE", segment},
      {"RX_SEG_SIZE", segment},
      // The 64 elements of the ring and some that are being read: 3 MiB. With
      // the default of 512, the 64 MiB that containers have would not suffice
      // for four processes.
      {"MM_RX_BUFS_GROW", "80"},
      // A message of 64 bytes fits in an element of the ring.
      {"MM_FIFO_ELEM_SIZE", "256"},
      // Pieces go to the memory that was named for them, and critical messages
      // overtake them, so a rendezvous is useless.
      {"RNDV_THRESH", "inf"},
      // Detects machines that vanish without ending their connections.
      {"KEEPALIVE_INTERVAL", "1s"},
      // Makes a port free for the next process at once.
      {"CM_REUSEADDR", "y"},
      {"SOCKADDR_TLS_PRIORITY", "tcp"},
  };
  if (!device.empty()) settings.emplace_back("NET_DEVICES", device);
  return settings;
}

// Returns a possible reason why UCX cannot use shared memory, which UCX itself
// does not report.
std::string FreeSharedMemory() {
  struct statvfs found;
  if (statvfs("/dev/shm", &found) != 0) {
    return absl::StrCat("; /dev/shm cannot be used: ", std::strerror(errno));
  }
  const uint64_t left = uint64_t{found.f_bavail} * found.f_frsize;
  if (left >= kSharedBytes) return "";
  return absl::StrCat("; /dev/shm has ", left, " of ",
                      uint64_t{found.f_blocks} * found.f_frsize,
                      " bytes free, expected ", kSharedBytes);
}

// Returns the system's error for an address on which UCX cannot listen.
absl::Status WhyNotListen(const Endpoint& endpoint, absl::string_view text,
                          ucs_status_t status) {
  const Descriptor probe(
      socket(endpoint.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(probe.get(), endpoint.get(), endpoint.bytes) != 0) {
    return SystemError("listen on", text, errno);
  }
  // Two sockets may bind a port on which only one may listen.
  if (status == UCS_ERR_BUSY) {
    return SystemError("listen on", text, EADDRINUSE);
  }
  return UcxError(absl::StrCat("cannot listen on '", text, "'"), status);
}

}  // namespace

absl::Status UcxError(absl::string_view what, ucs_status_t status) {
  return absl::UnavailableError(
      absl::StrCat(what, ": ", ucs_status_string(status)));
}

absl::StatusOr<std::unique_ptr<UcxWorker>> UcxWorker::Make(
    UcxWay way, const std::string& device) {
  SetUpProcess();
  std::unique_ptr<UcxWorker> made(new UcxWorker);
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return UcxError("cannot configure UCX", status);
  for (const auto& [name, value] : SettingsOf(way, device)) {
    status = ucp_config_modify(config, name, value.c_str());
    if (status == UCS_OK) continue;
    ucp_config_release(config);
    return UcxError(absl::StrCat("cannot set ", name, " of UCX"), status);
  }
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  status = ucp_init(&params, config, &made->context_);
  ucp_config_release(config);
  if (status != UCS_OK) {
    made->context_ = nullptr;
    return UcxError("cannot start UCX", status);
  }
  ucp_worker_params_t worker = {};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = ucp_worker_create(made->context_, &worker, &made->worker_);
  if (status != UCS_OK) {
    made->worker_ = nullptr;
    return absl::UnavailableError(absl::StrCat(
        "cannot use UCX on device '", device, "': ", ucs_status_string(status),
        way == UcxWay::kSharedMemory ? FreeSharedMemory() : ""));
  }
  status = ucp_worker_get_efd(made->worker_, &made->event_fd_);
  if (status != UCS_OK)
    return UcxError("UCX cannot create a file descriptor to wait on", status);
  return made;
}

UcxWorker::~UcxWorker() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

absl::Status UcxWorker::Receive(unsigned id, ucp_am_recv_callback_t on_packet,
                                void* argument) {
  ucp_am_handler_param_t handler = {};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = on_packet;
  handler.arg = argument;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker_, &handler);
  if (status != UCS_OK) return UcxError("UCX cannot receive", status);
  return absl::OkStatus();
}

absl::StatusOr<ucp_listener_h> UcxWorker::Listen(
    const Endpoint& endpoint, absl::string_view text,
    ucp_listener_conn_callback_t on_dialed, void* argument) {
  ucp_listener_params_t params = {};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr.addr = endpoint.get();
  params.sockaddr.addrlen = endpoint.bytes;
  params.conn_handler.cb = on_dialed;
  params.conn_handler.arg = argument;
  ucp_listener_h listener = nullptr;
  const ucs_status_t status = ucp_listener_create(worker_, &params, &listener);
  if (status != UCS_OK) return WhyNotListen(endpoint, text, status);
  return listener;
}

}  // namespace pathways
