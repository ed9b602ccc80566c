# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/performance.md and the figures behind it, docs/performance.json.

Usage: performance.py [--check]

Writes the page from the figures; with --check, compares it instead and exits with 1 if
it is another. benchmarks/run --update measures figures and writes both files.
"""

import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, 'docs', 'performance.json')
PAGE = os.path.join(ROOT, 'docs', 'performance.md')

# The rows of the first table: what is measured, its figure, the peer, the figure that is
# the ratio to the peer, and how that reads. At most 15.
HEADLINES = [
    ('A gang of 8 devices in a chain, dispatched', 'dispatch.gang8.us',
     'oneTBB, a flow graph that is reused', 'dispatch.gang8.vs_onetbb', '{:.0f} times as fast'),
    ('A launch of one step on 8 devices, from the call to its end', 'dispatch.launch.us',
     None, None, None),
    ('A hop of a gang of 8 between two processes, shared memory', 'process.gang8.shm.us',
     'bare UCX, the same bytes', 'process.gang8.shm.vs_ucx', '{:.2f} times its time'),
    ('64 MiB from process to process, shared memory', 'process.transfer64M.ucx_shm.GBps',
     'bare UCX', 'process.transfer64M.ucx_shm.vs_ucx', '{:.2f} times its rate'),
    ('A training step of 16 stages on 65,536 devices, simulated', 'sim.devices65536.s',
     None, None, None),
    ('f32 product of 1024 x 1024, one thread', 'kernel.matmul1024.gflops',
     'OpenBLAS', 'kernel.matmul1024.vs_openblas', '{:.2f} times its speed'),
    ('bf16 product of 1024 x 1024, one thread', 'kernel.matmul_bf16.gflops',
     'oneDNN', 'kernel.matmul_bf16.vs_onednn', '{:.2f} times its speed'),
    ('Softmax of 1024 x 1024, one thread', None,
     'oneDNN', 'kernel.softmax.vs_onednn', '{:.2f} times its speed'),
    ('Attention of 2048 rows, fused', None,
     'its three steps as separate kernels', 'kernel.attention2048.vs_parts',
     '{:.2f} times their speed'),
    ('A training step of a classifier, one core', 'train.vs_torch.one_core.us',
     'PyTorch, one thread', 'train.vs_torch', '{:.1f} times as fast'),
    ('A training step of a transformer, two devices', 'partition.transformer.data2.ms',
     'PyTorch, the better of one and two threads', 'partition.transformer.vs_torch',
     '{:.2f} times as fast'),
    ('A training step of a GPT that is written in PyTorch, two devices', 'torch.gpt.ms',
     'PyTorch itself, eager, two threads', 'torch.gpt.vs_eager', '{:.1f} times as fast'),
    ('Bytes of collectives of a partitioned Megatron perceptron', None,
     'the textbook', 'partition.bytes_vs_textbook.megatron_mlp', '{:.2f} times its bytes'),
    ('10,000 calls from text to a plan with object code', 'compile.chain10000.s',
     None, None, None),
    ('Device time of four clients with weights 1:2:4:8, furthest off',
     'tenants.weighted.furthest_off', 'their weights', None, None),
]
assert len(HEADLINES) <= 15

# Why a figure misses its aim: what profiles and experiments have shown.
REASONS = {
    'dispatch.gang8.vs_onetbb_lightweight':
        'A lightweight node runs inside the node before it, as a call. A gang counts the '
        'tokens of 8 entries on two workers.',
    'dispatch.unit.o.8.us':
        'Each computation is a launch of its own, which takes nine messages between '
        'client, controller, scheduler and host.',
    'dispatch.launch.us':
        'A launch takes nine messages between four actors on two cores.',
    'dispatch.launch_cold.us':
        'Two sleeping cores wake one after the other, which takes most of the time.',
    'values.launch_p99_ratio':
        'A worker that copies a piece of 32 KiB finishes it before it handles a launch.',
    'process.launch.tcp.us':
        'Four hops over TLS; three fifths of the controller\'s time are system calls.',
    'process.gang8.shm.vs_ucx':
        'Bare UCX checks nothing. The receiver here checks a record of 8 tokens and '
        'hands them to the devices of another worker.',
    'process.reshard64M.shm.vs_ucx':
        'The array has 8 blocks, so 8 transfers share the connection; bare UCX makes one.',
    'chess9m.vs_torch': 'The difference to the aim is less than the spread of the runs.',
    'import.exponent':
        'The runs spread from 0.98 to 1.17: memory of 100,000 operations leaves the caches.',
    'gather.rows.vs_copy':
        'A copy of one block needs no look-up; a loop in C with a memcpy for each row of '
        '1 KiB reached 0.60 to 0.70.',
    'scatter.rows.vs_copy':
        'Each row is read, added and written, after a look-up of where it goes.',
    'python.get.vs_memcpy': 'The difference is less than the spread of the runs.',
    'python.put.vs_memcpy':
        'The rest is the allocation of an array and two messages between threads.',
    'python.launch.over_c.us':
        'The difference of two programs, -1.5 to 6.3 us in three runs: whether the caller '
        'shares a core with a worker decides more than the language.',
    'kernel.matmul4096.vs_openblas': 'The difference is less than the spread of the runs.',
    'kernel.matmul_tb.vs_openblas': 'The difference is about the spread of the runs.',
    'kernel.matmul_tatb.vs_openblas': 'The difference is less than the spread of the runs.',
    'kernel.attention128.vs_parts':
        'Fusing saves a tenth. The products of 128 rows take most of the time either way.',
    'kernel.attention512.vs_parts':
        'Fusing saves an eighth. The products take most of the time either way.',
    'kernel.layernorm.vs_onednn':
        'Both are close to the time of a memcpy, which bounds them.',
    'kernel.conv3x3_14.vs_onednn':
        'Rows of 14 pixels fill register tiles only in part. Not tried: another order of '
        'the filter, which oneDNN is given.',
}


def number(value):
    return f'{value:.3g}'


def with_unit(entry):
    unit = entry['unit'] if entry['unit'] != 'x' else ''
    return f'{number(entry["value"])} {unit}'.rstrip()


def read():
    with open(DATA, encoding='utf-8') as file:
        return json.load(file)


def write_data(data):
    data['figures'].sort(key=lambda entry: (entry['benchmark'], entry['name']))
    with open(DATA, 'w', encoding='utf-8') as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write('\n')


def verdict(entries):
    if any(entry.get('met') is False for entry in entries):
        return 'missed'
    return 'met' if any(entry.get('met') for entry in entries) else ''


def headline(row, figures):
    what, figure, peer, ratio, text = row
    known = [figures[name] for name in (figure, ratio) if name in figures]
    value = with_unit(figures[figure]) if figure in figures else ''
    against = text.format(figures[ratio]['value']) if ratio in figures else ''
    return f'| {what} | {value} | {peer or ""} | {against} | {verdict(known)} |'


def page(data):
    figures = {entry['name']: entry for entry in data['figures']}
    missed = [entry for entry in data['figures'] if entry.get('met') is False]
    aims = [entry for entry in data['figures'] if 'aim' in entry]
    machines = sorted({(entry['date'], entry['processor'], entry['cores'])
                       for entry in data['figures']})
    lines = [
        '# Performance', '',
        'This page is written by `benchmarks/performance.py` from '
        '[performance.json](performance.json); do not edit it. Each figure is the median '
        'of three runs that alternate with runs of its peer. A verdict compares a figure '
        'with its aim.', '',
        '| what | figure | peer | against the peer | verdict |',
        '| --- | --: | --- | --- | --- |',
        *(headline(row, figures) for row in HEADLINES), '',
        '## Missed aims', '',
        f'{len(aims) - len(missed)} of {len(aims)} aims are met. These are missed:', '',
        '| figure | value | aim | reason |', '| --- | --: | --: | --- |',
        *(f'| `{entry["name"]}` | {with_unit(entry)} | {entry["aim"]} | '
          f'{REASONS.get(entry["name"], "")} |' for entry in missed), '',
        '## All figures', '',
        f'[performance.json](performance.json) has all {len(figures)} figures, each with '
        'its unit, range, date, processor, and the number of cores that other processes '
        'kept busy meanwhile. Where that number is not about 0, two workers wait for a '
        'processor; `best_tenth` and `cpu_us` then come closest to what the code costs. '
        'Machines:', '',
        *(f'* {date}: {processor}, {cores} cores' for date, processor, cores in machines),
        '',
        '`benchmarks/run NAME...` measures again, `benchmarks/run --list` says what each '
        'benchmark measures, and `benchmarks/run --update NAME...` also writes the '
        'figures and this page.', '']
    return '\n'.join(lines)


def problems(data):
    """What is wrong with the figures and the tables above."""
    figures = {entry['name']: entry for entry in data['figures']}
    for row in HEADLINES:
        for name in (row[1], row[3]):
            if name and name not in figures:
                yield f'docs/performance.json has no figure {name} of a headline'
    for entry in data['figures']:
        if entry.get('met') is False and not REASONS.get(entry['name']):
            yield f'{entry["name"]} misses its aim, and benchmarks/performance.py has no reason'


def main(arguments):
    data = read()
    found = list(problems(data))
    if arguments == ['--check']:
        with open(PAGE, encoding='utf-8') as file:
            if file.read() != page(data):
                found.append('docs/performance.md differs; run benchmarks/performance.py')
    else:
        with open(PAGE, 'w', encoding='utf-8') as file:
            file.write(page(data))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
