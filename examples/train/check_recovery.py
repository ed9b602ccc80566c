#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains in simulations whose hosts end, at and between checkpoints and during one.

Usage: check_recovery.py PW_RUN [--runs=N] [--seed=S]

Each run loses a host, or two at about the same time, before a control message that is
drawn, and goes on where it was or on other devices. It ends with the parameters, the
losses and the accuracies of an undisturbed run, bit for bit. The seed is printed.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 56
# Of these, the program is on the first two islands.
TOPOLOGY = "3x2x2"
RESULTS = ["w0", "b0", "w1", "b1", "loss", "accuracy"]


def crash(rng, host, control, comes_again):
    again = f"restart_after_seconds: {rng.uniform(1e-4, 1e-2):g} " if comes_again else ""
    return (f"faults {{ at_control: {control} crash {{ host: 'host{host}' "
            f"noticed_after_seconds: {rng.uniform(1e-6, 1e-3):g} {again}}} }}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pw_run")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.runs} runs")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = HERE / "data"
        inputs = ["--input=b0=zeros", "--input=b1=zeros"]
        inputs += [f"--input={a}=@{data}/{a}.npy" for a in ("images", "labels", "w0", "w1")]
        plan = folder / "train.plan"

        def run(program, *more):
            return subprocess.run(
                [options.pw_run, program, f"--topology={TOPOLOGY}", f"--steps={STEPS}",
                 "--world=sim", *inputs, *more],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        undisturbed = run(HERE / "program.mlir", f"--emit-plan={plan}",
                          *(f"--output={r}=@{folder}/{r}.npy" for r in RESULTS))
        if undisturbed.returncode != 0:
            sys.exit(undisturbed.stdout)
        expected = [f"--expected={r}=@{folder}/{r}.npy" for r in RESULTS]
        failures = losses = 0
        for number in range(options.runs):
            rng = random.Random(f"{seed}/{number}")
            control = rng.randint(40, 400)
            hosts = rng.sample(range(4), rng.choice([1, 1, 2]))
            mode = rng.choice(["retry", "rebind"])
            # Without two of them too few are left.
            again = mode == "retry" or len(hosts) == 2 or rng.random() < 0.5
            text = "".join(crash(rng, host, control + 5 * i, again)
                           for i, host in enumerate(hosts))
            (folder / "faults.textproto").write_text(text)
            recovery = [f"--recover={mode}", f"--checkpoint-every={rng.choice([1, 2, 4, 9])}"]
            if rng.random() < 0.3:
                recovery.append(f"--checkpoint-dir={folder}/checkpoints{number}")
            result = run(plan, f"--faults={folder}/faults.textproto", f"--seed={number}",
                         *recovery, *expected)
            losses += "pw-run: lost: " in result.stdout
            if result.returncode == 0:
                continue
            failures += 1
            print(f"run {number} of seed {seed}: {' '.join(recovery)}\n{text}"
                  f"{result.stdout[-2000:]}")
        print(f"{losses} of {options.runs} runs lost a host in the middle, {failures} failures")
        sys.exit(1 if failures or losses == 0 else 0)


if __name__ == "__main__":
    main()
