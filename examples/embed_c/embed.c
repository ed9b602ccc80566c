/* Doubles eight numbers on four devices, from C. Prints what a step costs, and
 * the result:
 *
 *   512 bytes on each device, 2048 in all; 0 bytes move between devices
 *   2 4 6 8 10 12 14 16
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathways/CApi.h"

static const char program[] =
    "pw.slice @s mesh <\"x\" = 4>\n"
    "func.func private @twice(%v: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %r = arith.addf %v, %v : tensor<8xf32>\n"
    "  return %r : tensor<8xf32>\n"
    "}\n"
    "pw.program @main(%v: !pw.array<8xf32, @s, [{\"x\"}]>)\n"
    "    -> (!pw.array<8xf32, @s, [{\"x\"}]> {pw.name = \"out\"}) {\n"
    "  %r = pw.call @twice(%v) : (!pw.array<8xf32, @s, [{\"x\"}]>)\n"
    "      -> !pw.array<8xf32, @s, [{\"x\"}]>\n"
    "  pw.return %r : !pw.array<8xf32, @s, [{\"x\"}]>\n"
    "}\n";

/* Ends the process if there is an error. */
static void check(pw_error *error) {
  if (error) {
    fprintf(stderr, "error: %s\n", pw_error_message(error));
    exit(1);
  }
}

int main(void) {
  pw_open_options open = {0};
  open.struct_size = sizeof open;
  open.topology = "1x1x4";
  pw_session *session;
  check(pw_open(&open, &session));

  pw_compile_options compile = {0};
  compile.struct_size = sizeof compile;
  compile.topology = open.topology;
  pw_plan *plan;
  check(pw_compile(program, strlen(program), &compile, &plan, NULL));
  pw_costs costs = {0};
  costs.struct_size = sizeof costs;
  check(pw_plan_costs(plan, open.topology, /*steps=*/0, &costs, NULL));
  printf("%llu bytes on each device, %llu in all; %llu bytes move between "
         "devices\n",
         (unsigned long long)costs.peak_bytes,
         (unsigned long long)costs.total_bytes,
         (unsigned long long)(costs.ici_bytes + costs.dcn_bytes));
  pw_executable *executable;
  check(pw_load(session, plan, NULL, &executable));

  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t shape[1] = {8};
  const pw_tensor tensor = {
      sizeof tensor, PW_F32, 1, shape, values, sizeof values};
  pw_array *v, *out;
  check(pw_put(session, &tensor, &v));

  pw_run *run;
  const pw_array *arguments[1] = {v};
  check(pw_launch(executable, arguments, 1, /*steps=*/1, NULL, &run));
  check(pw_run_take(run, 0, &out));
  check(pw_array_get(out, &tensor));
  for (int i = 0; i < 8; ++i) printf("%g ", values[i]);
  printf("\n");

  pw_array_free(out);
  pw_array_free(v);
  pw_run_free(run);
  pw_executable_free(executable);
  pw_plan_free(plan);
  pw_session_free(session);
  return 0;
}
