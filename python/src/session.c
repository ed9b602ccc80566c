//===- session.c - Sessions -----------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

PyTypeObject *sessionType;

static void freeSession(void *session) { pw_session_free(session); }

/// Opening a session, in one of three ways.
typedef struct {
  Job job;
  pw_open_options open;
  pw_connect_options connect;
  pw_client_options client;
  const char *address; // of a cluster elsewhere, or null
  const char *name;    // of another session of the same cluster
  pw_session *session;
} OpenJob;

static pw_error *runOpen(Job *job) {
  OpenJob *open = (OpenJob *)job;
  if (open->address)
    return pw_connect(open->address, &open->connect, &open->session);
  if (job->cells[0])
    return pw_session_another(job->cells[0]->handle, open->name, &open->client,
                              &open->session);
  return pw_open(&open->open, &open->session);
}

static void discardOpen(Job *job) {
  pw_session_free(((OpenJob *)job)->session);
}

/// Runs the job, and makes an object of its session.
static PyObject *openSession(PyTypeObject *type, OpenJob *job) {
  if (!jobRun(&job->job))
    return NULL;
  PyObject *object = handleCreate(type, job->session, freeSession, NULL);
  jobFree(&job->job);
  return object;
}

static PyObject *open(PyObject *type, PyObject *arguments) {
  OpenJob *job =
      jobCreate(sizeof *job, runOpen, discardOpen, arguments, NULL, NULL);
  if (!job)
    return NULL;
  pw_open_options *options = &job->open;
  options->struct_size = sizeof *options;
  int isSimulation, isCostsOnly, isElastic, hasLinkCosts;
  if (!PyArg_ParseTuple(arguments, "zzpiiiKdKLLpippLzzzzK", &options->name,
                        &options->topology, &isSimulation, &options->workers,
                        &options->processes, &options->priority, &options->seed,
                        &options->weight, &options->quota_bytes,
                        &options->trace_events, &options->stall_timeout_ns,
                        &isCostsOnly, &options->run_ahead, &isElastic,
                        &hasLinkCosts, &options->kernel_timeout_ns,
                        &options->policy, &options->faults, &options->chaos,
                        &options->spill_folder, &options->spill_bytes) ||
      !useProcess()) {
    jobFree(&job->job);
    return NULL;
  }
  options->world = isSimulation ? PW_SIMULATION : PW_THREADS;
  options->costs_only = isCostsOnly;
  options->elastic = isElastic;
  options->link_costs = hasLinkCosts;
  SessionObject *object =
      (SessionObject *)openSession((PyTypeObject *)type, job);
  if (object) {
    object->isSimulation = isSimulation;
    object->isCostsOnly = isCostsOnly;
  }
  return (PyObject *)object;
}

static PyObject *connectTo(PyObject *type, PyObject *arguments) {
  OpenJob *job =
      jobCreate(sizeof *job, runOpen, discardOpen, arguments, NULL, NULL);
  if (!job)
    return NULL;
  pw_connect_options *options = &job->connect;
  options->struct_size = sizeof *options;
  int trustLoopback, isElastic;
  if (!PyArg_ParseTuple(arguments, "szypidKipz", &job->address, &options->name,
                        &options->key, &trustLoopback, &options->priority,
                        &options->weight, &options->quota_bytes,
                        &options->run_ahead, &isElastic, &options->chaos) ||
      !useProcess()) {
    jobFree(&job->job);
    return NULL;
  }
  options->trust_loopback = trustLoopback;
  options->elastic = isElastic;
  return openSession((PyTypeObject *)type, job);
}

/// Opens another session of the same cluster: (name, weight, priority, most
/// open launches, bytes, whether it is elastic).
static PyObject *another(PyObject *self, PyObject *arguments) {
  Cell *cell = handleUse((HandleObject *)self);
  OpenJob *job =
      cell ? jobCreate(sizeof *job, runOpen, discardOpen, arguments, cell, NULL)
           : NULL;
  if (!job)
    return NULL;
  pw_client_options *options = &job->client;
  options->struct_size = sizeof *options;
  int isElastic;
  if (!PyArg_ParseTuple(arguments, "sdiiKp", &job->name, &options->weight,
                        &options->priority, &options->run_ahead,
                        &options->quota_bytes, &isElastic)) {
    jobFree(&job->job);
    return NULL;
  }
  options->elastic = isElastic;
  SessionObject *object = (SessionObject *)openSession(Py_TYPE(self), job);
  if (object) {
    object->isSimulation = ((SessionObject *)self)->isSimulation;
    object->isCostsOnly = ((SessionObject *)self)->isCostsOnly;
  }
  return (PyObject *)object;
}

static PyObject *topology(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_text *text;
  pw_error *error = pw_session_topology(cell->handle, &text);
  cellRelease(cell);
  return error ? raiseError(error) : takeText(text);
}

/// Makes an array: (value, CopyPolicy, element or None, what it is called).
static PyObject *put(PyObject *self, PyObject *arguments) {
  PyObject *value;
  int policy;
  const char *element, *what;
  if (!PyArg_ParseTuple(arguments, "Oizs", &value, &policy, &element, &what))
    return NULL;
  pw_array *array = putValue((SessionObject *)self, value,
                             element ? elementFromName(element) : 0,
                             (CopyPolicy)policy, what);
  return array ? arrayCreate(array, (SessionObject *)self) : NULL;
}

/// Makes an array divided by a sharding: (value, sharding).
static PyObject *putSharded(PyObject *self, PyObject *arguments) {
  PyObject *value;
  const char *sharding;
  if (!PyArg_ParseTuple(arguments, "Os", &value, &sharding))
    return NULL;
  pw_array *array = putDivided((SessionObject *)self, value, sharding);
  return array ? arrayCreate(array, (SessionObject *)self) : NULL;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

PyTypeObject *sliceType;

typedef struct {
  Job job;
  pw_slice_options options;
  int64_t shape[PyBUF_MAX_NDIM];
  Held *apart;
  pw_slice *slice;
} ReserveJob;

static pw_error *runReserve(Job *job) {
  ReserveJob *reserve = (ReserveJob *)job;
  const pw_slice *apart[PyBUF_MAX_NDIM];
  const Py_ssize_t count = reserve->apart->count;
  for (Py_ssize_t i = 0; i < count; ++i)
    apart[i] = reserve->apart->cells[i]->handle;
  return pw_reserve(job->cells[0]->handle, &reserve->options, apart,
                    (size_t)count, &reserve->slice);
}

static void discardReserve(Job *job) {
  pw_slice_free(((ReserveJob *)job)->slice);
}

static void freeSlice(void *slice) { pw_slice_free(slice); }

/// Reserves devices: (class, name, shape, islands, kind, wait in ns, bytes,
/// whether they are neighbours, other slices).
static PyObject *reserve(PyObject *self, PyObject *arguments) {
  PyObject *type, *shape, *apart;
  pw_slice_options options = {.struct_size = sizeof options};
  if (!PyArg_ParseTuple(arguments, "O!zO!izLKpO!", &PyType_Type, &type,
                        &options.name, &PyTuple_Type, &shape, &options.islands,
                        &options.kind, &options.wait_ns, &options.device_bytes,
                        &options.contiguous, &PyTuple_Type, &apart))
    return NULL;
  if (PyTuple_Size(shape) > PyBUF_MAX_NDIM ||
      PyTuple_Size(apart) > PyBUF_MAX_NDIM)
    return raiseCode(PW_INVALID_ARGUMENT,
                     "a slice has at most %d dimensions, and is apart from at "
                     "most %d others",
                     PyBUF_MAX_NDIM, PyBUF_MAX_NDIM);
  Held *held;
  PyObject *capsule = holdHandles(apart, sliceType, "reserved slice", &held);
  PyObject *inputs = capsule ? PyTuple_Pack(2, arguments, capsule) : NULL;
  Py_XDECREF(capsule);
  Cell *cell = inputs ? handleUse((HandleObject *)self) : NULL;
  ReserveJob *job = cell ? jobCreate(sizeof *job, runReserve, discardReserve,
                                     inputs, cell, NULL)
                         : NULL;
  Py_XDECREF(inputs);
  if (!job)
    return NULL;
  job->options = options;
  job->options.shape = job->shape;
  job->options.rank = (int32_t)PyTuple_Size(shape);
  job->apart = held;
  for (int32_t i = 0; i < job->options.rank; ++i) {
    job->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    if (PyErr_Occurred()) {
      jobFree(&job->job);
      return NULL;
    }
  }
  if (!jobRun(&job->job))
    return NULL;
  PyObject *object = handleCreate((PyTypeObject *)type, job->slice, freeSlice,
                                  (SessionObject *)self);
  jobFree(&job->job);
  return object;
}

/// Returns the names of the devices, a line each.
static PyObject *devices(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  pw_text *names;
  pw_error *error = pw_slice_devices(cell->handle, &names);
  cellRelease(cell);
  return error ? raiseError(error) : takeText(names);
}

static PyObject *releaseSlice(PyObject *self, PyObject *unused) {
  (void)unused;
  handleClose((HandleObject *)self);
  Py_RETURN_NONE;
}

static PyMethodDef sliceMethods[] = {
    {"_devices", devices, METH_NOARGS, NULL},
    {"release", releaseSlice, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot sliceSlots[] = {{Py_tp_dealloc, (void *)handleDealloc},
                                   {Py_tp_methods, sliceMethods},
                                   {Py_tp_members, handleMembers},
                                   {0, NULL}};

static PyType_Spec sliceSpec = {"pathways._pathways.ReservedSlice",
                                sizeof(HandleObject), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                sliceSlots};

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

/// Gives back the handles of all objects of the session, and its own.
static PyObject *closeSession(PyObject *self, PyObject *unused) {
  (void)unused;
  SessionObject *session = (SessionObject *)self;
  // Cells are released without the GIL: the last one may end the cluster.
  Py_ssize_t count = 1;
  for (HandleObject *object = session->handles; object; object = object->next)
    ++count;
  Cell **cells = PyMem_Malloc((size_t)count * sizeof *cells);
  if (!cells)
    return PyErr_NoMemory();
  Py_ssize_t numCells = 0;
  while (session->handles) {
    HandleObject *object = session->handles;
    cells[numCells] = object->cell;
    cellRetain(cells[numCells++]);
    handleClose(object);
  }
  if (session->base.cell) {
    cells[numCells] = session->base.cell;
    cellRetain(cells[numCells++]);
    handleClose(&session->base);
  }
  Py_BEGIN_ALLOW_THREADS
  for (Py_ssize_t i = 0; i < numCells; ++i)
    cellRelease(cells[i]);
  Py_END_ALLOW_THREADS
  PyMem_Free(cells);
  finishWork();
  Py_RETURN_NONE;
}

static PyObject *isClosed(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((HandleObject *)self)->cell == NULL);
}

static PyObject *isSimulation(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((SessionObject *)self)->isSimulation);
}

static PyObject *isCostsOnly(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((SessionObject *)self)->isCostsOnly);
}

static PyMethodDef methods[] = {
    {"_open", open, METH_VARARGS | METH_CLASS, NULL},
    {"_connect", connectTo, METH_VARARGS | METH_CLASS, NULL},
    {"_topology", topology, METH_NOARGS, NULL},
    {"_another", another, METH_VARARGS, NULL},
    {"_write_trace", sessionWriteTrace, METH_O, NULL},
    {"_write_profile", sessionWriteProfile, METH_VARARGS, NULL},
    {"_machines", sessionMachines, METH_NOARGS, NULL},
    {"_statistics", sessionStatistics, METH_NOARGS, NULL},
    {"_suspend", sessionSuspend, METH_O, NULL},
    {"_resume", sessionResume, METH_NOARGS, NULL},
    {"_drain", sessionDrain, METH_VARARGS, NULL},
    {"_undrain", sessionUndrain, METH_O, NULL},
    {"_save", sessionSave, METH_VARARGS, NULL},
    {"_restore", sessionRestore, METH_O, NULL},
    {"_reserve", reserve, METH_VARARGS, NULL},
    {"_put", put, METH_VARARGS, NULL},
    {"_put_sharded", putSharded, METH_VARARGS, NULL},
    {"_close", closeSession, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"closed", isClosed, NULL, NULL, NULL},
    {"is_simulation", isSimulation, NULL, NULL, NULL},
    {"costs_only", isCostsOnly, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)handleDealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, handleMembers},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {"pathways._pathways.Session", sizeof(SessionObject),
                           0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           slots};

int addSession(PyObject *module) {
  sessionType = addType(module, &spec);
  sliceType = addType(module, &sliceSpec);
  return sessionType && sliceType ? 0 : -1;
}
