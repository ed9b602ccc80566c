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
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/base/mutex.h"
#include "runtime/client/plan_kernels.h"
#include "runtime/client/runtime.h"
#include "runtime/controller/controller.h"
#include "runtime/executor/parts.h"
#include "runtime/scheduler/island_scheduler.h"
#include "runtime/store/store.h"
#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"

namespace pathways {

class Runtime::Impl final : public Actor {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(
      const proto::Cluster& cluster, const RuntimeOptions& options);
  ~Impl() override;

  // That something has ended, and whether anybody waits for it: most launches
  // and releases end unwatched, and to wake a thread costs more than they do.
  class Completion {
   public:
    // After it, everything that was written before Set is seen.
    bool load() const { return done_.load(std::memory_order_seq_cst); }
    // Whether waiters must be notified.
    bool Set() {
      done_.store(true, std::memory_order_seq_cst);
      return awaited_.load(std::memory_order_seq_cst);
    }
    // Before the waiter looks.
    void Await() { awaited_.store(true, std::memory_order_seq_cst); }

   private:
    std::atomic<bool> done_{false}, awaited_{false};
  };
  // Values that hosts hold in parts. Without an object no host holds any: the
  // array is empty, or kernels do not run.
  struct Placed {
    uint64_t object = 0;
    std::shared_ptr<const ArrayPlacement> placement;
  };
  // A launch, as clients see it.
  struct Run {
    uint64_t id = 0;
    std::shared_ptr<const PreparedPlan> plan;
    std::string client;
    struct Result {
      Placed placed;
      ElementType element = ElementType::kInvalid;
      std::vector<int64_t> shape;  // with steps
      bool poisoned = false;       // before done is set
    };
    std::vector<Result> results;
    uint64_t steps = 1;
    absl::Status status;     // before done is set
    bool completed = false;  // likewise
    Completion done;
    // With mutex_: nobody asks for it when it has ended; it holds its results.
    bool released = false, holds = true;
  };
  struct Request {
    absl::Status status;
    uint64_t program = 0;
    // Of a fetch: what is to come, ordered, and from whom it came already.
    struct Range {
      int32_t host = 0;
      uint64_t offset = 0;
      std::vector<char> data;
    };
    std::vector<Range> ranges;
    std::set<std::pair<int32_t, uint64_t>> seen;
    uint64_t remaining = 0;  // bytes
    Completion done;
  };
  struct Program {
    std::shared_ptr<const PreparedPlan> plan;
    std::string client;
    std::vector<std::shared_ptr<const ArrayPlacement>> arguments, results;
  };
  // A logical array. It stays with the client until a launch says where it
  // belongs; from the end of that launch on only the hosts hold it.
  struct Array {
    std::string client;
    ElementType element = ElementType::kInvalid;
    std::vector<int64_t> shape;
    uint64_t bytes = 0;
    std::shared_ptr<const HostArray> dense;
    Arena::Segment charge;  // of `dense`
    Placed placed;
    uint64_t placing = 0;  // run that brings it to the hosts, not ended
    // Run and result that it is, until somebody has seen that it is good.
    std::shared_ptr<Run> producer;
    int64_t result = 0;
  };

  // The client's actor, and its number (proto::Control::client).
  static constexpr uint32_t kClient = 0;
  void OnControl(ActorId from, std::string_view bytes) override;

  absl::StatusOr<ProgramHandle> Load(PlanData plan, const std::string& client);
  absl::Status Unload(uint64_t program);
  absl::StatusOr<RunHandle> Launch(uint64_t program,
                                   std::vector<LaunchArgument> arguments,
                                   int64_t steps);
  absl::Status Await(uint64_t run);
  absl::StatusOr<HostArray> Fetch(uint64_t run, int64_t result);
  absl::StatusOr<int64_t> ResultIndex(uint64_t run, const std::string& name);
  absl::Status ReleaseRun(uint64_t run);
  absl::StatusOr<ArrayHandle> Keep(uint64_t run, int64_t result,
                                   const std::string& client);
  absl::StatusOr<ArrayHandle> Put(HostArray array, const std::string& client);
  absl::StatusOr<HostArray> Get(uint64_t array);
  absl::Status Release(uint64_t array);
  absl::Status ReleaseClient(const std::string& client);
  RuntimeStats Stats();
  absl::Status WriteTrace(std::ostream* out);
  absl::StatusOr<TraceSummary> Summarize();
  void Shutdown();

 private:
  friend class Runtime;
  Impl(Topology topology, const RuntimeOptions& options,
       uint64_t client_memory);
  void Answer(uint64_t request, absl::Status status, uint64_t program);
  void LaunchEnded(const proto::LaunchEnded& ended);
  void Deliver(const proto::PartData& part);
  absl::Status StartWorld();
  void RegisterActors();
  // `worker`: of the executor and the first device.
  void RegisterHost(int host, int worker);
  absl::Status StartTrace();
  void TraceCrossing(const SimCrossing& crossing);
  // On the watchdog's thread.
  void ReportKernel(const KernelCall& call, TimeNs ns);
  // A client's call, for the trace.
  class TracedCall;

  // Counts a client's call, so that the destructor can wait for it.
  class Call;
  // Sends a request, to be waited for.
  template <typename Fill>
  std::shared_ptr<Request> Ask(
      const Fill& fill,
      std::shared_ptr<Request> request = std::make_shared<Request>()) {
    proto::Control control;
    MutexLock lock(&mutex_);
    const uint64_t id = ++next_request_;
    requests_[id] = request;
    fill(id, &control);
    Number(&control);
    Send(control);
    return request;
  }
  // Gives a request its place among those of this client, which must be sent
  // before mutex_ or launch_mutex_ is given back.
  void Number(proto::Control* control) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    control->set_sequence(++next_sequence_);
  }
  // `from`: the client's actor, in its handler; else nobody.
  void Send(const proto::Control& control, ActorId from = kNoActor) {
    world_->SendControl(from, context_.directory.controller(),
                        control.SerializeAsString());
  }
  // Waits for `done`. DeadlineExceeded: it will never be (in a simulation);
  // Cancelled: shutdown.
  absl::Status WaitFor(Completion& done, const std::string& what);
  std::shared_ptr<Run> FindRun(uint64_t run);
  absl::Status CheckArgument(const PreparedPlan& plan, int index,
                             ElementType element,
                             const std::vector<int64_t>& shape, uint64_t bytes,
                             int64_t steps) const;
  absl::Status MakeResults(const Program& program, int64_t steps, Run* run);
  // Of arguments that are arrays, the values of those that the client has, or
  // that lie elsewhere than `program` wants them; null: of the others. Waits.
  absl::StatusOr<std::vector<std::shared_ptr<const HostArray>>> BringHome(
      const Program& program, const std::vector<LaunchArgument>& arguments);
  // Cuts what hosts need of `array` into messages, and passes each on.
  static void CutParts(uint64_t launch, const std::string& what,
                       const Placed& placed, const HostArray& array,
                       uint64_t steps,
                       absl::FunctionRef<void(proto::StorePart)> pass_on);
  // Joins the parts that hosts hold; waits. NotFound: released meanwhile.
  absl::StatusOr<HostArray> Gather(const Placed& placed, ElementType element,
                                   const std::vector<int64_t>& shape,
                                   const std::string& what);
  // Whether a result of a run that has ended is good.
  static absl::Status CheckResult(const Run& run, int64_t index);
  // The run, when it has ended and the result is good. Waits.
  absl::StatusOr<std::shared_ptr<Run>> FindResult(uint64_t run, int64_t index);
  // Waits until the array is good, if it is a result.
  absl::Status AwaitArray(uint64_t array);
  // Waits while kMaxLaunches have not ended.
  absl::Status AwaitTurn();
  // Adds what the run holds, for Unhold.
  void TakeResults(Run* run, std::vector<uint64_t>* objects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives up one hold of each object; asks the controller, as Send, to release
  // those that nothing here holds. Does not wait.
  void Unhold(const std::vector<uint64_t>& objects, ActorId from = kNoActor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the hosts have dropped what was released so far.
  absl::Status AwaitReleases();

  RuntimeOptions options_;
  Topology topology_;
  PlanKernels plan_kernels_;
  RuntimeContext context_;

  // Held while a launch is cut and sent: launches reach the controller in the
  // order in which they look at arrays. Taken before mutex_.
  Mutex launch_mutex_;
  std::atomic<uint64_t> next_object_{0};

  Mutex mutex_;
  Arena client_memory_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_array_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Array> arrays_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_request_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::shared_ptr<Request>> requests_
      ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Program> programs_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<Run>> runs_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_run_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> unended_ ABSL_GUARDED_BY(mutex_);  // of runs_
  // Per object: runs and arrays here whose values it has.
  absl::flat_hash_map<uint64_t, int> holds_ ABSL_GUARDED_BY(mutex_);
  // Numbers: of the last release, and of the last one that hosts have done.
  uint64_t last_release_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t settled_ ABSL_GUARDED_BY(mutex_) = 0;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::condition_variable_any calls_ended_;
  std::atomic<bool> stopping_{false};

  std::unique_ptr<Controller> controller_;
  std::vector<std::unique_ptr<IslandScheduler>> schedulers_;
  std::vector<std::unique_ptr<HostExecutor>> executors_;
  std::deque<HostActors> host_actors_;  // per host
  std::deque<Cohort> cohorts_;
  std::vector<std::vector<std::unique_ptr<Device>>> devices_;  // per host
  SimWorld* sim_ = nullptr;         // which of the two
  ThreadWorld* threads_ = nullptr;  // world_ is
  std::unique_ptr<Trace> trace_;    // null: not asked for
  std::unique_ptr<World> world_;    // destroyed first
};

// From its making to its end, when there is a trace.
class Runtime::Impl::TracedCall {
 public:
  TracedCall(Impl* impl, TraceCall call, uint64_t launch = 0)
      : trace_(impl->trace_.get()) {
    if (trace_ == nullptr) return;
    event_ =
        NewTraceEvent(TraceKind::kCall, IndexOf(impl->controller_->local_id()),
                      trace_->Now());
    event_.target = static_cast<uint32_t>(call);
    set_launch(launch);
  }
  ~TracedCall() {
    if (trace_ == nullptr) return;
    event_.value = static_cast<uint64_t>(trace_->Now());
    trace_->RecordOutside(event_);
  }
  void set_launch(uint64_t launch) {
    event_.other = static_cast<uint32_t>(launch);
  }

 private:
  Trace* const trace_;
  TraceEvent event_;
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
