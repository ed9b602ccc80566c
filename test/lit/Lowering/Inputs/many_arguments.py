# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# many_arguments.py PW_OPT PW_RUN FOLDER: one call that takes and gives many arrays.
# Compiling it for 4,000 may take no more than twice the memory that it takes for 500,
# most of which is that of the program without a plan. With 300, the results must be
# right, also where a loop in the body uses all of them.

import os
import pathlib
import subprocess
import sys

T = "tensor<4xf32>"


def program(count, donates=False, loops=False):
    """r[i] = a[i] + a[i + 1], twice if it loops: 2 a[i] + ... in the end."""
    arrays = range(count)

    def each(text):
        return ", ".join(text.format(i=i, j=(i + 1) % count) for i in arrays)

    types, shards = ", ".join(["!x"] * count), ", ".join([T] * count)
    sums = "".join(
        f"  %s{i} = arith.addf %{'i' if loops else 'a'}{i}, "
        f"%{'i' if loops else 'a'}{(i + 1) % count} : {T}\n" for i in arrays)
    if loops:
        body = ("  %c0 = arith.constant 0 : index\n"
                "  %c1 = arith.constant 1 : index\n"
                "  %c2 = arith.constant 2 : index\n"
                f"  %r:{count} = scf.for %k = %c0 to %c2 step %c1 "
                f"iter_args({each('%i{i} = %a{i}')}) -> ({shards}) {{\n{sums}"
                f"  scf.yield {each('%s{i}')} : {shards}\n  }}\n"
                f"  return {each('%r#{i}')} : {shards}\n")
    else:
        body = f"{sums}  return {each('%s{i}')} : {shards}\n"
    donation = f" donate({each('%a{i}')})" if donates else ""
    return ('pw.slice @s mesh <"d" = 2>\n!x = !pw.array<4xf32, @s, [{"d"}]>\n'
            f"func.func private @f({each('%a{i}: ' + T)}) -> ({shards}) {{\n"
            f"{body}}}\n"
            f"pw.program @p({each('%a{i}: !x')}) -> ({types}) {{\n"
            f"  %0:{count} = pw.call @f({each('%a{i}')}){donation} : "
            f"({types}) -> ({types})\n"
            f"  pw.return {each('%0#{i}')} : {types}\n}}\n")


def peak_memory(pw_opt, source):
    """KiB that the compiler held at most."""
    process = subprocess.Popen([pw_opt, source,
                                "--pw-compile=topology=1x1x2", "-o",
                                os.devnull])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{source}: exit status {process.returncode}")
    return usage.ru_maxrss


def main():
    pw_opt, pw_run, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, donates in (("plain", False), ("donated", True)):
        peaks = []
        for count in (500, 4000):
            source = folder / f"{name}{count}.mlir"
            source.write_text(program(count, donates))
            peaks.append(peak_memory(pw_opt, source))
        print(f"4000 arguments, {name}: memory is " +
              ("linear" if peaks[1] <= 2 * peaks[0] else f"{peaks} KiB"))
    for loops in (False, True):
        count = 300
        source = folder / f"values{int(loops)}.mlir"
        source.write_text(program(count, loops=loops))
        values = list(range(count))
        for _ in range(2 if loops else 1):
            values = [values[i] + values[(i + 1) % count] for i in range(count)]
        subprocess.run(
            [pw_run, source, "--topology=1x1x2"] +
            [f"--input=a{i}={i}" for i in range(count)] +
            [f"--expected=result{i}={value}" for i, value in enumerate(values)],
            check=True, stdout=subprocess.DEVNULL)
        print(f"{count} arguments{' in a loop' if loops else ''}: results are "
              "right")


if __name__ == "__main__":
    main()
