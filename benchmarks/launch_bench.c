/* Launches a plan from C, as benchmarks/python_bench does from Python.
 *
 *   launch_bench PLAN TOPOLOGY LAUNCHES
 *
 * All arguments are zero, and lie on the devices. Prints the microseconds from
 * a launch to its end, the median of all.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pathways/CApi.h"

enum { kMostPorts = 8, kWarmUp = 100 };

static void check(pw_error* error) {
  if (error) {
    fprintf(stderr, "error: %s\n", pw_error_message(error));
    exit(1);
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Returns the time of a launch that has `arguments`, which are f32. */
static double launch(pw_executable* executable,
                     const pw_array* const* arguments, size_t count) {
  const double begin = now();
  pw_run* run;
  pw_array* result;
  check(pw_launch(executable, arguments, count, 1, NULL, &run));
  check(pw_run_take(run, 0, &result));
  check(pw_run_wait(run, -1));
  pw_run_free(run);
  pw_array_free(result);
  return now() - begin;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: launch_bench PLAN TOPOLOGY LAUNCHES\n");
    return 2;
  }
  pw_open_options open = {.struct_size = sizeof open, .topology = argv[2]};
  pw_session* session;
  pw_plan* plan;
  pw_executable* executable;
  check(pw_open(&open, &session));
  check(pw_plan_read(argv[1], &plan));
  check(pw_load(session, plan, NULL, &executable));
  pw_port ports[kMostPorts];
  const size_t count = pw_plan_arguments(plan, ports, kMostPorts);
  const pw_array* arguments[kMostPorts] = {NULL};
  for (size_t i = 0; i < count && i < kMostPorts; ++i) {
    pw_tensor tensor = {sizeof tensor, ports[i].element,
                        ports[i].rank, ports[i].shape,
                        NULL,          sizeof(float)};
    for (int k = 0; k < ports[i].rank; ++k)
      tensor.bytes *= (size_t)ports[i].shape[k];
    tensor.data = calloc(1, tensor.bytes);
    pw_array* array;
    check(pw_put(session, &tensor, &array));
    arguments[i] = array;
    free(tensor.data);
  }
  const size_t launches = (size_t)atol(argv[3]);
  double* times = calloc(launches + 1, sizeof *times);
  for (int i = 0; i < kWarmUp; ++i) launch(executable, arguments, count);
  for (size_t i = 0; i < launches; ++i)
    times[i] = launch(executable, arguments, count);
  qsort(times, launches, sizeof *times, compare);
  printf("%g\n", times[launches / 2]);
  return 0;
}
