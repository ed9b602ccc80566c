//===- old_client.c - A client of the first interface ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/* Runs the plan of write_test_plan.cc. With "plans-only" as second argument it
   expects that the library cannot compile. It is never changed: what it uses
   must stay as it is. */

#include "frozen/CApi.h"

#include <stdio.h>
#include <string.h>

static int check(pw_error *error, const char *what) {
  if (!error)
    return 1;
  fprintf(stderr, "%s: %d %s: %s\n", what, (int)pw_error_code(error),
          pw_error_id(error), pw_error_message(error));
  pw_error_free(error);
  return 0;
}

static int cannot_compile(void) {
  pw_plan *plan = NULL;
  pw_error *error = pw_compile("", 0, NULL, &plan, NULL);
  const int is_missing =
      pw_error_code(error) == PW_NOT_FOUND &&
      strstr(pw_error_message(error), "libpathways_compile.so.1") != NULL;
  if (!is_missing)
    fprintf(stderr, "pw_compile: %s\n", pw_error_message(error));
  pw_error_free(error);
  return is_missing;
}

static int run_plan(pw_session *session, const pw_plan *plan) {
  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8] = {0};
  const int64_t shape[1] = {8};
  const pw_tensor given = {sizeof given, PW_F32, 1,
                           shape,        values, sizeof values};
  const pw_tensor into = {sizeof into, PW_F32, 1, shape, got, sizeof got};
  pw_executable *executable = NULL;
  pw_array *v = NULL, *out = NULL;
  pw_run *run = NULL;
  pw_load_options load = {0};
  load.struct_size = sizeof load;
  load.place = PW_ANYWHERE;
  const pw_array *arguments[1];
  int ok = check(pw_load(session, plan, &load, &executable), "load") &&
           check(pw_put(session, &given, &v), "put");
  arguments[0] = v;
  ok = ok &&
       check(pw_launch(executable, arguments, 1, 1, NULL, &run), "launch") &&
       check(pw_run_take(run, 0, &out), "take") &&
       check(pw_run_wait(run, -1), "wait") &&
       check(pw_array_wait(out, -1), "wait for the array") &&
       check(pw_array_get(out, &into), "get") &&
       memcmp(values, got, sizeof got) == 0;
  pw_array_free(out);
  pw_array_free(v);
  pw_run_free(run);
  pw_executable_free(executable);
  return ok;
}

int main(int argc, char **argv) {
  if (argc < 2 || pw_abi_version() < PW_ABI_VERSION)
    return 2;
  if (argc > 2 && !cannot_compile())
    return 3;
  pw_open_options open = {0};
  open.struct_size = sizeof open;
  open.topology = "1x1x4";
  pw_session *session = NULL;
  pw_plan *plan = NULL;
  pw_port ports[2];
  pw_costs costs = {0};
  costs.struct_size = sizeof costs;
  const int ok =
      check(pw_open(&open, &session), "open") &&
      check(pw_plan_read(argv[1], &plan), "read") &&
      pw_plan_arguments(plan, ports, 2) == 1 &&
      strcmp(ports[0].name, "v") == 0 && ports[0].rank == 1 &&
      ports[0].shape[0] == 8 && ports[0].carried_from == -1 &&
      check(pw_plan_costs(plan, "1x1x4", 1, &costs, NULL), "costs") &&
      costs.peak_bytes > 0 && run_plan(session, plan);
  pw_plan_free(plan);
  pw_session_free(session);
  printf(ok ? "ok\n" : "failed\n");
  return !ok;
}
