//===- plan.c - Plans, and compiling --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

#include <string.h>

PyTypeObject *planType;

static void freePlan(void *plan) { pw_plan_free(plan); }

static PyObject *planCreate(PyObject *type, pw_plan *plan) {
  return handleCreate((PyTypeObject *)type, plan, freePlan, NULL);
}

typedef struct {
  Job job;
  const char *text;
  Py_ssize_t size;
  pw_compile_options options;
  pw_plan *plan;
  pw_text *remarks;
} CompileJob;

static pw_error *runCompile(Job *job) {
  CompileJob *compile = (CompileJob *)job;
  compilerBegin();
  pw_error *error =
      pw_compile(compile->text, (size_t)compile->size, &compile->options,
                 &compile->plan, &compile->remarks);
  compilerEnd();
  return error;
}

static void discardCompile(Job *job) {
  pw_plan_free(((CompileJob *)job)->plan);
  pw_text_free(((CompileJob *)job)->remarks);
}

static pw_error *runExplain(Job *job) {
  CompileJob *explain = (CompileJob *)job;
  compilerBegin();
  pw_error *error =
      pw_explain_schedules(explain->text, (size_t)explain->size,
                           &explain->options, &explain->remarks);
  compilerEnd();
  return error;
}

/// Runs a job with a text and options. Returns NULL if it failed; then the job
/// is gone.
static CompileJob *runCompiler(pw_error *(*run)(Job *), PyObject *arguments) {
  CompileJob *job =
      jobCreate(sizeof *job, run, discardCompile, arguments, NULL, NULL);
  if (!job)
    return NULL;
  pw_compile_options *options = &job->options;
  options->struct_size = sizeof *options;
  int oversubscribe;
  if (!PyArg_ParseTuple(arguments, "s#zzzzzpizzzzziizKzz", &job->text, &job->size,
                        &options->file_name, &options->topology, &options->mesh,
                        &options->program, &options->kernel_cache,
                        &oversubscribe, &options->steps_in_flight,
                        &options->carry, &options->stepped, &options->elided,
                        &options->assign, &options->slices, &options->rounding,
                        &options->explain, &options->profile,
                        &options->kernel_cache_bytes, &options->schedule,
                        &options->label_costs) ||
      !useProcess()) {
    jobFree(&job->job);
    return NULL;
  }
  options->oversubscribe = oversubscribe;
  return jobRun(&job->job) ? job : NULL;
}

/// Returns the plan and the remarks.
static PyObject *compile(PyObject *type, PyObject *arguments) {
  CompileJob *job = runCompiler(runCompile, arguments);
  if (!job)
    return NULL;
  PyObject *object = planCreate(type, job->plan);
  PyObject *lines = takeText(job->remarks);
  jobFree(&job->job);
  if (object && lines)
    return Py_BuildValue("NN", object, lines);
  Py_XDECREF(object);
  Py_XDECREF(lines);
  return NULL;
}

/// Returns JSON; takes what compile() takes.
static PyObject *explainSchedules(PyObject *type, PyObject *arguments) {
  (void)type;
  CompileJob *job = runCompiler(runExplain, arguments);
  if (!job)
    return NULL;
  PyObject *json = takeText(job->remarks);
  jobFree(&job->job);
  return json;
}

static PyObject *readPlan(PyObject *type, PyObject *arguments) {
  PyObject *path;
  if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path))
    return NULL;
  const char *name = PyBytes_AsString(path);
  pw_plan *plan = NULL;
  pw_error *error = NULL;
  const bool mayUse = useProcess();
  if (mayUse) {
    Py_BEGIN_ALLOW_THREADS
    error = pw_plan_read(name, &plan);
    Py_END_ALLOW_THREADS
  }
  Py_DECREF(path);
  if (!mayUse)
    return NULL;
  return error ? raiseError(error) : planCreate(type, plan);
}

static PyObject *parsePlan(PyObject *type, PyObject *arguments) {
  Py_buffer bytes;
  if (!PyArg_ParseTuple(arguments, "y*", &bytes))
    return NULL;
  pw_plan *plan = NULL;
  pw_error *error = NULL;
  const bool mayUse = useProcess();
  if (mayUse) {
    Py_BEGIN_ALLOW_THREADS
    error = pw_plan_parse(bytes.buf, (size_t)bytes.len, &plan);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&bytes);
  if (!mayUse)
    return NULL;
  return error ? raiseError(error) : planCreate(type, plan);
}

static PyObject *writePlan(PyObject *self, PyObject *arguments) {
  PyObject *path;
  if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path))
    return NULL;
  const char *name = PyBytes_AsString(path);
  Cell *cell = handleUse((HandleObject *)self);
  pw_error *error = NULL;
  if (cell) {
    Py_BEGIN_ALLOW_THREADS
    error = pw_plan_write(cell->handle, name);
    Py_END_ALLOW_THREADS
    cellRelease(cell);
  }
  Py_DECREF(path);
  if (!cell)
    return NULL;
  if (error)
    return raiseError(error);
  Py_RETURN_NONE;
}

static PyObject *planBytes(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const void *bytes;
  size_t size;
  pw_error *error = pw_plan_bytes(cell->handle, &bytes, &size);
  PyObject *copy = error ? raiseError(error)
                         : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  cellRelease(cell);
  return copy;
}

static PyObject *planProgram(PyObject *self, PyObject *unused) {
  (void)unused;
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  PyObject *name = PyUnicode_FromString(pw_plan_program(cell->handle));
  cellRelease(cell);
  return name;
}

/// Returns (name, element, shape, is stepped, carried from) of each port.
static PyObject *describePorts(PyObject *self,
                               size_t (*list)(const pw_plan *, pw_port *,
                                              size_t)) {
  Cell *cell = handleUse((HandleObject *)self);
  if (!cell)
    return NULL;
  const size_t count = list(cell->handle, NULL, 0);
  pw_port *ports = PyMem_Calloc(count + 1, sizeof *ports);
  PyObject *described = ports ? PyTuple_New((Py_ssize_t)count) : NULL;
  if (!ports)
    PyErr_NoMemory();
  if (described)
    list(cell->handle, ports, count);
  for (size_t i = 0; described && i < count; ++i) {
    PyObject *shape = shapeTuple(ports[i].shape, ports[i].rank);
    PyObject *port =
        shape ? Py_BuildValue("ssNOi", ports[i].name,
                              elementName(ports[i].element), shape,
                              ports[i].is_stepped ? Py_True : Py_False,
                              (int)ports[i].carried_from)
              : NULL;
    if (!port || PyTuple_SetItem(described, (Py_ssize_t)i, port) < 0)
      Py_CLEAR(described);
  }
  PyMem_Free(ports);
  cellRelease(cell);
  return described;
}

static PyObject *planArguments(PyObject *self, PyObject *unused) {
  (void)unused;
  return describePorts(self, pw_plan_arguments);
}

static PyObject *planResults(PyObject *self, PyObject *unused) {
  (void)unused;
  return describePorts(self, pw_plan_results);
}

static PyMethodDef methods[] = {
    {"_compile", compile, METH_VARARGS | METH_CLASS, NULL},
    {"_explain_schedules", explainSchedules, METH_VARARGS | METH_CLASS, NULL},
    {"_read", readPlan, METH_VARARGS | METH_CLASS, NULL},
    {"_parse", parsePlan, METH_VARARGS | METH_CLASS, NULL},
    {"_write", writePlan, METH_VARARGS, NULL},
    {"_bytes", planBytes, METH_NOARGS, NULL},
    {"_program", planProgram, METH_NOARGS, NULL},
    {"_arguments", planArguments, METH_NOARGS, NULL},
    {"_results", planResults, METH_NOARGS, NULL},
    {"_describe", planDescribe, METH_NOARGS, NULL},
    {"_report", planReport, METH_NOARGS, NULL},
    {"_print", planPrint, METH_NOARGS, NULL},
    {"_costs", planCosts, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)handleDealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, handleMembers},
                              {0, NULL}};

static PyType_Spec spec = {"pathways._pathways.Plan", sizeof(PlanObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           slots};

int addPlan(PyObject *module) {
  planType = addType(module, &spec);
  return planType ? 0 : -1;
}
