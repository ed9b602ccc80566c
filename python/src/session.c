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

/// Opening, of both kinds.
typedef struct {
  Job job;
  pw_open_options open;
  pw_connect_options connect;
  const char *address; // null: the session opens a cluster of its own
  pw_session *session;
} OpenJob;

static pw_error *runOpen(Job *job) {
  OpenJob *open = (OpenJob *)job;
  return open->address
             ? pw_connect(open->address, &open->connect, &open->session)
             : pw_open(&open->open, &open->session);
}

static void discardOpen(Job *job) {
  pw_session_free(((OpenJob *)job)->session);
}

/// Runs the job, and makes an object of its session.
static PyObject *openSession(PyObject *type, OpenJob *job) {
  if (!jobRun(&job->job))
    return NULL;
  PyObject *object =
      handleCreate((PyTypeObject *)type, job->session, freeSession, NULL);
  if (object)
    ((SessionObject *)object)->isSimulation =
        !job->address && job->open.world == PW_SIMULATION;
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
  int isSimulation;
  if (!PyArg_ParseTuple(arguments, "zzpiiiKdKLL", &options->name,
                        &options->topology, &isSimulation, &options->workers,
                        &options->processes, &options->priority, &options->seed,
                        &options->weight, &options->quota_bytes,
                        &options->trace_events, &options->stall_timeout_ns) ||
      !useProcess()) {
    jobFree(&job->job);
    return NULL;
  }
  options->world = isSimulation ? PW_SIMULATION : PW_THREADS;
  return openSession(type, job);
}

static PyObject *connectTo(PyObject *type, PyObject *arguments) {
  OpenJob *job =
      jobCreate(sizeof *job, runOpen, discardOpen, arguments, NULL, NULL);
  if (!job)
    return NULL;
  pw_connect_options *options = &job->connect;
  options->struct_size = sizeof *options;
  int trustLoopback;
  if (!PyArg_ParseTuple(arguments, "szypidK", &job->address, &options->name,
                        &options->key, &trustLoopback, &options->priority,
                        &options->weight, &options->quota_bytes) ||
      !useProcess()) {
    jobFree(&job->job);
    return NULL;
  }
  options->trust_loopback = trustLoopback;
  return openSession(type, job);
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

static PyObject *writeTrace(PyObject *self, PyObject *arguments) {
  PyObject *path;
  if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path))
    return NULL;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell) {
    Py_DECREF(path);
    return NULL;
  }
  const char *name = PyBytes_AsString(path);
  pw_error *error;
  Py_BEGIN_ALLOW_THREADS error = pw_session_write_trace(cell->handle, name);
  cellRelease(cell);
  Py_END_ALLOW_THREADS Py_DECREF(path);
  if (error)
    return raiseError(error);
  Py_RETURN_NONE;
}

/// Makes an array: (value, CopyPolicy).
static PyObject *put(PyObject *self, PyObject *arguments) {
  PyObject *value;
  int policy;
  if (!PyArg_ParseTuple(arguments, "Oi", &value, &policy))
    return NULL;
  pw_array *array = putValue((SessionObject *)self, value, /*element=*/0,
                             (CopyPolicy)policy, "the value");
  if (!array)
    return NULL;
  return handleCreate(arrayClass, array, (void (*)(void *))pw_array_free,
                      (SessionObject *)self);
}

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
  Py_BEGIN_ALLOW_THREADS for (Py_ssize_t i = 0; i < numCells; ++i)
      cellRelease(cells[i]);
  Py_END_ALLOW_THREADS PyMem_Free(cells);
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

static PyMethodDef methods[] = {
    {"_open", open, METH_VARARGS | METH_CLASS, NULL},
    {"_connect", connectTo, METH_VARARGS | METH_CLASS, NULL},
    {"_topology", topology, METH_NOARGS, NULL},
    {"_write_trace", writeTrace, METH_VARARGS, NULL},
    {"_put", put, METH_VARARGS, NULL},
    {"_close", closeSession, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"closed", isClosed, NULL, NULL, NULL},
    {"is_simulation", isSimulation, NULL, NULL, NULL},
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
  return sessionType ? 0 : -1;
}
