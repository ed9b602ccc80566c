//===- executable.c - Loaded programs, and launches -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <string.h>

PyTypeObject *executableType;

/// More arguments than this need memory for a launch.
enum { kFewArguments = 32 };

static void freeExecutable(void *executable) { pw_executable_free(executable); }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Makes a dict from the names of ports to their positions.
static PyObject *indexPorts(const pw_port *ports, Py_ssize_t count) {
  PyObject *index = PyDict_New();
  for (Py_ssize_t i = 0; index && i < count; ++i) {
    PyObject *name = PyUnicode_InternFromString(ports[i].name);
    PyObject *position = PyLong_FromSsize_t(i);
    if (!name || !position || PyDict_SetItem(index, name, position) < 0)
      Py_CLEAR(index);
    Py_XDECREF(name);
    Py_XDECREF(position);
  }
  return index;
}

/// Copies the ports, which live as long as the plan.
static pw_port *copyPorts(const pw_plan *plan,
                          size_t (*list)(const pw_plan *, pw_port *, size_t),
                          Py_ssize_t *count) {
  *count = (Py_ssize_t)list(plan, NULL, 0);
  pw_port *ports = PyMem_Calloc((size_t)*count + 1, sizeof *ports);
  if (!ports) {
    PyErr_NoMemory();
    return NULL;
  }
  list(plan, ports, (size_t)*count);
  return ports;
}

static bool readPorts(ExecutableObject *self, const pw_plan *plan) {
  self->arguments = copyPorts(plan, pw_plan_arguments, &self->numArguments);
  if (!self->arguments)
    return false;
  self->results = copyPorts(plan, pw_plan_results, &self->numResults);
  if (!self->results)
    return false;
  self->argumentIndex = indexPorts(self->arguments, self->numArguments);
  if (!self->argumentIndex)
    return false;
  self->resultIndex = indexPorts(self->results, self->numResults);
  if (!self->resultIndex)
    return false;
  for (Py_ssize_t i = 0; i < self->numArguments; ++i)
    self->hasStepped |= self->arguments[i].is_stepped != 0;
  return true;
}

typedef struct {
  Job job;
  pw_load_options options;
  pw_executable *executable;
} LoadJob;

static pw_error *runLoad(Job *job) {
  LoadJob *load = (LoadJob *)job;
  return pw_load(job->cells[0]->handle, job->cells[1]->handle, &load->options,
                 &load->executable);
}

static void discardLoad(Job *job) {
  pw_executable_free(((LoadJob *)job)->executable);
}

/// Loads a plan: (session, plan, place, wait in ns, slice or None,
/// oversubscribe, whether to wait for devices).
static PyObject *load(PyObject *type, PyObject *arguments) {
  SessionObject *session;
  PyObject *plan;
  PyObject *slice;
  int place, oversubscribe, awaitDevices;
  long long waitNs;
  if (!PyArg_ParseTuple(arguments, "O!O!iLOpp", sessionType, &session, planType,
                        &plan, &place, &waitNs, &slice, &oversubscribe,
                        &awaitDevices))
    return NULL;
  if (slice != Py_None && !PyObject_TypeCheck(slice, sliceType))
    return raiseCode(PW_INVALID_ARGUMENT, "%R is no reserved slice", slice);
  Cell *sessionCell = handleUse(&session->base);
  if (!sessionCell)
    return NULL;
  Cell *planCell = handleUse((HandleObject *)plan);
  if (!planCell) {
    cellRelease(sessionCell);
    return NULL;
  }
  LoadJob *job = jobCreate(sizeof *job, runLoad, discardLoad, arguments,
                           sessionCell, planCell);
  if (!job)
    return NULL;
  job->options.struct_size = sizeof job->options;
  job->options.place = place;
  job->options.wait_ns = waitNs;
  job->options.oversubscribe = oversubscribe;
  job->options.await_devices = awaitDevices;
  if (slice != Py_None) {
    job->job.cells[2] = handleUse((HandleObject *)slice);
    if (!job->job.cells[2]) {
      jobFree(&job->job);
      return NULL;
    }
    job->options.slice = job->job.cells[2]->handle;
  }
  if (!jobRun(&job->job))
    return NULL;
  PyObject *object = handleCreate((PyTypeObject *)type, job->executable,
                                  freeExecutable, session);
  if (object) {
    Py_INCREF(plan);
    ((ExecutableObject *)object)->plan = plan;
    if (!readPorts((ExecutableObject *)object, planCell->handle))
      Py_CLEAR(object);
  }
  jobFree(&job->job);
  return object;
}

static void dealloc(PyObject *self) {
  ExecutableObject *executable = (ExecutableObject *)self;
  PyMem_Free(executable->arguments);
  PyMem_Free(executable->results);
  Py_CLEAR(executable->argumentIndex);
  Py_CLEAR(executable->resultIndex);
  Py_CLEAR(executable->plan);
  handleDealloc(&executable->base);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// The arguments of a launch in the making.
typedef struct {
  ExecutableObject *executable;
  Py_ssize_t count;
  PyObject **values;       // borrowed
  const pw_array **arrays; // one for each value
  Cell **cells;            // of arrays that Python has; else null
  int64_t steps;           // 0: not known yet
} Launch;

/// Makes an exception that names the arguments which are missing.
static void raiseMissing(const Launch *launch) {
  PyObject *missing = PyList_New(0);
  for (Py_ssize_t i = 0; missing && i < launch->count; ++i) {
    if (launch->values[i])
      continue;
    PyObject *name =
        PyUnicode_FromFormat("'%s'", launch->executable->arguments[i].name);
    if (!name || PyList_Append(missing, name) < 0)
      Py_CLEAR(missing);
    Py_XDECREF(name);
  }
  PyObject *comma = PyUnicode_FromString(", ");
  PyObject *names = missing && comma ? PyUnicode_Join(comma, missing) : NULL;
  if (names)
    raiseCode(PW_INVALID_ARGUMENT,
              PyList_Size(missing) == 1 ? "argument %U is missing"
                                        : "arguments %U are missing",
              names);
  Py_XDECREF(names);
  Py_XDECREF(comma);
  Py_XDECREF(missing);
}

/// Finds the value of each argument.
static bool findValues(Launch *launch, PyObject *positional,
                       PyObject *keywords) {
  ExecutableObject *executable = launch->executable;
  const Py_ssize_t numPositional = PyTuple_Size(positional);
  if (numPositional > launch->count) {
    raiseCode(PW_INVALID_ARGUMENT,
              "%zd arguments are given, but the program has %zd", numPositional,
              launch->count);
    return false;
  }
  Py_ssize_t found = numPositional;
  for (Py_ssize_t i = 0; i < numPositional; ++i)
    launch->values[i] = PyTuple_GetItem(positional, i);
  PyObject *name, *value;
  Py_ssize_t next = 0;
  while (keywords && PyDict_Next(keywords, &next, &name, &value)) {
    PyObject *position =
        PyDict_GetItemWithError(executable->argumentIndex, name);
    if (!position) {
      if (!PyErr_Occurred()) {
        PyObject *known = PyDict_Keys(executable->argumentIndex);
        if (known)
          raiseCode(PW_INVALID_ARGUMENT,
                    "the program has no argument %R; its arguments are %S",
                    name, known);
        Py_XDECREF(known);
      }
      return false;
    }
    const Py_ssize_t i = PyLong_AsSsize_t(position);
    if (launch->values[i]) {
      raiseCode(PW_INVALID_ARGUMENT, "argument %R is given twice", name);
      return false;
    }
    launch->values[i] = value;
    ++found;
  }
  if (found == launch->count)
    return true;
  raiseMissing(launch);
  return false;
}

/// Reads the number of steps from an argument with one value for each step.
static bool readSteps(Launch *launch, Py_ssize_t i) {
  const pw_port *port = &launch->executable->arguments[i];
  const int64_t *shape;
  int32_t rank;
  pw_error *error = pw_array_type(launch->arrays[i], NULL, &rank, &shape);
  if (error) {
    raiseError(error);
    return false;
  }
  if (rank == port->rank + 1 && shape[0] > 0)
    launch->steps = shape[0];
  return true;
}

/// Makes an array of each value that is not one yet.
static bool makeArrays(Launch *launch) {
  ExecutableObject *executable = launch->executable;
  for (Py_ssize_t i = 0; i < launch->count; ++i) {
    PyObject *value = launch->values[i];
    if (PyObject_TypeCheck(value, arrayType)) {
      launch->cells[i] = handleUse((HandleObject *)value);
      if (!launch->cells[i])
        return false;
      launch->arrays[i] = launch->cells[i]->handle;
    } else {
      const pw_port *port = &executable->arguments[i];
      PyObject *what = PyUnicode_FromFormat("argument '%s'", port->name);
      if (!what)
        return false;
      launch->arrays[i] =
          putValue(executable->base.session, value, port->element,
                   COPY_IF_SMALL, PyUnicode_AsUTF8AndSize(what, NULL));
      Py_DECREF(what);
      if (!launch->arrays[i])
        return false;
    }
    if (launch->steps == 0 && executable->arguments[i].is_stepped &&
        !readSteps(launch, i))
      return false;
  }
  if (launch->steps == 0)
    launch->steps = 1;
  return true;
}

/// Looks for signals in a launch that waits. A handler may raise.
static int isInterrupted(void *unused) {
  (void)unused;
  const PyGILState_STATE state = PyGILState_Ensure();
  const int isRaised = PyErr_CheckSignals() < 0;
  PyGILState_Release(state);
  return isRaised;
}

/// Launches with these arguments. Null with an exception.
static PyObject *launchWith(ExecutableObject *executable, PyObject *positional,
                            PyObject *keywords, int64_t steps,
                            pw_launch_options *options) {
  options->struct_size = sizeof *options;
  options->is_interrupted = isInterrupted;
  Cell *cell = handleUse(&executable->base);
  if (!cell)
    return NULL;
  const Py_ssize_t count = executable->numArguments;
  void *few[3 * kFewArguments];
  void **memory = few;
  if (count > kFewArguments)
    memory = PyMem_Malloc((size_t)count * 3 * sizeof *memory);
  if (!memory) {
    cellRelease(cell);
    return PyErr_NoMemory();
  }
  memset(memory, 0, (size_t)count * 3 * sizeof *memory);
  Launch launch = {executable,
                   count,
                   (PyObject **)memory,
                   (const pw_array **)(memory + count),
                   (Cell **)(memory + 2 * count),
                   steps};
  PyObject *object = NULL;
  if (findValues(&launch, positional, keywords) && makeArrays(&launch)) {
    pw_run *run;
    pw_error *error;
    Py_BEGIN_ALLOW_THREADS
    error = pw_launch(cell->handle, launch.arrays, (size_t)count, launch.steps,
                      options, &run);
    Py_END_ALLOW_THREADS
    if (error && PyErr_Occurred())
      pw_error_free(error); // a signal handler has raised
    else if (error)
      raiseError(error);
    else
      object = handleCreate(runClass, run, (void (*)(void *))pw_run_free,
                            executable->base.session);
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (launch.cells[i])
      cellRelease(launch.cells[i]);
    else
      pw_array_free((pw_array *)launch.arrays[i]);
  }
  cellRelease(cell);
  if (memory != few)
    PyMem_Free(memory);
  if (object) {
    Py_INCREF((PyObject *)executable);
    ((RunObject *)object)->executable = (PyObject *)executable;
  }
  return object;
}

static PyObject *call(PyObject *self, PyObject *positional,
                      PyObject *keywords) {
  pw_launch_options options = {0};
  PyObject *run =
      launchWith((ExecutableObject *)self, positional, keywords, 0, &options);
  if (!run)
    return NULL;
  PyObject *results = PyType_GenericAlloc(resultsClass, 0);
  if (!results) {
    Py_DECREF(run);
    return NULL;
  }
  ((ResultsObject *)results)->run = (RunObject *)run;
  return results;
}

/// Launches: (positional, keywords, steps or 0, deadline in ns, first step,
/// priority or None).
static PyObject *launch(PyObject *self, PyObject *arguments) {
  pw_launch_options options = {0};
  PyObject *positional, *keywords, *priority;
  long long steps;
  if (!PyArg_ParseTuple(arguments, "O!O!LLLO", &PyTuple_Type, &positional,
                        &PyDict_Type, &keywords, &steps, &options.deadline_ns,
                        &options.first_step, &priority))
    return NULL;
  if (priority != Py_None) {
    const long value = PyLong_AsLong(priority);
    if (value == -1 && PyErr_Occurred())
      return NULL;
    options.has_priority = 1;
    // A value that does not fit is out of range as well.
    options.priority = value < INT32_MIN   ? INT32_MIN
                       : value > INT32_MAX ? INT32_MAX
                                           : (int32_t)value;
  }
  return launchWith((ExecutableObject *)self, positional, keywords, steps,
                    &options);
}

typedef struct {
  Job job;
  Py_ssize_t count;
  const char *avoid[];
} RebindJob;

static pw_error *runRebind(Job *job) {
  RebindJob *rebind = (RebindJob *)job;
  return pw_rebind(job->cells[0]->handle, rebind->avoid, (size_t)rebind->count);
}

/// Moves the program away from the devices of these names.
static PyObject *rebind(PyObject *self, PyObject *names) {
  if (!PyTuple_Check(names))
    return PyErr_Format(PyExc_TypeError, "expected a tuple, got %R", names);
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const Py_ssize_t count = PyTuple_Size(names);
  RebindJob *job = jobCreate(sizeof *job + (size_t)count * sizeof *job->avoid,
                             runRebind, NULL, names, cell, NULL);
  if (!job)
    return NULL;
  job->count = count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    job->avoid[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
    if (!job->avoid[i]) {
      jobFree(&job->job);
      return NULL;
    }
  }
  if (!jobRun(&job->job))
    return NULL;
  jobFree(&job->job);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_load", load, METH_VARARGS | METH_CLASS, NULL},
    {"_launch", launch, METH_VARARGS, NULL},
    {"_describe", executableDescribe, METH_NOARGS, NULL},
    {"_run_to_end", executableRunToEnd, METH_VARARGS, NULL},
    {"_rebind", rebind, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(HandleObject, weakReferences),
     READONLY, NULL},
    {"plan", T_OBJECT_EX, offsetof(ExecutableObject, plan), READONLY, NULL},
    {"session", T_OBJECT_EX, offsetof(HandleObject, session), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_call, (void *)call},
                              {0, NULL}};

static PyType_Spec spec = {"pathways._pathways.Executable",
                           sizeof(ExecutableObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           slots};

int addExecutable(PyObject *module) {
  executableType = addType(module, &spec);
  return executableType ? 0 : -1;
}
