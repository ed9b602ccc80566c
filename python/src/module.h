//===- module.h - Declarations of the extension module ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pathways._pathways wraps the C API (CApi.h) for Python, in the limited API of
// Python 3.11. The classes here are bases of those in python/pathways, which
// decide names and defaults.
//
// Threads. All state of the module is guarded by the GIL, but for cells and
// borrowed memory, which threads of the runtime may touch: those take no GIL.
// A call that may wait releases the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef PYTHON_SRC_MODULE_H
#define PYTHON_SRC_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "pathways/CApi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <structmember.h>

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

/// A handle of the C API, shared by a Python object and the calls in flight
/// that use it. The last one frees it, on whatever thread.
typedef struct {
  atomic_long references;
  void *handle;
  void (*free)(void *);
} Cell;

/// Returns null, with an exception, if memory is short; the handle is then
/// freed.
Cell *cellCreate(void *handle, void (*free)(void *));
void cellRetain(Cell *cell);
void cellRelease(Cell *cell);

typedef struct SessionObject SessionObject;

/// The beginning of every object that has a handle.
typedef struct HandleObject {
  PyObject_HEAD Cell *cell; // null if the session was closed
  /// The session that made the object, and its neighbours in the list of the
  /// session. Null for sessions and plans.
  SessionObject *session;
  struct HandleObject *next, *previous;
  PyObject *weakReferences;
} HandleObject;

struct SessionObject {
  HandleObject base;
  HandleObject *handles; // first of the list
  bool isSimulation;
  bool isCostsOnly; // arrays have no values
};

/// An array, or a run together with the executable that it is of.
typedef struct {
  HandleObject base;
} ArrayObject;

typedef struct {
  HandleObject base;
  PyObject *executable; // ExecutableObject
} RunObject;

typedef struct {
  HandleObject base;
} PlanObject;

typedef struct {
  HandleObject base;
  PyObject *plan;
  Py_ssize_t numArguments, numResults;
  pw_port *arguments, *results; // of the plan
  PyObject *argumentIndex;      // dict: name to position
  PyObject *resultIndex;
  bool hasStepped; // an argument has one value for each step
} ExecutableObject;

/// Results of a run, taken from it when they are first read.
typedef struct {
  PyObject_HEAD RunObject *run;
  PyObject *taken; // list of arrays, or None
} ResultsObject;

/// Values in memory, for the buffer protocol.
typedef struct {
  PyObject_HEAD int32_t element, rank;
  void *data; // null: none
  Py_ssize_t bytes, *shape, *strides;
  bool isReadOnly;
  void *handle; // what owns the memory
  void (*free)(void *);
} ViewObject;

/// Classes of this module, and those of the package that it makes objects of.
extern PyTypeObject *sessionType, *planType, *executableType, *runType,
    *arrayType, *resultsType, *viewType, *sliceType;
extern PyTypeObject *runClass, *arrayClass, *resultsClass;

/// Makes an object of a class of the module or of a subclass. Takes the handle
/// over, also if it fails.
PyObject *handleCreate(PyTypeObject *type, void *handle, void (*free)(void *),
                       SessionObject *session);
/// Makes an Array, and takes the handle over.
PyObject *arrayCreate(pw_array *array, SessionObject *session);
/// Frees what every object with a handle has, and the object.
void handleDealloc(HandleObject *object);
/// Gives the handle back before the object is gone.
void handleClose(HandleObject *object);
/// Returns a reference to the cell for one call. Null, with an exception, if
/// the session was closed, or in a child after fork.
Cell *handleUse(HandleObject *object);
/// Calls waitInSlices for the handle with a limit that is an integer. Returns
/// None, or null with an exception.
PyObject *handleWait(HandleObject *object,
                     pw_error *(*wait)(void *handle, int64_t limitNs),
                     PyObject *limit);
extern PyMemberDef handleMembers[];

/// Handles that a call uses.
typedef struct {
  Py_ssize_t count;
  Cell *cells[];
} Held;

/// Returns a capsule that keeps the handles of the objects in a tuple, which
/// must be of this type, called `what` in errors.
PyObject *holdHandles(PyObject *objects, PyTypeObject *type, const char *what,
                      Held **held);

/// False, with an exception, in a child of a process that used the library.
bool checkProcess(void);
/// Notes that this process uses the library from now on.
bool useProcess(void);
/// True in a child of a process that used the library.
extern bool isChild;

//===----------------------------------------------------------------------===//
// Work that threads of the runtime leave for Python
//===----------------------------------------------------------------------===//

/// Work for a thread with the GIL. It is pushed by threads that must not take
/// the GIL, and done by the next call of this module.
typedef struct Leftover {
  struct Leftover *next;
  void (*finish)(struct Leftover *);
} Leftover;

/// Adds work, on any thread, and never waits.
void leaveWork(Leftover *work);
/// Does the work so far. Needs the GIL. Keeps the exception that is set.
void finishWork(void);

//===----------------------------------------------------------------------===//
// Errors and waits
//===----------------------------------------------------------------------===//

/// The hooks that the package gives to `_register`.
typedef struct {
  PyObject *makeError; // (code, id, message) -> exception
  // (value, element or None, what) -> (array, element, owner of its memory)
  PyObject *adapt;
  // (value, element or None, what) -> (element, shape)
  PyObject *describe;
  PyObject *lock;   // (owner) -> whether its memory cannot change now
  PyObject *unlock; // (owner), after the other one
} Hooks;
extern Hooks hooks;

/// Returns the exception for an error, and frees it. Null with another one.
PyObject *makeException(pw_error *error);
/// Raises the error, and frees it. Returns null.
PyObject *raiseError(pw_error *error);
/// Raises an error of this module. Returns null.
PyObject *raiseCode(pw_code code, const char *format, ...);
/// Returns the text as a string, and frees it.
PyObject *takeText(pw_text *text);

/// Longest time between two looks for signals, in nanoseconds.
#define SLICE_NS 50000000

/// Waits in slices, without the GIL and with a look for signals after each.
/// `wait` takes a limit in nanoseconds. Returns false with an exception.
bool waitInSlices(pw_error *(*wait)(void *handle, int64_t limitNs),
                  void *handle, int64_t limitNs);

//===----------------------------------------------------------------------===//
// Calls that signals interrupt
//===----------------------------------------------------------------------===//

/// A call that may take long: the beginning of a structure with its arguments
/// and results.
typedef struct Job {
  Leftover work;
  pw_error *(*call)(struct Job *);
  void (*discard)(struct Job *); // frees the results; null: there are none
  PyObject *inputs;              // keeps what the call reads
  Cell *cells[3];
  pw_error *error;
  pthread_mutex_t mutex; // guards the rest
  pthread_cond_t hasEnded;
  bool isDone, isAbandoned;
} Job;

/// Returns a structure of `size` bytes that begins with a Job, the rest zero.
/// Takes the cells over, which may be null. Null with an exception.
void *jobCreate(size_t size, pw_error *(*call)(Job *), void (*discard)(Job *),
                PyObject *inputs, Cell *first, Cell *second);
/// Runs the call without the GIL. After true, the caller reads the results and
/// frees the job. After false there is an exception, and no job any more.
bool jobRun(Job *job);
/// Frees the job, but not its results.
void jobFree(Job *job);
/// Number of calls that run although a signal interrupted them.
PyObject *abandonedCalls(PyObject *module, PyObject *unused);
/// Surround each call that runs the compiler. The process must not destroy the
/// static objects of the compiler before the last of these calls has ended.
void compilerBegin(void);
void compilerEnd(void);
/// Makes the end of the interpreter wait for calls that run the compiler.
bool addCompilerWait(void);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns "f32", ... for a pw_element, or null.
const char *elementName(int32_t element);
/// Returns the pw_element of that name, or 0.
int32_t elementFromName(const char *name);
size_t elementSize(int32_t element);
/// Returns the shape as a tuple.
PyObject *shapeTuple(const int64_t *shape, int32_t rank);
/// Whether memory of the caller is copied or read later.
typedef enum {
  COPY_IF_SMALL, // as kLargestCopy in values.c says
  COPY_ALWAYS,
  COPY_NEVER // an error if the value needs a conversion
} CopyPolicy;

/// Puts a value, which need not be an array, into the session. `element` is
/// the type that it must have, or 0. `what` names it in errors. Returns null
/// with an exception.
pw_array *putValue(SessionObject *session, PyObject *value, int32_t element,
                   CopyPolicy policy, const char *what);

/// Puts a value, divided by a sharding as JSON, on devices.
pw_array *putDivided(SessionObject *session, PyObject *value,
                     const char *sharding);
/// Makes a view that owns nothing yet. `strides` are in elements; null: dense.
ViewObject *viewCreate(int32_t element, int32_t rank, const int64_t *shape,
                       const int64_t *strides);
/// Makes a view of a capsule of DLPack, and takes its tensor over.
PyObject *viewFromDlpack(PyObject *module, PyObject *capsule);
/// Returns a capsule of DLPack with the values of an array that is ready.
PyObject *exportDlpack(Cell *array, const pw_tensor *type, bool isVersioned,
                       CopyPolicy policy);

/// Methods of classes (calls.c).
PyObject *sessionWriteTrace(PyObject *self, PyObject *path);
PyObject *sessionWriteProfile(PyObject *self, PyObject *arguments);
PyObject *sessionMachines(PyObject *self, PyObject *unused);
PyObject *sessionStatistics(PyObject *self, PyObject *unused);
PyObject *sessionSuspend(PyObject *self, PyObject *folder);
PyObject *sessionResume(PyObject *self, PyObject *unused);
PyObject *sessionDrain(PyObject *self, PyObject *arguments);
PyObject *sessionUndrain(PyObject *self, PyObject *names);
PyObject *sessionSave(PyObject *self, PyObject *arguments);
PyObject *sessionRestore(PyObject *self, PyObject *folder);
PyObject *savedNames(PyObject *module, PyObject *folder);
PyObject *planDescribe(PyObject *self, PyObject *unused);
PyObject *planReport(PyObject *self, PyObject *unused);
PyObject *planPrint(PyObject *self, PyObject *unused);
PyObject *planCosts(PyObject *self, PyObject *arguments);
PyObject *executableDescribe(PyObject *self, PyObject *unused);
PyObject *executableRunToEnd(PyObject *self, PyObject *arguments);
PyObject *arrayPlacement(PyObject *self, PyObject *unused);

/// Adds the classes of one source to the module.
int addSession(PyObject *module);
int addPlan(PyObject *module);
int addExecutable(PyObject *module);
int addRun(PyObject *module);
int addArray(PyObject *module);
int addView(PyObject *module);
int addEvents(PyObject *module);
/// Makes a class of the module.
PyTypeObject *addType(PyObject *module, PyType_Spec *spec);

#endif // PYTHON_SRC_MODULE_H
