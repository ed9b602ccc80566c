#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains with pw-run in one launch, and through the C++ API in several whose
# parameters stay on the devices, or are saved on one topology and loaded on
# another, or while the program leaves devices and comes back: the same bits.
#
#   check_api.py PW_RUN TRAIN_API

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RESULTS = ["loss", "accuracy", "w0", "b0", "w1", "b1"]


def elements(path):
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little") :]


def main():
    pw_run, train_api = sys.argv[1:]
    script = pathlib.Path(__file__).resolve().parent / "run"
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        outputs = [f"--output={r}=@{folder / r}.npy" for r in RESULTS]
        subprocess.run([script, *outputs], env={**os.environ, "PW_RUN": pw_run},
                       stdout=subprocess.DEVNULL, check=True)
        for how in (["2x1x4", "threads"], ["2x2x2", "threads"], ["1x1x1", "threads"],
                    ["2x1x4", "sim"], ["2x1x4", "threads", "2x4x1"],
                    ["1x1x1", "sim", "2x2x2"],
                    ["2x2x2", "threads", "host1,host3"], ["2x2x2", "sim", "island1"],
                    ["3x2x2", "sim", "island0,host3"],
                    ["1x4x2", "threads", "host0,host2,island0/host1/device0"],
                    ["2x2x2", "processes", "host1,island1/host2/device0"]):
            shutil.rmtree(folder / "checkpoint", ignore_errors=True)
            subprocess.run([train_api, name, *how], check=True)
            for result in RESULTS:
                got = (folder / f"{result}.bin").read_bytes()
                if got != elements(folder / f"{result}.npy"):
                    print(f"FAILED '{result}' on {', '.join(how)}: differs")
                    failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
