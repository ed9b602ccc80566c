//===- CApi.h - Compile, load and run programs from C -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The API in C11, with a stable binary interface. Link libpathways.so.1. It
// runs plans without MLIR; pw_compile opens libpathways_compile.so.1.
//
// Errors. A call returns null, or an error that the caller frees. Outputs are
// set only if it returns null. A null handle, a null output or a null text is
// PW_INVALID_ARGUMENT.
//
// Ownership. What a call returns through T ** belongs to the caller, who frees
// it with the function of its type; each takes null and never waits. What a
// call returns as const lives as long as the handle it came from. Texts and
// arrays that are passed in are copied, but for pw_borrow. A session, and what
// it needs, lives as long as any handle made by it.
//
// Options begin with their size, which the caller sets to sizeof. Null stands
// for the defaults, as does a zero in each field. Later versions add fields at
// the end; a library takes larger structures if all that it does not know is
// zero.
//
// Threads. Any function may be called on any thread, also on one handle at the
// same time, except that nothing else may use a handle while it is freed.
//
// Exit. No call of pw_compile or pw_plan_print may run when the process returns
// from main or calls exit, because the compiler has static objects.
//
// fork. If a session was opened before fork, every call of the child returns
// PW_REFUSED, and the functions that free do nothing. The parent goes on.
//
// JSON. Some outputs are JSON texts, for facts that not every program reads.
// Later versions may add members. A sharding, which also is an input, is
//
//   {"mesh": [["x", 2], ["y", 2]], "devices": ["island0/host0/device0", ...],
//    "dims": [["x"], []], "partial": ["y"], "reduction": "add"}
//
// with the members of pathways::Sharding (Array.h). The last two may be absent
// if the array is not partial.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_CAPI_H
#define PATHWAYS_CAPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PW_ABI_VERSION 1

typedef struct pw_error pw_error;
typedef struct pw_text pw_text;
typedef struct pw_plan pw_plan;
typedef struct pw_session pw_session;
typedef struct pw_executable pw_executable;
typedef struct pw_run pw_run;
typedef struct pw_slice pw_slice;
typedef struct pw_array pw_array;
typedef struct pw_view pw_view;
typedef struct pw_events pw_events;

/// Version of the binary interface of the library: PW_ABI_VERSION when it
/// was built. A program must be built for the same or an older version.
uint32_t pw_abi_version(void);
/// Version of the library, such as "0.1.0".
const char *pw_version(void);

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Reason for a failure, as pathways::ErrorCode describes it (Result.h).
typedef enum {
  PW_INVALID_PROGRAM = 1,
  PW_INVALID_ARGUMENT = 2,
  PW_NOT_FOUND = 3,
  PW_UNWRITABLE = 4,
  PW_DAMAGED = 5,
  PW_REFUSED = 6,
  PW_ALREADY_EXISTS = 7,
  PW_RUN_FAILED = 8,
  PW_INTERNAL = 9,
  PW_TIMED_OUT = 10 // the time limit of a wait has passed
} pw_code;

pw_code pw_error_code(const pw_error *error);
/// Message for people: it names the object, and the expected and the actual
/// value.
const char *pw_error_message(const pw_error *error);
/// "PW3101", or "" if docs/errors.md does not describe the error.
const char *pw_error_id(const pw_error *error);
void pw_error_free(pw_error *error);

/// Returns the bytes of a text, which a NUL ends, and their number without
/// it in *size, which may be null.
const char *pw_text_data(const pw_text *text, size_t *size);
void pw_text_free(pw_text *text);

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Type of elements. The values are those of pathways::ElementType.
typedef enum {
  PW_F32 = 1,
  PW_F64 = 2,
  PW_I1 = 3, // one byte each, 0 or 1
  PW_I8 = 4,
  PW_I32 = 5,
  PW_I64 = 6,
  PW_F16 = 7,
  PW_BF16 = 8,
  PW_I16 = 9,
  PW_UI8 = 10,
  PW_UI16 = 11,
  PW_UI32 = 12,
  PW_UI64 = 13
} pw_element;

/// Dense, row-major array in the caller's memory.
typedef struct {
  size_t struct_size;
  int32_t element; // pw_element
  int32_t rank;    // number of dimensions, at least 0
  const int64_t *shape;
  void *data;
  size_t bytes; // number of elements times the size of one
} pw_tensor;

/// An argument or a result of a program. The pointers live as long as the
/// plan.
typedef struct {
  const char *name;
  int32_t element; // pw_element
  int32_t rank;
  // Shape in one step. A launch of n steps takes or returns a stepped value
  // with n as an extra leading dimension.
  const int64_t *shape;
  int32_t is_stepped;
  // For a carried argument, the position of the result whose value it takes
  // from the second step on; otherwise -1.
  int32_t carried_from;
} pw_port;

/// Returns the element type, the rank and the shape, which live as long as
/// the array. Each output may be null. Never waits.
pw_error *pw_array_type(const pw_array *array, int32_t *element, int32_t *rank,
                        const int64_t **shape);
/// Returns 1 if pw_array_wait would return at once, otherwise 0. Never
/// waits.
int pw_array_is_ready(const pw_array *array);
/// Waits for the run that fills the array, if there is one, for at most
/// `limit_ns` nanoseconds if that is not negative. Errors: PW_RUN_FAILED;
/// PW_TIMED_OUT; PW_INVALID_ARGUMENT if the array was released.
pw_error *pw_array_wait(const pw_array *array, int64_t limit_ns);
/// Waits, then copies the whole array once, to into->data. After an error the
/// contents are undefined. Errors: as for pw_array_wait; PW_INVALID_ARGUMENT
/// if the type, the shape or the number of bytes of `into` is not that of the
/// array, or if the array has no values, as in a session that only costs;
/// PW_REFUSED if memory is short.
pw_error *pw_array_get(const pw_array *array, const pw_tensor *into);
/// Waits, then returns the values without a copy. *data stays as it is until
/// the view is freed, whatever happens to the array, and must not be written;
/// it is null if *bytes is 0. Errors: as for pw_array_wait; PW_REFUSED, with
/// the reason, unless the values are dense in one piece of memory of this
/// process.
pw_error *pw_array_view(const pw_array *array, const void **data, size_t *bytes,
                        pw_view **view);
void pw_view_free(pw_view *view);
/// Describes where the array is, as JSON: {"sharding": SHARDING, "shards":
/// [{"device": NAME, "offset": [...], "shape": [...]}, ...]}, with the first
/// element and the number of elements in each dimension. "sharding" is null and
/// there are no shards if this process or files hold the values. Never waits.
/// Errors: PW_INVALID_ARGUMENT if the array was released.
pw_error *pw_array_placement(const pw_array *array, pw_text **json);
/// Waits, then copies one shard, whose shape pw_array_placement gives. Errors:
/// as for pw_array_get; PW_INVALID_ARGUMENT also if there is no such shard.
pw_error *pw_array_get_shard(const pw_array *array, size_t shard,
                             const pw_tensor *into);
/// Waits, then writes the array to a new folder. Errors: as for
/// pathways::Array::save.
pw_error *pw_array_save(const pw_array *array, const char *folder);
/// Frees the memory of the array before its last handle is gone. Launches
/// that have it as argument continue. Never waits.
void pw_array_release(pw_array *array);
/// Makes another handle of the same array.
pw_error *pw_array_retain(const pw_array *array, pw_array **copy);
void pw_array_free(pw_array *array);

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Rounding of floating-point numbers, as pathways::Rounding.
typedef enum {
  PW_ROUND_EACH_OP = 0,
  PW_ROUND_STRICT = 1,
  PW_ROUND_EXCESS = 2
} pw_rounding;

typedef struct {
  size_t struct_size;
  const char *file_name; // name in messages; null: "program.mlir"
  const char *topology;  // machines to place the program on, as in
                         // pathways::CompileOptions; null: this machine
  const char *mesh;      // sizes of slices: SLICE:AXIS=N,...; null: as written
  const char *program;   // name of the program; null: the only one
  const char *kernel_cache; // folder; null: none
  int32_t oversubscribe;    // not 0: virtual devices may share real ones
  int32_t steps_in_flight;  // 0: the default
  // Options for modules of StableHLO, as in pathways::ImportOptions; null: "".
  const char *carry;
  const char *stepped;
  const char *elided;
  const char *assign;
  const char *slices;
  int32_t rounding;    // pw_rounding
  int32_t explain;     // sum of values of pw_explain, for pw_plan_report
  const char *profile; // file of pw_session_write_profile; null: none
  uint64_t kernel_cache_bytes; // 0: the default
  const char *schedule;    // order of the only loop with labels: the name of a
                           // schedule, "auto", or @FILE; null: that of the text
  const char *label_costs; // costs of calls by label: PATTERN=TIME,... such as
                           // "*F=18.522ms"; null: none
} pw_compile_options;

/// Explanations to make. Shardings, ops that run as plain loops, and slots for
/// the iterations of loops become remarks.
typedef enum {
  PW_EXPLAIN_SHARDINGS = 1,
  PW_EXPLAIN_RESHARDS = 2,
  PW_EXPLAIN_KERNELS = 4,
  PW_EXPLAIN_IMPORT = 8,
  PW_EXPLAIN_CREDITS = 16
} pw_explain;

/// Compiles a program in the `pw` dialect, a module of StableHLO, or a plan
/// as text. `remarks`, which may be null, gets remarks and warnings, a line
/// each. Errors: PW_INVALID_PROGRAM; PW_INVALID_ARGUMENT as for
/// pathways::compile; PW_NOT_FOUND if libpathways_compile.so.1 is missing.
pw_error *pw_compile(const char *text, size_t size,
                     const pw_compile_options *options, pw_plan **plan,
                     pw_text **remarks);
/// Returns what a step of the program costs with each schedule, before any run,
/// as JSON: a list of objects with the members of pathways::ScheduleCosts:
/// "schedule", "misfit", "step_ns", "period_ns", "bubble", "period_bubble",
/// "ici_bytes", "dcn_bytes", "devices" and "estimated". "misfit" is null, or
/// the reason why the schedule does not fit; then there are no others.
/// pw_compile_options::schedule is null or a file of orders. Errors: as for
/// pw_compile; PW_INVALID_ARGUMENT as for pathways::explainSchedules.
pw_error *pw_explain_schedules(const char *text, size_t size,
                               const pw_compile_options *options,
                               pw_text **json);
/// Reads a plan file. A plan contains executable code: read only plans that
/// you trust. Errors: PW_NOT_FOUND, PW_INVALID_ARGUMENT, PW_REFUSED.
pw_error *pw_plan_read(const char *path, pw_plan **plan);
/// Parses the bytes of a plan file. Errors: PW_INVALID_ARGUMENT, PW_REFUSED.
pw_error *pw_plan_parse(const void *bytes, size_t size, pw_plan **plan);
/// Returns the bytes of the plan file.
pw_error *pw_plan_bytes(const pw_plan *plan, const void **bytes, size_t *size);
/// Writes the file completely or not at all. Errors: PW_UNWRITABLE.
pw_error *pw_plan_write(const pw_plan *plan, const char *path);
/// Name of the program. "" for null.
const char *pw_plan_program(const pw_plan *plan);
/// Both write as many arguments, or results, as there are, but no more than
/// `room`, in the order of the program, and return how many there are.
size_t pw_plan_arguments(const pw_plan *plan, pw_port *ports, size_t room);
size_t pw_plan_results(const pw_plan *plan, pw_port *ports, size_t room);
/// Describes the plan as JSON: {"program": NAME, "arguments": [PORT, ...],
/// "results": [PORT, ...]}. A port has "name", "element" ("f32"), "shape",
/// "stepped" and "sharding", without devices, and an argument also
/// "carried_from", the name of a result or null.
pw_error *pw_plan_describe(const pw_plan *plan, pw_text **json);
/// Returns what the compiler reported about this plan as JSON, with the members
/// of pathways::Compiled: "remarks", "donated", "kernels" and "orders", the
/// orders of the calls of loops with a schedule; "reshards" and "imported" are
/// empty unless pw_compile_options::explain asked for them. {}
/// for a plan that pw_compile did not make.
pw_error *pw_plan_report(const pw_plan *plan, pw_text **json);
/// Returns the plan as text of the `plan` dialect, which pw_compile reads.
/// Errors: PW_INVALID_ARGUMENT for a damaged plan; PW_NOT_FOUND as for
/// pw_compile.
pw_error *pw_plan_print(const pw_plan *plan, pw_text **text);

/// Costs of a plan, as in pathways::PlanCosts.
typedef struct {
  size_t struct_size;
  uint64_t peak_bytes;  // most memory of any device
  uint64_t total_bytes; // sum over the devices
  int64_t step_ns;      // time of a step; 0 without simulation
  uint64_t ici_bytes;   // moved by one step inside islands
  uint64_t dcn_bytes;   // moved by one step between islands
} pw_costs;

/// Computes what the plan costs on these machines (pw_open_options::topology),
/// which need not be there. If `steps` is not 0, simulates a launch of that
/// many steps for step_ns. Sets as much of *costs as its struct_size says.
/// `details`, which may be null, gets all of pathways::PlanCosts as JSON.
/// Errors: PW_INVALID_ARGUMENT for the topology, a negative number of steps, or
/// a damaged plan; PW_REFUSED if the plan does not fit these machines.
pw_error *pw_plan_costs(const pw_plan *plan, const char *topology,
                        int64_t steps, pw_costs *costs, pw_text **details);
void pw_plan_free(pw_plan *plan);

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

typedef enum { PW_THREADS = 0, PW_SIMULATION = 1 } pw_world;

typedef struct {
  size_t struct_size;
  const char *name;         // unique in the cluster; null: "session"
  const char *topology;     // "2x1x4" or a .textproto file; null: this machine
  int32_t world;            // pw_world
  int32_t workers;          // threads; 0: one for each core
  int32_t processes;        // processes with hosts; 0: this one
  int32_t priority;         // of launches
  uint64_t seed;            // of a simulation
  double weight;            // share of device time; 0: 1
  uint64_t quota_bytes;     // 0: no limit
  int64_t trace_events;     // events kept for traces; 0: no tracing
  int64_t stall_timeout_ns; // 0: the default
  // Not 0: a simulation that only costs. Kernels and copies take virtual time
  // and no memory. Arrays have shapes and no values: pw_put takes tensors with
  // 0 bytes, and pw_array_get returns an error.
  int32_t costs_only;
  int32_t run_ahead;  // most open launches; 0: the default
  int32_t elastic;    // not 0: programs leave drained devices
  int32_t link_costs; // threads, not 0: links take the time that the topology
                      // says
  int64_t kernel_timeout_ns; // 0: no limit
  const char *policy;        // order of launches; null: "priority"
  const char *faults;        // file or preset for a simulation; null: none
  const char *chaos;         // faults between processes; null: none
  const char *spill_folder;  // files of arrays beyond memory; null: none
  uint64_t spill_bytes;      // per host; 0: the default
} pw_open_options;

typedef struct {
  size_t struct_size;
  const char *name;       // unique in the cluster; null: this process's
  const char *key;        // file with the cluster's key; null: none
  int32_t trust_loopback; // not 0: needs no key on loopback
  int32_t priority;
  double weight; // 0: 1
  uint64_t quota_bytes;
  int32_t run_ahead; // as in pw_open_options
  int32_t elastic;
  const char *chaos;
} pw_connect_options;

typedef struct {
  size_t struct_size;
  double weight; // 0: 1
  int32_t priority;
  int32_t run_ahead; // as in pw_open_options
  uint64_t quota_bytes;
  int32_t elastic;
} pw_client_options;

/// Opens a cluster in this process, and its first session. Errors: as for
/// pathways::Session::open.
pw_error *pw_open(const pw_open_options *options, pw_session **session);
/// Opens a session of a running cluster: HOST:PORT, unix:/PATH or
/// unix:@NAME. Errors: as for pathways::Session::connect.
pw_error *pw_connect(const char *address, const pw_connect_options *options,
                     pw_session **session);
/// Opens another session of the same cluster, which shares the devices by
/// weight and priority. Errors: as for pathways::Session::another.
pw_error *pw_session_another(pw_session *session, const char *name,
                             const pw_client_options *options,
                             pw_session **another);
/// Returns the machines of the cluster, as pw_compile_options::topology
/// takes them.
pw_error *pw_session_topology(const pw_session *session, pw_text **topology);
/// Writes the events so far as JSON for Perfetto. Errors:
/// PW_INVALID_ARGUMENT without pw_open_options::trace_events; PW_UNWRITABLE.
pw_error *pw_session_write_trace(pw_session *session, const char *path);
/// Writes the measured costs of a program that has run, for
/// pw_compile_options::profile. Errors: as for pw_session_write_trace;
/// PW_INVALID_ARGUMENT as for pathways::Session::writeProfile.
pw_error *pw_session_write_profile(pw_session *session, const pw_plan *plan,
                                   const char *path);
/// Returns the devices and hosts, with their memory now, as JSON: {"devices":
/// [...], "hosts": [...]}, with the members of pathways::DeviceInfo and
/// pathways::HostInfo. Waits for all hosts. Errors: PW_RUN_FAILED if the
/// cluster ended.
pw_error *pw_session_machines(pw_session *session, pw_text **json);
/// Returns counts of the cluster as JSON, with the members of
/// pathways::Statistics. Waits for all processes. Errors: PW_RUN_FAILED if the
/// cluster ended.
pw_error *pw_session_statistics(pw_session *session, pw_text **json);
/// Gives the resources of the session to others until pw_session_resume. Its
/// arrays go to files in a new folder or, if that is null, to memory of this
/// process. Waits for its launches. Errors: as for pathways::Session::suspend.
pw_error *pw_session_suspend(pw_session *session, const char *folder);
/// Loads the programs again. Errors: as for pathways::Session::resume.
pw_error *pw_session_resume(pw_session *session);
/// Stops loading programs on these islands, hosts or devices, and waits until
/// none is left there, for at most `limit_ns` nanoseconds if that is not
/// negative. Errors: as for pathways::Session::drain.
pw_error *pw_session_drain(pw_session *session, const char *const *names,
                           size_t count, int64_t limit_ns);
/// Errors: as for pathways::Session::undrain.
pw_error *pw_session_undrain(pw_session *session, const char *const *names,
                             size_t count);
void pw_session_free(pw_session *session);

/// Makes a new array with a copy of the values. Errors: PW_INVALID_ARGUMENT
/// if the number of bytes does not fit the type; PW_REFUSED if memory is
/// short.
pw_error *pw_put(pw_session *session, const pw_tensor *values,
                 pw_array **array);
/// Makes a new array without a copy. The values must not change until `done`
/// is called, once, with `context`: when they are read no more, also if the
/// call fails. It is called on any thread, must not wait, and must not call
/// this library. Errors: as for pw_put.
pw_error *pw_borrow(pw_session *session, const pw_tensor *values,
                    void (*done)(void *context), void *context,
                    pw_array **array);
/// Makes a new array on devices, divided by a sharding. Errors: as for
/// pathways::Session::put with a sharding; PW_INVALID_ARGUMENT for a text that
/// is no sharding.
pw_error *pw_put_sharded(pw_session *session, const pw_tensor *values,
                         const char *sharding, pw_array **array);
/// Makes a new array of this shape on devices from its shards, in the order of
/// the devices. Errors: as for pathways::Session::putShards.
pw_error *pw_put_shards(pw_session *session, int32_t rank, const int64_t *shape,
                        const pw_tensor *shards, size_t count,
                        const char *sharding, pw_array **array);
/// Waits for several arrays, then writes them to one new folder, each in a
/// folder of its name. Errors: as for pathways::Session::save.
pw_error *pw_save(pw_session *session, const pw_array *const *arrays,
                  const char *const *names, size_t count, const char *folder);
/// Makes an array of one that pw_array_save has written, or pw_save in the
/// folder FOLDER/NAME. Errors: as for pathways::Session::loadArray.
pw_error *pw_restore(pw_session *session, const char *folder, pw_array **array);
/// Returns the names of the arrays that pw_save has written, a line each.
/// Errors: as for pathways::Session::savedNames.
pw_error *pw_saved_names(const char *folder, pw_text **names);

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

typedef struct {
  size_t struct_size;
  const char *name;      // name in messages; null: "slice"
  const int64_t *shape;  // sizes of its mesh; null: one device
  int32_t rank;          // number of sizes in `shape`
  int32_t islands;       // 0: 1
  const char *kind;      // of devices; null: "cpu"
  int64_t wait_ns;       // as in pw_load_options
  uint64_t device_bytes; // reserved of each device; 0: the whole device
  int32_t contiguous;    // not 0: devices are neighbours
} pw_slice_options;

/// Reserves devices, on other islands than the slices of `apart_from`, until
/// the slice is freed; programs loaded there stay. Waits as pw_load does.
/// Errors: as for pathways::Session::reserve.
pw_error *pw_reserve(pw_session *session, const pw_slice_options *options,
                     const pw_slice *const *apart_from, size_t count,
                     pw_slice **slice);
/// Returns the names of the devices in order, a line each.
pw_error *pw_slice_devices(const pw_slice *slice, pw_text **devices);
void pw_slice_free(pw_slice *slice);

//===----------------------------------------------------------------------===//
// Executables and runs
//===----------------------------------------------------------------------===//

typedef enum {
  PW_AS_COMPILED = 0,
  PW_ANYWHERE = 1,
  PW_PRESENT = 2
} pw_load_place;

typedef struct {
  size_t struct_size;
  int32_t place;   // pw_load_place, as pathways::LoadPlace
  int64_t wait_ns; // longest wait for memory that other sessions hold; 0: no
                   // limit; negative: no wait
  const pw_slice *slice; // devices to load on; null: as `place` says
  int32_t oversubscribe; // not 0, with PW_PRESENT: devices may be shared
  int32_t await_devices; // not 0: also wait for lost and drained devices
} pw_load_options;

/// Checks, places and loads a plan. Errors: PW_INVALID_ARGUMENT, PW_REFUSED,
/// as for pathways::Session::load.
pw_error *pw_load(pw_session *session, const pw_plan *plan,
                  const pw_load_options *options, pw_executable **executable);
/// Loads all of several plans or none. `executables` has room for `count`.
/// Errors: as for pw_load; PW_INVALID_ARGUMENT also with a slice.
pw_error *pw_load_several(pw_session *session, const pw_plan *const *plans,
                          size_t count, const pw_load_options *options,
                          pw_executable **executables);
/// Describes the program where it is loaded now, as JSON: what
/// pw_plan_describe returns, with devices in shardings, and "memory":
/// [{"device": NAME, "bytes": BYTES}, ...]. Never waits. Errors:
/// PW_INVALID_ARGUMENT.
pw_error *pw_executable_describe(const pw_executable *executable,
                                 pw_text **json);
/// Moves the program to other devices: none of the islands, hosts and
/// devices named in `avoid`. Errors: as for pathways::Executable::rebind.
pw_error *pw_rebind(pw_executable *executable, const char *const *avoid,
                    size_t count);
void pw_executable_free(pw_executable *executable);

typedef struct {
  size_t struct_size;
  int64_t deadline_ns;  // from the call; 0: none
  int64_t first_step;   // number of the first step
  int32_t has_priority; // not 0: `priority` replaces that of the session
  int32_t priority;
  // Called about every 50 ms while the call waits, on its thread; null: never.
  // 1 ends the call with PW_TIMED_OUT, and nothing is launched. A simulation
  // does not call it.
  int (*is_interrupted)(void *context);
  void *context;
} pw_launch_options;

/// Starts `steps` steps and returns at once, unless too many launches are open
/// or an argument must first move from a run that has not ended. The arguments
/// have the order of pw_plan_arguments. Errors: as for
/// pathways::Executable::launch.
pw_error *pw_launch(pw_executable *executable, const pw_array *const *arguments,
                    size_t count, int64_t steps,
                    const pw_launch_options *options, pw_run **run);
/// Waits for the end of the run, for at most `limit_ns` nanoseconds if that
/// is not negative. A simulation makes progress only in calls that wait, and
/// takes no account of the limit. Errors: PW_RUN_FAILED, with the first
/// cause; PW_TIMED_OUT.
pw_error *pw_run_wait(pw_run *run, int64_t limit_ns);
/// Returns 1 if pw_run_wait would return at once, otherwise 0. Never waits.
int pw_run_is_ready(const pw_run *run);
/// Cancels the run, which then ends with PW_RUN_FAILED unless it was almost
/// finished. Never waits.
pw_error *pw_run_cancel(pw_run *run);
/// Returns the result at that position of pw_plan_results, which stays on
/// the devices. Does not wait: a failure of the run is reported to the
/// reader of the array. Errors: PW_INVALID_ARGUMENT, PW_RUN_FAILED.
pw_error *pw_run_take(pw_run *run, size_t result, pw_array **array);
/// Adds one event with this tag to the queue when the run ends, also if all
/// handles of it are freed before that. Never waits.
pw_error *pw_run_notify(pw_run *run, pw_events *events, uint64_t tag);
void pw_run_free(pw_run *run);

/// Reactions to the loss of a host, as in pathways::RecoveryOptions.
typedef enum { PW_FAIL = 0, PW_RETRY = 1, PW_REBIND = 2 } pw_recovery_mode;

typedef struct {
  size_t struct_size;
  int32_t mode;                 // pw_recovery_mode
  int32_t max_losses;           // between two checkpoints; 0: the default
  int64_t checkpoint_every;     // steps; 0: only the beginning
  const char *checkpoint_dir;   // null: memory
  int32_t checkpoints_on_hosts; // not 0: memory of other hosts
  int32_t resume;               // not 0: from the checkpoint in the folder
  int64_t wait_ns;              // for devices, as in pw_load_options
  int32_t oversubscribe;        // not 0: devices may be shared
} pw_recovery_options;

/// Costs of recovery, as in pathways::RecoveryReport.
typedef struct {
  size_t struct_size;
  int64_t resumed_at;
  int64_t losses;
  int64_t moves;
  int64_t repeated_steps;
  int64_t checkpoints;
  uint64_t checkpoint_bytes;
  int64_t checkpoint_ns;
  int64_t run_ns;
} pw_recovery_report;

/// Runs `steps` steps to their end, through losses of hosts. Waits. `results`
/// gets an array for each result, in order; it has room for `room` of them, at
/// least as many as there are. `report`, which may be null, is set as far as
/// its struct_size says. Errors: as for pathways::Executable::runToEnd.
pw_error *pw_run_to_end(pw_executable *executable,
                        const pw_array *const *arguments, size_t count,
                        int64_t steps, const pw_recovery_options *recovery,
                        const pw_launch_options *options, pw_array **results,
                        size_t room, pw_recovery_report *report);

//===----------------------------------------------------------------------===//
// The ends of runs
//===----------------------------------------------------------------------===//

/// The end of a run.
typedef struct {
  uint64_t tag;
  pw_error *error; // result of pw_run_wait; the caller frees it
} pw_event;

/// Makes an empty queue. Errors: PW_REFUSED if the system has no descriptor
/// left.
pw_error *pw_events_create(pw_events **events);
/// Descriptor that is readable (poll, epoll, select) while the queue has
/// events. The queue owns it. -1 for null.
int pw_events_descriptor(const pw_events *events);
/// Waits for an event, for at most `limit_ns` nanoseconds if that is not
/// negative, and removes it. *found is 0 if there was none in time,
/// otherwise 1. Errors: PW_RUN_FAILED if no run of a simulation can ever
/// end.
pw_error *pw_events_next(pw_events *events, int64_t limit_ns, pw_event *event,
                         int *found);
void pw_events_free(pw_events *events);

#ifdef __cplusplus
}
#endif

#endif // PATHWAYS_CAPI_H
