#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of this folder and compares their results with NumPy's.

    check.py PW_RUN [STEPS]

Trains for 200 steps, unless STEPS says otherwise, on 1 to 8 devices that --mesh
chooses. Exits with 77 if NumPy is missing.
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import answers

FOLDER = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TWO_HOSTS = "--topology=1x2x4"
ONE = ["--topology=1x1x1", "--oversubscribe"]


def mesh(**sizes):
    return [f"--mesh=devices:{axis}={size}" for axis, size in sizes.items()]


# Flags of the runs of each program.
RUNS = {
    "train": [ONE + mesh(data=1, model=1), ["--topology=1x1x2"] + mesh(data=1, model=2),
              ["--topology=1x1x4"], [TWO_HOSTS] + mesh(data=4, model=2),
              ["--topology=1x1x8", "--processes"] + mesh(data=8, model=1),
              ["--topology=1x2x2", "--world=sim"]],
    "scan": [["--topology=1x1x1"], ["--topology=1x1x1", "--strict-rounding"]],
    "convolutions": [ONE + mesh(data=1), ["--topology=1x1x4"],
                     [TWO_HOSTS] + mesh(data=8), ["--topology=1x1x2"] + mesh(data=2)],
    "shard_map": [["--topology=1x1x4"], ONE, ["--topology=1x2x2"],
                  ["--topology=1x4x1", "--processes"]],
}


def run(pw_run, name, inputs, outputs, flags, folder):
    """The results of a program, by name."""
    command = [pw_run, str(FOLDER / f"{name}.mlir"), *flags]
    for i, (key, value) in enumerate(inputs.items()):
        path = folder / f"in{i}.npy"
        np.save(path, value)
        command.append(f"--input={key}=@{path}")
    paths = {key: folder / f"out{i}.npy" for i, key in enumerate(outputs)}
    command += [f"--output={key}=@{path}" for key, path in paths.items()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(command) + "\n" + done.stdout + done.stderr)
        sys.exit(1)
    return {key: np.load(path) for key, path in paths.items()}


def check_training(pw_run, name, steps, folder):
    program = answers.PROGRAMS[name](steps)
    want, state = answers.losses(name, steps)
    inputs = {f"state['{key}']": program.state[key] for key in program.state_names}
    inputs.update(program.inputs)
    outputs = [f"result[0]['{key}']" for key in program.state_names] + ["result[1]"]
    failed = 0
    for flags in RUNS[name]:
        carried = ["--carry=state:[0]", "--stepped=x,y,result[1]", f"--steps={steps}"]
        results = run(pw_run, name, inputs, outputs, flags + carried, folder)
        apart = np.abs(results["result[1]"] - want).max()
        values = max(np.abs(results[f"result[0]['{key}']"] - state[key]).max()
                     for key in program.state_names)
        is_right = apart <= 1e-4 and values <= 1e-3
        failed += not is_right
        print(f"{name} {' '.join(flags)}: {steps} losses from {want[0]:.4f} to "
              f"{want[-1]:.4f}, {apart:.1e} apart" + ("" if is_right else ": FAILED"))
    return failed


def check_shard_map(pw_run, folder):
    inputs = answers.shard_map_inputs()
    wanted, failed = answers.shard_map(**inputs), 0
    names = [f"result[{i}]" for i in range(len(wanted))]
    for flags in RUNS["shard_map"]:
        results = run(pw_run, "shard_map", inputs, names, flags, folder)
        apart = max(np.abs(results[name] - want).max()
                    for name, want in zip(names, wanted))
        failed += apart > 1e-4
        print(f"shard_map {' '.join(flags)}: {apart:.1e} apart"
              + (": FAILED" if apart > 1e-4 else ""))
    return failed


def main(arguments):
    if not arguments:
        print(__doc__)
        return 2
    steps = int(arguments[1]) if len(arguments) > 1 else 200
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failed = check_shard_map(arguments[0], folder)
        for program in answers.PROGRAMS:
            failed += check_training(arguments[0], program, steps, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
