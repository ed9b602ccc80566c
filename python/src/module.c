//===- module.c - The extension module of the Python package --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "module.h"

PyTypeObject *addType(PyObject *module, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (!type || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
    Py_XDECREF(type);
    return NULL;
  }
  return (PyTypeObject *)type; // held as long as the process lives
}

/// Takes what the package has for the module: its hooks, and the classes of
/// the objects that the module makes.
static PyObject *registerPackage(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *run, *results, *array;
  Hooks given;
  if (!PyArg_ParseTuple(arguments, "OOOOOO!O!O!", &given.makeError,
                        &given.adapt, &given.describe, &given.lock,
                        &given.unlock, &PyType_Type, &run, &PyType_Type,
                        &results, &PyType_Type, &array))
    return NULL;
  if (!PyType_IsSubtype((PyTypeObject *)run, runType) ||
      !PyType_IsSubtype((PyTypeObject *)results, resultsType) ||
      !PyType_IsSubtype((PyTypeObject *)array, arrayType)) {
    PyErr_SetString(PyExc_TypeError, "a class has another base");
    return NULL;
  }
  // All are held as long as the process lives.
  PyObject *held[] = {given.makeError, given.adapt, given.describe, given.lock,
                      given.unlock,    run,         results,        array};
  for (size_t i = 0; i < sizeof held / sizeof *held; ++i)
    Py_INCREF(held[i]);
  hooks = given;
  runClass = (PyTypeObject *)run;
  resultsClass = (PyTypeObject *)results;
  arrayClass = (PyTypeObject *)array;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_register", registerPackage, METH_VARARGS, NULL},
    {"_abandoned_calls", abandonedCalls, METH_NOARGS, NULL},
    {"_saved_names", savedNames, METH_O, NULL},
    {"_from_dlpack", viewFromDlpack, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static int execute(PyObject *module) {
  static bool isDone;
  if (isDone) {
    PyErr_SetString(PyExc_ImportError,
                    "a process has one pathways, in its main interpreter");
    return -1;
  }
  if (pw_abi_version() < PW_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "libpathways.so.1 is of version %s with ABI %u, this module "
                 "needs ABI %u or a later one",
                 pw_version(), (unsigned)pw_abi_version(),
                 (unsigned)PW_ABI_VERSION);
    return -1;
  }
  if (!addCompilerWait() || addSession(module) < 0 || addPlan(module) < 0 ||
      addExecutable(module) < 0 || addRun(module) < 0 || addArray(module) < 0 ||
      addView(module) < 0 || addEvents(module) < 0 ||
      PyModule_AddStringConstant(module, "__version__", pw_version()) < 0)
    return -1;
  isDone = true;
  return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "pathways._pathways",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__pathways(void) { return PyModuleDef_Init(&definition); }
