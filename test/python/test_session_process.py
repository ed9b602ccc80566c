# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions in a process: threads, signals, fork, memory, and the end of the interpreter."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

from session_support import ENDLESS, GOLDEN, check_python, np, pw, run_python

PROGRAM = str(GOLDEN)
BEGIN = f"""
import numpy as np, pathways as pw
session = pw.Session("2x1x4")
f = session.load({PROGRAM!r})
run = f.launch([1, 2], steps={ENDLESS})
y, array = run.results.y, session.put(np.ones(1 << 20, np.float32))
"""


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def num_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def compute(v: list[float]) -> list[float]:
    """Runs in a process of its own."""
    with pw.Session("2x1x4") as session:
        return [float(y) for y in np.asarray(session.load(PROGRAM)(v).y)]


class Processes(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("2x1x4")
        self.addCleanup(self.session.close)
        self.f = self.session.load(GOLDEN)

    def check(self) -> None:
        np.testing.assert_array_equal(np.asarray(self.f([1, 2]).y), [3, 5])

    def test_memory_is_flat(self) -> None:
        v = self.session.put(np.array([1, 2], np.float32))
        numbers = np.array([1, 2], np.float32)

        def launch(times: int) -> None:
            for i in range(times):
                out = self.f(v if i % 2 else numbers)
                if i % 10 == 0:
                    np.asarray(out.y)
                else:
                    out.z  # noqa: B018
            np.asarray(self.f(v).y)

        launch(3000)
        gc.collect()
        before = resident_bytes()
        launch(10000)
        gc.collect()
        self.assertLessEqual(resident_bytes() - before, 1 << 20)

    def test_no_thread_is_left(self) -> None:
        self.check()
        before = num_threads()
        for _ in range(5):
            with pw.Session("1x1x2") as session:
                np.asarray(session.put([1, 2]))
                self.assertGreater(num_threads(), before)
        # A thread that has ended may still be listed for a moment.
        for _ in range(1000):
            if num_threads() <= before:
                return
            time.sleep(0.01)
        self.assertLessEqual(num_threads(), before)

    def test_threads(self) -> None:
        failures: list[BaseException] = []

        def work(seed: int) -> None:
            try:
                for i in range(50):
                    v = np.array([seed, i], np.float32)
                    out = self.f(self.session.put(v) if i % 2 else v)
                    np.testing.assert_array_equal(np.asarray(out.y), 2 * v + 1)
                    out.y.delete()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_close_while_threads_wait(self) -> None:
        run = self.f.launch([1, 2], steps=ENDLESS)
        y = run.results.y
        errors: list[BaseException] = []
        began = threading.Barrier(4)

        def wait(call: Any) -> None:
            began.wait()
            try:
                call()
            except pw.Error as error:
                errors.append(error)

        threads = [
            threading.Thread(target=wait, args=(call,))
            for call in (run.wait, y.block_until_ready, lambda: np.asarray(y))
        ]
        for thread in threads:
            thread.start()
        began.wait()
        # Calls in flight keep their handles; the run is ended for them.
        run.cancel()
        self.session.close()
        for thread in threads:
            thread.join()
        self.assertEqual(len(errors), 3)

    def test_a_thread_that_holds_the_gil_stalls_no_device(self) -> None:
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        numbers = np.ones(1 << 18, np.float32)
        array = self.session.put(numbers)
        run = self.f.launch([1, 2], steps=20000)
        # No other thread gets the GIL in this loop, since nothing in it waits.
        sys.setswitchinterval(1e6)
        del array  # memory is given back meanwhile
        end = time.monotonic() + 120
        while not run.is_ready():
            self.assertLess(time.monotonic(), end, "the run does not go on")
        run.wait()
        self.session.put(0)
        self.assertTrue(numbers.flags.writeable)

    def test_ctrl_c(self) -> None:
        run = self.f.launch([1, 2], steps=ENDLESS)
        y = run.results.y

        def launch_forever() -> None:
            while True:
                self.f([1, 2])

        waits: dict[str, Any] = {
            # The argument must move, and there is room for 64 launches.
            "launch with a result": lambda: self.f(y),
            "launches without room": launch_forever,
            "wait": run.wait,
            "wait with a limit": lambda: run.wait(1000),
            "block_until_ready": y.block_until_ready,
            "asarray": lambda: np.asarray(y),
            "view": y.view,
        }
        for name, wait in waits.items():
            with self.subTest(name):
                sent = []

                def interrupt() -> None:
                    sent.append(time.monotonic())
                    os.kill(os.getpid(), signal.SIGINT)

                threading.Timer(0.05, interrupt).start()
                with self.assertRaises(KeyboardInterrupt):
                    wait()
                    self.fail("the wait has ended")
                print(f"{name}: {(time.monotonic() - sent[0]) * 1e3:.1f} ms", file=sys.stderr)
        run.cancel()
        self.check()

    def test_a_handler_that_raises_nothing(self) -> None:
        """A wait goes on after a signal whose handler returns."""
        handled: list[int] = []
        before = signal.signal(signal.SIGUSR1, lambda number, _: handled.append(number))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        run = self.f.launch([1, 2], steps=ENDLESS)
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        with self.assertRaises(pw.TimedOut):
            while not handled:
                run.wait(0.5)
            run.wait(0)
        run.cancel()
        self.assertEqual(handled, [signal.SIGUSR1])

    def test_fork(self) -> None:
        y = self.f([1, 2]).y
        array = self.session.put(np.ones(1 << 18, np.float32))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in (
                    lambda: self.f([1, 2]),
                    lambda: np.asarray(y),
                    y.is_ready,
                    lambda: self.session.put(1),
                    lambda: pw.Session("1x1x1"),
                    lambda: pw.compile(GOLDEN, "2x1x4"),
                    lambda: pw.Plan.parse(b""),
                ):
                    try:
                        use()
                    except pw.Error as error:
                        assert "fork" in str(error), error
                    else:
                        raise AssertionError("no error in the child")
                del array, y
                self.f = None  # type: ignore[assignment]
                self.session.close()
                gc.collect()
                code = 0
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        self.assertEqual(status, 0)
        np.testing.assert_array_equal(np.asarray(y), [3, 5])
        self.check()

    def test_processes_that_are_spawned(self) -> None:
        context = multiprocessing.get_context("spawn")
        with context.Pool(2) as pool:
            got = pool.map(compute, [[1, 2], [3, 4]])
        self.assertEqual(got, [[3, 5], [7, 9]])


class Ends(unittest.TestCase):
    """The end of the interpreter."""

    def test_with_runs_in_flight(self) -> None:
        check_python(BEGIN)

    def test_with_a_thread_that_waits(self) -> None:
        check_python(
            BEGIN
            + "import threading\n"
            + "def wait():\n"
            + "    try: run.wait()\n"
            + "    except pw.Error: pass\n"
            + "threading.Thread(target=wait, daemon=True).start()\n"
        )

    def test_calls_in_del_at_exit(self) -> None:
        out = check_python(
            BEGIN
            + """
import functools
class Late:
    def __init__(self, *calls):
        self.calls = calls
    def __del__(self):
        for call in self.calls:
            try:
                call()
                print("done")
            except Exception as error:
                print(type(error).__name__)
late = Late(run.wait, run.is_ready, y.is_ready, y.view, array.delete, run.cancel,
            session.close, functools.partial(f, [1, 2]), functools.partial(session.put, 1))
import sys
sys.modules["late"] = late  # the last to go
"""
        )
        self.assertEqual(out.split().count("InvalidArgument"), 8)
        self.assertEqual(out.split().count("done"), 1)

    def test_after_an_exception(self) -> None:
        done = run_python(BEGIN + "raise SystemExit(3)")
        self.assertEqual((done.returncode, done.stderr), (3, ""))

    def test_interrupted_compile(self) -> None:
        """The compiler may still run when the interpreter ends."""
        done = run_python(
            "import os, signal, threading, pathways as pw\n"
            "text = open('%s').read()\n" % PROGRAM
            + "threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    while True: pw.compile(text, '2x1x4')\n"
            "except KeyboardInterrupt: print('interrupted')\n"
        )
        self.assertEqual((done.returncode, done.stdout), (0, "interrupted\n"), done.stderr)

    def test_exit_waits_for_the_compiler(self) -> None:
        """Static objects of the compiler outlive a call that was interrupted."""
        before = cpu_seconds_of_children()
        out = check_python(
            "import os, signal, threading, time, pathways as pw\n"
            "types = 'tensor<4xf32>'\n"
            "lines = [f'%a{i + 1} = stablehlo.tanh %a{i} : {types}' for i in range(200)]\n"
            "text = '\\n'.join([f'func.func public @main(%a0: {types}) -> {types} {{',\n"
            "                   *lines, f'return %a200 : {types}', '}'])\n"
            "begin = time.process_time()\n"
            "pw.compile(text, '1x1x1')\n"
            "whole = time.process_time() - begin\n"
            "threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    while True: pw.compile(text, '1x1x1')\n"
            "except KeyboardInterrupt: print(whole, time.process_time())\n"
        )
        whole, so_far = map(float, out.split())
        self.assertGreater(cpu_seconds_of_children() - before - so_far, whole / 4)

    def test_signal_handlers_are_given_back(self) -> None:
        out = check_python(
            "import faulthandler, signal, pathways as pw\n"
            "handled = []\n"
            "signal.signal(signal.SIGINT, lambda *_: handled.append(1))\n"
            "for text in ('pw.what\\n', open('%s').read()):\n" % PROGRAM
            + "    try: pw.compile(text, '2x1x4')\n"
            "    except pw.ProgramError: pass\n"
            "    signal.raise_signal(signal.SIGINT)\n"
            "print(len(handled), faulthandler.is_enabled())\n"
        )
        self.assertEqual(out, "2 True\n")

    def test_with_torch_before_and_after(self) -> None:
        for first, second in (("torch", "pathways"), ("pathways", "torch")):
            done = run_python(
                f"import {first}\nimport {second}\n"
                "import numpy as np, torch, pathways as pw\n"
                "with pw.Session('2x1x4') as s:\n"
                f"    f = s.load({PROGRAM!r})\n"
                "    y = torch.from_dlpack(f(torch.tensor([1., 2.])).y)\n"
                "    print((y @ y).item())\n"
            )
            if "No module named 'torch'" in done.stderr:
                self.skipTest("PyTorch is not installed")
            self.assertEqual((done.returncode, done.stdout), (0, "34.0\n"), done.stderr)

    def test_a_library_of_another_version(self) -> None:
        compiler = shutil.which("cc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("there is no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "old.c"), os.path.join(folder, "old.so")
            with open(source, "w") as file:
                file.write("unsigned pw_abi_version(void) { return 0; }\n")
            subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library], check=True)
            done = run_python("import pathways", LD_PRELOAD=library)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "ImportError: libpathways.so.1 .* ABI 0, .* needs ABI 1")

    def test_a_second_interpreter(self) -> None:
        done = run_python(
            "import pathways, _xxsubinterpreters as interpreters\n"
            "other = interpreters.create()\n"
            "try: interpreters.run_string(other, 'import pathways')\n"
            "except interpreters.RunFailedError as error: print('ImportError' in str(error))\n"
        )
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
