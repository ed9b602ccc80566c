//===- calls.c - Calls that take names and return texts -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

/// A call on a handle with some of: a path, names, a number, a text as result.
typedef struct {
  Job job;
  const char *path; // or null
  int64_t number;
  pw_text *text;
  size_t count;
  const char *names[];
} Call;

static void *handleOf(Job *job) { return job->cells[0]->handle; }

static void discardText(Job *job) { pw_text_free(((Call *)job)->text); }

/// Runs a call. `path` is bytes or None, `names` a tuple of strings or null.
/// Returns the text of the call, or None if there is none.
static PyObject *run(PyObject *self, pw_error *(*function)(Job *),
                     PyObject *path, PyObject *names, int64_t number,
                     Cell *second) {
  char *bytes = NULL;
  const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  Cell *cell = NULL;
  if (count >= 0 && (!path || path == Py_None ||
                     PyBytes_AsStringAndSize(path, &bytes, NULL) == 0))
    cell = handleUse((HandleObject *)self);
  if (!cell) {
    cellRelease(second);
    return NULL;
  }
  PyObject *inputs =
      PyTuple_Pack(2, path ? path : Py_None, names ? names : Py_None);
  Call *call = jobCreate(sizeof *call + (size_t)count * sizeof *call->names,
                         function, discardText, inputs, cell, second);
  Py_XDECREF(inputs);
  if (!call)
    return NULL;
  call->path = bytes;
  call->number = number;
  call->count = (size_t)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    call->names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
    if (!call->names[i]) {
      jobFree(&call->job);
      return NULL;
    }
  }
  if (!jobRun(&call->job))
    return NULL;
  PyObject *result = call->text ? takeText(call->text) : Py_None;
  if (!call->text)
    Py_INCREF(result);
  jobFree(&call->job);
  return result;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

static pw_error *runWriteTrace(Job *job) {
  return pw_session_write_trace(handleOf(job), ((Call *)job)->path);
}

PyObject *sessionWriteTrace(PyObject *self, PyObject *path) {
  return run(self, runWriteTrace, path, NULL, 0, NULL);
}

static pw_error *runWriteProfile(Job *job) {
  return pw_session_write_profile(handleOf(job), job->cells[1]->handle,
                                  ((Call *)job)->path);
}

/// (plan, path)
PyObject *sessionWriteProfile(PyObject *self, PyObject *arguments) {
  PyObject *plan, *path;
  if (!PyArg_ParseTuple(arguments, "O!O", planType, &plan, &path))
    return NULL;
  Cell *cell = handleUse((HandleObject *)plan);
  return cell ? run(self, runWriteProfile, path, NULL, 0, cell) : NULL;
}

static pw_error *runMachines(Job *job) {
  return pw_session_machines(handleOf(job), &((Call *)job)->text);
}

PyObject *sessionMachines(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runMachines, NULL, NULL, 0, NULL);
}

static pw_error *runStatistics(Job *job) {
  return pw_session_statistics(handleOf(job), &((Call *)job)->text);
}

PyObject *sessionStatistics(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runStatistics, NULL, NULL, 0, NULL);
}

static pw_error *runSuspend(Job *job) {
  return pw_session_suspend(handleOf(job), ((Call *)job)->path);
}

PyObject *sessionSuspend(PyObject *self, PyObject *folder) {
  return run(self, runSuspend, folder, NULL, 0, NULL);
}

static pw_error *runResume(Job *job) {
  return pw_session_resume(handleOf(job));
}

PyObject *sessionResume(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runResume, NULL, NULL, 0, NULL);
}

static pw_error *runDrain(Job *job) {
  Call *call = (Call *)job;
  return pw_session_drain(handleOf(job), call->names, call->count,
                          call->number);
}

/// (names, limit in ns)
PyObject *sessionDrain(PyObject *self, PyObject *arguments) {
  PyObject *names;
  long long limitNs;
  if (!PyArg_ParseTuple(arguments, "O!L", &PyTuple_Type, &names, &limitNs))
    return NULL;
  return run(self, runDrain, NULL, names, limitNs, NULL);
}

static pw_error *runUndrain(Job *job) {
  Call *call = (Call *)job;
  return pw_session_undrain(handleOf(job), call->names, call->count);
}

PyObject *sessionUndrain(PyObject *self, PyObject *names) {
  return run(self, runUndrain, NULL, names, 0, NULL);
}

//===----------------------------------------------------------------------===//
// Plans, executables and arrays
//===----------------------------------------------------------------------===//

static pw_error *runDescribePlan(Job *job) {
  return pw_plan_describe(handleOf(job), &((Call *)job)->text);
}

PyObject *planDescribe(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runDescribePlan, NULL, NULL, 0, NULL);
}

static pw_error *runReport(Job *job) {
  return pw_plan_report(handleOf(job), &((Call *)job)->text);
}

PyObject *planReport(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runReport, NULL, NULL, 0, NULL);
}

static pw_error *runPrint(Job *job) {
  compilerBegin();
  pw_error *error = pw_plan_print(handleOf(job), &((Call *)job)->text);
  compilerEnd();
  return error;
}

PyObject *planPrint(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runPrint, NULL, NULL, 0, NULL);
}

static pw_error *runCosts(Job *job) {
  Call *call = (Call *)job;
  pw_costs costs = {.struct_size = sizeof costs};
  return pw_plan_costs(handleOf(job), call->path, call->number, &costs,
                       &call->text);
}

/// (topology in bytes or None, steps)
PyObject *planCosts(PyObject *self, PyObject *arguments) {
  PyObject *topology;
  long long steps;
  if (!PyArg_ParseTuple(arguments, "OL", &topology, &steps))
    return NULL;
  return run(self, runCosts, topology, NULL, steps, NULL);
}

static pw_error *runDescribeExecutable(Job *job) {
  return pw_executable_describe(handleOf(job), &((Call *)job)->text);
}

PyObject *executableDescribe(PyObject *self, PyObject *unused) {
  (void)unused;
  return run(self, runDescribeExecutable, NULL, NULL, 0, NULL);
}

PyObject *arrayPlacement(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_text *json;
  pw_error *error = pw_array_placement(cell->handle, &json);
  cellRelease(cell);
  return error ? raiseError(error) : takeText(json);
}

//===----------------------------------------------------------------------===//
// Several arrays
//===----------------------------------------------------------------------===//

typedef struct {
  Job job;
  const char *folder;
  size_t count;
  const pw_array **arrays;
  const char **names;
} SaveAllJob;

static pw_error *runSaveAll(Job *job) {
  SaveAllJob *save = (SaveAllJob *)job;
  return pw_save(handleOf(job), save->arrays, save->names, save->count,
                 save->folder);
}

/// (arrays, names, folder in bytes)
PyObject *sessionSave(PyObject *self, PyObject *arguments) {
  PyObject *arrays, *names;
  const char *folder;
  if (!PyArg_ParseTuple(arguments, "O!O!y", &PyTuple_Type, &arrays,
                        &PyTuple_Type, &names, &folder))
    return NULL;
  Held *held;
  PyObject *capsule = holdHandles(arrays, arrayType, "Array", &held);
  if (!capsule)
    return NULL;
  const size_t count = (size_t)held->count;
  PyObject *memory =
      PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * count * sizeof(void *)));
  PyObject *inputs =
      memory ? PyTuple_Pack(3, arguments, capsule, memory) : NULL;
  Py_DECREF(capsule);
  Py_XDECREF(memory);
  Cell *cell = inputs ? handleUse((HandleObject *)self) : NULL;
  SaveAllJob *job =
      cell ? jobCreate(sizeof *job, runSaveAll, NULL, inputs, cell, NULL)
           : NULL;
  Py_XDECREF(inputs);
  if (!job)
    return NULL;
  job->folder = folder;
  job->count = count;
  job->arrays = (const pw_array **)PyBytes_AsString(memory);
  job->names = (const char **)(job->arrays + count);
  for (size_t i = 0; i < count; ++i) {
    job->arrays[i] = held->cells[i]->handle;
    job->names[i] =
        PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, (Py_ssize_t)i), NULL);
    if (!job->names[i]) {
      jobFree(&job->job);
      return NULL;
    }
  }
  if (!jobRun(&job->job))
    return NULL;
  jobFree(&job->job);
  Py_RETURN_NONE;
}

typedef struct {
  Job job;
  const char *folder;
  pw_array *array;
} RestoreJob;

static pw_error *runRestore(Job *job) {
  RestoreJob *restore = (RestoreJob *)job;
  return pw_restore(handleOf(job), restore->folder, &restore->array);
}

static void discardRestored(Job *job) {
  pw_array_free(((RestoreJob *)job)->array);
}

PyObject *sessionRestore(PyObject *self, PyObject *folder) {
  char *path;
  if (PyBytes_AsStringAndSize(folder, &path, NULL) < 0)
    return NULL;
  Cell *cell = handleUse((HandleObject *)self);
  RestoreJob *job = cell ? jobCreate(sizeof *job, runRestore, discardRestored,
                                     folder, cell, NULL)
                         : NULL;
  if (!job)
    return NULL;
  job->folder = path;
  if (!jobRun(&job->job))
    return NULL;
  PyObject *array = arrayCreate(job->array, (SessionObject *)self);
  jobFree(&job->job);
  return array;
}

PyObject *savedNames(PyObject *module, PyObject *folder) {
  (void)module;
  char *path;
  if (PyBytes_AsStringAndSize(folder, &path, NULL) < 0)
    return NULL;
  pw_text *names;
  pw_error *error = pw_saved_names(path, &names);
  return error ? raiseError(error) : takeText(names);
}

//===----------------------------------------------------------------------===//
// Running to the end
//===----------------------------------------------------------------------===//

typedef struct {
  Job job;
  Held *held;
  const pw_array **arrays;
  pw_array **results;
  size_t numResults;
  int64_t steps;
  pw_recovery_options recovery;
  pw_launch_options launch;
  pw_recovery_report report;
} ToEndJob;

static pw_error *runToEnd(Job *job) {
  ToEndJob *call = (ToEndJob *)job;
  return pw_run_to_end(handleOf(job), call->arrays, (size_t)call->held->count,
                       call->steps, &call->recovery, &call->launch,
                       call->results, call->numResults, &call->report);
}

static void discardEnd(Job *job) {
  ToEndJob *call = (ToEndJob *)job;
  for (size_t i = 0; i < call->numResults; ++i)
    pw_array_free(call->results[i]);
}

/// Makes a list of the results, and a tuple of the report.
static PyObject *takeEnd(ToEndJob *job, SessionObject *session) {
  PyObject *list = PyList_New((Py_ssize_t)job->numResults);
  for (size_t i = 0; i < job->numResults; ++i) {
    PyObject *array = list ? arrayCreate(job->results[i], session) : NULL;
    if (!list)
      pw_array_free(job->results[i]);
    else if (!array || PyList_SetItem(list, (Py_ssize_t)i, array) < 0)
      Py_CLEAR(list);
  }
  const pw_recovery_report *r = &job->report;
  return list ? Py_BuildValue("N(LLLLLKLL)", list, (long long)r->resumed_at,
                              (long long)r->losses, (long long)r->moves,
                              (long long)r->repeated_steps,
                              (long long)r->checkpoints,
                              (unsigned long long)r->checkpoint_bytes,
                              (long long)r->checkpoint_ns, (long long)r->run_ns)
              : NULL;
}

/// (arrays, steps, first step, mode, most losses, steps between checkpoints,
/// folder in bytes or None, on hosts, resume, wait in ns, oversubscribe)
PyObject *executableRunToEnd(PyObject *self, PyObject *arguments) {
  PyObject *arrays;
  long long steps, firstStep;
  int onHosts, resume, oversubscribe;
  pw_recovery_options recovery = {.struct_size = sizeof recovery};
  if (!PyArg_ParseTuple(arguments, "O!LLiiLzppLp", &PyTuple_Type, &arrays,
                        &steps, &firstStep, &recovery.mode,
                        &recovery.max_losses, &recovery.checkpoint_every,
                        &recovery.checkpoint_dir, &onHosts, &resume,
                        &recovery.wait_ns, &oversubscribe))
    return NULL;
  recovery.checkpoints_on_hosts = onHosts;
  recovery.resume = resume;
  recovery.oversubscribe = oversubscribe;
  ExecutableObject *executable = (ExecutableObject *)self;
  Held *held;
  PyObject *capsule = holdHandles(arrays, arrayType, "Array", &held);
  if (!capsule)
    return NULL;
  const size_t count = (size_t)held->count;
  const size_t numResults = (size_t)executable->numResults;
  PyObject *memory = PyBytes_FromStringAndSize(
      NULL, (Py_ssize_t)((count + numResults) * sizeof(void *)));
  PyObject *inputs =
      memory ? PyTuple_Pack(3, arguments, capsule, memory) : NULL;
  Py_DECREF(capsule);
  Py_XDECREF(memory);
  Cell *cell = inputs ? handleUse(&executable->base) : NULL;
  ToEndJob *job =
      cell ? jobCreate(sizeof *job, runToEnd, discardEnd, inputs, cell, NULL)
           : NULL;
  Py_XDECREF(inputs);
  if (!job)
    return NULL;
  job->held = held;
  job->arrays = (const pw_array **)PyBytes_AsString(memory);
  job->results = (pw_array **)(job->arrays + count);
  job->numResults = numResults;
  for (size_t i = 0; i < count; ++i)
    job->arrays[i] = held->cells[i]->handle;
  job->steps = steps;
  job->recovery = recovery;
  job->launch.struct_size = sizeof job->launch;
  job->launch.first_step = firstStep;
  job->report.struct_size = sizeof job->report;
  if (!jobRun(&job->job))
    return NULL;
  PyObject *result = takeEnd(job, executable->base.session);
  jobFree(&job->job);
  return result;
}
