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
// same time, except that nothing else may use a handle while it is freed. After
// fork, the child must not call this library.
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
  int32_t rounding; // pw_rounding
} pw_compile_options;

/// Compiles a program in the `pw` dialect, a module of StableHLO, or a plan
/// as text. `remarks`, which may be null, gets remarks and warnings, a line
/// each. Errors: PW_INVALID_PROGRAM; PW_INVALID_ARGUMENT as for
/// pathways::compile; PW_NOT_FOUND if libpathways_compile.so.1 is missing.
pw_error *pw_compile(const char *text, size_t size,
                     const pw_compile_options *options, pw_plan **plan,
                     pw_text **remarks);
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
} pw_open_options;

typedef struct {
  size_t struct_size;
  const char *name;       // unique in the cluster; null: this process's
  const char *key;        // file with the cluster's key; null: none
  int32_t trust_loopback; // not 0: needs no key on loopback
  int32_t priority;
  double weight; // 0: 1
  uint64_t quota_bytes;
} pw_connect_options;

/// Opens a cluster in this process, and its first session. Errors: as for
/// pathways::Session::open.
pw_error *pw_open(const pw_open_options *options, pw_session **session);
/// Opens a session of a running cluster: HOST:PORT, unix:/PATH or
/// unix:@NAME. Errors: as for pathways::Session::connect.
pw_error *pw_connect(const char *address, const pw_connect_options *options,
                     pw_session **session);
/// Returns the machines of the cluster, as pw_compile_options::topology
/// takes them.
pw_error *pw_session_topology(const pw_session *session, pw_text **topology);
/// Writes the events so far as JSON for Perfetto. Errors:
/// PW_INVALID_ARGUMENT without pw_open_options::trace_events; PW_UNWRITABLE.
pw_error *pw_session_write_trace(pw_session *session, const char *path);
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
/// Makes an array of one that pw_array_save has written. Errors: as for
/// pathways::Session::loadArray.
pw_error *pw_restore(pw_session *session, const char *folder, pw_array **array);

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
} pw_load_options;

/// Checks, places and loads a plan. Errors: PW_INVALID_ARGUMENT, PW_REFUSED,
/// as for pathways::Session::load.
pw_error *pw_load(pw_session *session, const pw_plan *plan,
                  const pw_load_options *options, pw_executable **executable);
/// Moves the program to other devices: none of the islands, hosts and
/// devices named in `avoid`. Errors: as for pathways::Executable::rebind.
pw_error *pw_rebind(pw_executable *executable, const char *const *avoid,
                    size_t count);
void pw_executable_free(pw_executable *executable);

typedef struct {
  size_t struct_size;
  int64_t deadline_ns; // from the call; 0: none
  int64_t first_step;  // number of the first step
} pw_launch_options;

/// Starts `steps` steps and returns at once. The arguments have the order of
/// pw_plan_arguments. Errors: as for pathways::Executable::launch.
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
