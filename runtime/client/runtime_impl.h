//===- runtime_impl.h - The parts of a runtime ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to runtime/client: the actors of one runtime, and the tables that
// client threads share with the controller.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUNTIME_IMPL_H_
#define RUNTIME_CLIENT_RUNTIME_IMPL_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/client/plan_kernels.h"
#include "runtime/client/runtime.h"
#include "runtime/resource/controller.h"
#include "runtime/scheduler/island_scheduler.h"
#include "runtime/store/store.h"
#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"

namespace pathways {

class Runtime::Impl final : public ClientPort {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(
      const proto::Cluster& cluster, const RuntimeOptions& options);
  ~Impl() override;

  // A launch, as clients see it.
  struct Run {
    uint64_t id = 0;
    std::shared_ptr<const PreparedPlan> plan;
    std::string client;
    std::shared_ptr<LaunchValues> values;
    uint64_t charged = 0;            // bytes of results, in the store
    std::vector<uint64_t> retained;  // arrays
    absl::Status status;             // before done is set
    bool completed = false;          // likewise
    std::atomic<bool> done{false};
  };
  struct Request {
    absl::Status status;
    uint64_t program = 0;
    std::atomic<bool> done{false};
  };
  struct Program {
    std::shared_ptr<const PreparedPlan> plan;
    std::string client;
  };

  // ClientPort.
  void Answer(uint64_t request, absl::Status status, uint64_t program) override;
  void LaunchEnded(uint64_t launch, absl::Status status,
                   bool completed) override;

  absl::StatusOr<ProgramHandle> Load(PlanData plan, const std::string& client);
  absl::Status Unload(uint64_t program);
  absl::StatusOr<RunHandle> Launch(uint64_t program,
                                   std::vector<LaunchArgument> arguments,
                                   int64_t steps);
  absl::Status Await(uint64_t run);
  absl::StatusOr<HostArray> Fetch(uint64_t run, int64_t result);
  absl::StatusOr<int64_t> ResultIndex(uint64_t run, const std::string& name);
  absl::Status ReleaseRun(uint64_t run);
  absl::Status ReleaseClient(const std::string& client);
  RuntimeStats Stats();
  void Shutdown();
  ObjectStore& objects() { return objects_; }

 private:
  friend class Runtime;
  Impl(Topology topology, const RuntimeOptions& options, uint64_t host_memory);
  absl::Status StartWorld();
  void RegisterActors();

  // Counts a client's call, so that the destructor can wait for it.
  class Call;
  // Sends a request and waits for the answer.
  template <typename Fill>
  std::shared_ptr<Request> Ask(const Fill& fill);
  // Waits for `done`. DeadlineExceeded: it will never be (in a simulation);
  // Cancelled: shutdown.
  absl::Status WaitFor(const std::atomic<bool>& done, const std::string& what);
  std::shared_ptr<Run> FindRun(uint64_t run);
  absl::Status MakeValues(const PreparedPlan& plan,
                          std::vector<LaunchArgument>& arguments, int64_t steps,
                          Run* run);
  void Drop(Run* run);

  RuntimeOptions options_;
  Topology topology_;
  PlanKernels plan_kernels_;
  RuntimeContext context_;
  ObjectStore objects_;

  Mutex mutex_;
  uint64_t next_request_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::shared_ptr<Request>> requests_
      ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Program> programs_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<Run>> runs_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::condition_variable_any calls_ended_;
  std::atomic<bool> stopping_{false};

  std::unique_ptr<Controller> controller_;
  std::vector<std::unique_ptr<IslandScheduler>> schedulers_;
  std::vector<std::unique_ptr<HostExecutor>> executors_;
  std::vector<std::vector<std::unique_ptr<Device>>> devices_;  // per host
  SimWorld* sim_ = nullptr;
  std::unique_ptr<World> world_;  // destroyed first
};

class Runtime::Impl::Call {
 public:
  explicit Call(Impl* impl) : impl_(impl) {
    MutexLock lock(&impl_->mutex_);
    ++impl_->calls_;
  }
  ~Call() {
    MutexLock lock(&impl_->mutex_);
    if (--impl_->calls_ == 0) impl_->calls_ended_.notify_all();
  }

 private:
  Impl* const impl_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUNTIME_IMPL_H_
