//===- host_options.cc - Options of a cluster that workers need -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/host_options.h"

namespace pathways {

proto::HostOptions ToHostOptions(const ClusterOptions& options) {
  proto::HostOptions told;
  told.set_seed(options.seed);
  told.set_workers(options.workers);
  told.set_bind_workers(options.bind_workers);
  told.set_stall_timeout_ns(options.stall_timeout_ns);
  told.set_kernel_timeout_ns(options.kernel_timeout_ns);
  told.set_sequential(options.dispatch == ClusterOptions::kSequential);
  told.set_host_work_ns(options.host_work_ns);
  told.set_trace_events(options.trace_events);
  told.set_spill_folder(options.spill.folder);
  told.set_spill_bytes(options.spill.bytes);
  told.set_spill_begin(options.spill.begin);
  told.set_spill_end(options.spill.end);
  return told;
}

ClusterOptions ToClusterOptions(const proto::HostOptions& told) {
  ClusterOptions options;
  options.seed = told.seed();
  options.workers = told.workers();
  options.bind_workers = told.bind_workers();
  options.stall_timeout_ns = told.stall_timeout_ns();
  options.kernel_timeout_ns = told.kernel_timeout_ns();
  options.dispatch = told.sequential() ? ClusterOptions::kSequential
                                       : ClusterOptions::kParallel;
  options.host_work_ns = told.host_work_ns();
  options.trace_events = told.trace_events();
  options.spill = {told.spill_folder(), told.spill_bytes(), told.spill_begin(),
                   told.spill_end()};
  return options;
}

}  // namespace pathways
