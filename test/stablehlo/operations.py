# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs functions: control flow, calls, checks, and communication of partitions.

Operations on tensors of one partition are in `elementwise` and `tensors`.
"""

import functools
import re

import numpy as np

import elements
import elementwise
import tensors

np.seterr(all="ignore")

COLLECTIVES = {"stablehlo." + name for name in (
    "all_gather", "all_reduce", "reduce_scatter", "all_to_all", "collective_permute",
    "collective_broadcast", "partition_id")}
RETURNS = {"func.return", "stablehlo.return", "sdy.return", "mpmd.return"}
# Results are the operands.
IDENTITIES = {"stablehlo.optimization_barrier", "sdy.sharding_constraint",
              "sdy.propagation_barrier", "mpmd.named_tensor"}


class Unsupported(Exception):
    """The evaluator lacks an operation."""


def walk(block):
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from walk(region)


class Machine:
    """Runs functions of a module. `checks` has a message, or "", per check."""

    def __init__(self, module):
        self.checks = []
        self.functions = {}
        self.meshes = {}
        for op in module.regions[0].ops:
            if op.name == "func.func":
                self.functions[op["sym_name"]] = op.regions[0]
            if op.name == "sdy.mesh":
                axes = re.findall(r'"([^"]*)"=(\d+)', op["mesh"])
                self.meshes[op["sym_name"]] = {name: int(size) for name, size in axes}
        self.partitions = 1
        if any(self.is_partitioned(op) for op in walk(module.regions[0])):
            sizes = [int(np.prod(list(mesh.values()))) for mesh in self.meshes.values()]
            self.partitions = max(sizes + [int(module["mhlo.num_partitions"] or 1)])

    @staticmethod
    def is_partitioned(op):
        return (op.name in COLLECTIVES or op.name == "sdy.manual_computation" or
                str(op["call_target_name"]).startswith("SPMDFullToShard"))

    def run(self, name, inputs):
        """The results of function `name` on the first partition."""
        envs = [{} for _ in range(self.partitions)]
        return self.function(name, [inputs] * len(envs), envs)[0]

    def function(self, name, arguments, envs):
        block = self.functions[name]
        fresh = [dict(zip(block.arguments, values)) for values in arguments]
        assert len(fresh) == len(envs)
        return self.block(block, fresh)

    def block(self, block, envs):
        """What a block returns, for each partition."""
        for op in block.ops:
            operands = [[env[name] for name in op.operands] for env in envs]
            if op.name in RETURNS:
                return operands
            run = LOCKSTEP.get(op.name)
            if op.name in IDENTITIES:
                results = operands
            elif run:
                results = run(self, op, operands, envs)
            else:
                results = [self.single(op, values, env)
                           for values, env in zip(operands, envs)]
            for env, values in zip(envs, results):
                env.update(zip(op.results, values))
        return [[] for _ in envs]

    def single(self, op, operands, env):
        """The results of an operation that partitions run on their own."""
        run = elementwise.OPERATIONS.get(op.name)
        if run:
            # NumPy widens scalars in sums with numbers of Python.
            dtype = elements.DTYPES[op.types[0].element]
            return [np.asarray(run(op, *operands)).astype(dtype, copy=False)]
        run = tensors.OPERATIONS.get(op.name)
        if not run:
            raise Unsupported(op.name)
        def apply(number, arguments):
            """Runs a region, on scalars or on arrays in their place."""
            region = op.regions[number]
            env.update(zip(region.arguments, arguments))
            return self.block(region, [env])[0]
        results = run(op, operands, apply)
        return results if isinstance(results, list) else [results]


# Control flow.

def call(machine, op, operands, envs):
    return machine.function(op["callee"] or op["decomposition"], operands, envs)


def is_vector(operands):
    """A region that was written for scalars may run on arrays of them."""
    return any(values[0].ndim > 0 for values in operands)


def while_loop(machine, op, operands, envs):
    cond, body = op.regions
    carried = operands
    def run(region):
        for env, values in zip(envs, carried):
            env.update(zip(region.arguments, values))
        return machine.block(region, envs)
    while True:
        test = run(cond)
        if is_vector(test):
            mask = test[0][0]
            if not mask.any():
                return carried
            after = run(body)[0]
            carried = [[np.where(mask, new, old) for new, old in zip(after, carried[0])]]
            continue
        if not test[0][0]:
            return carried
        carried = run(body)


def branch(machine, op, operands, envs):
    def choice(value):
        if op.name == "stablehlo.if":
            return np.where(value, 0, 1)
        last = len(op.regions) - 1
        return np.where((value < 0) | (value > last), last, value)
    if not is_vector(operands):
        return machine.block(op.regions[int(choice(operands[0][0]))], envs)
    chosen = choice(operands[0][0])
    results = [machine.block(region, envs)[0] for region in op.regions]
    return [[np.choose(chosen, np.broadcast_arrays(chosen, *values)[1:])
             for values in zip(*results)]]


# Checks.

def compare(op, got, want, kind):
    element = op.operand_types[0].element
    same = got == want
    if elements.is_float(element):
        same |= np.isnan(got) & np.isnan(want)
    if kind == "close":
        apart = elements.distance(got, want, element)
        most, fewest = op["max_ulp_difference"], op["min_ulp_difference"] or 0
        same = (apart <= (3 if most is None else most)) & (apart >= fewest)
    if kind == "almost_eq":
        tolerance = op["tolerance"] or (1e-4 if "const" in op.name else 1e-3)
        apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
        same |= apart <= tolerance
    if np.all(same):
        return ""
    place = tuple(int(i) for i in np.argwhere(~np.broadcast_to(same, got.shape))[0])
    return (f"{op['call_target_name'] or op.name}{list(place)}: got {got[place]}, "
            f"expected {want[place]}; {np.count_nonzero(~same)} differ")


def check(machine, op, operands, _):
    name = op["call_target_name"] or op.name
    kind = re.sub("check.expect_|_const", "", name)
    for values in operands[:1]:
        machine.checks.append(compare(op, *values, *([op["value"]] if op["value"]
                                                     is not None else []), kind))
    return [[] for _ in operands]


# Communication.

def groups_of(op, count):
    groups = op["replica_groups"]
    if not isinstance(groups, np.ndarray):
        raise Unsupported(f"{op.name} over {groups}")
    if groups.size == 0:
        return [list(range(count))]
    return [[int(i) for i in row if i >= 0] for row in groups]


def collective(combine):
    """An operation whose result depends on the operands of a group in order."""
    @functools.wraps(combine)
    def run(machine, op, operands, envs):
        results = [None] * len(operands)
        for group in groups_of(op, len(operands)):
            for place, member in enumerate(group):
                results[member] = [
                    combine(machine, op, [operands[i][k] for i in group], place,
                            envs[member]) for k in range(len(operands[member]))]
        return results
    return run


def fold(machine, op, parts, env):
    region = op.regions[0]
    total = parts[0]
    for part in parts[1:]:
        env.update(zip(region.arguments, [total, part]))
        total = machine.block(region, [env])[0][0]
    return total


@collective
def all_reduce(machine, op, parts, _, env):
    return fold(machine, op, parts, env)


@collective
def reduce_scatter(machine, op, parts, place, env):
    return np.split(fold(machine, op, parts, env), len(parts),
                    op["scatter_dimension"])[place]


@collective
def all_gather(_, op, parts, *__):
    return np.concatenate(parts, op["all_gather_dim"])


@collective
def all_to_all(_, op, parts, place, __):
    mine = [np.split(part, op["split_count"], op["split_dimension"])[place]
            for part in parts]
    return np.concatenate(mine, op["concat_dimension"])


@collective
def collective_broadcast(_, __, parts, *___):
    return parts[0]


def collective_permute(_, op, operands, __):
    results = [[np.zeros_like(value) for value in values] for values in operands]
    for source, target in op["source_target_pairs"]:
        results[target] = operands[source]
    return results


def partition_id(_, __, operands, ___):
    return [[np.uint32(i)] for i in range(len(operands))]


# Shards.

def slices(shape, parts, places):
    return tuple(slice(size // count * place, size // count * (place + 1))
                 for size, count, place in zip(shape, parts, places))


def cut(value, parts, places):
    """Part `places[d]` of `parts[d]` equal ones of each dimension."""
    return value[slices(value.shape, parts, places)]


def join(shards, layouts):
    """The array of which `shards` are parts."""
    parts = layouts[0][0]
    shape = [size * count for size, count in zip(shards[0].shape, parts)]
    whole = np.zeros(shape, shards[0].dtype)
    for shard, (parts, places) in zip(shards, layouts):
        whole[slices(shape, parts, places)] = shard
    return whole


def sdy_layouts(machine, op, name, manual):
    """For each value and partition, how many parts dimensions have, and which."""
    layouts = []
    for mesh_name, dims in re.findall(r"<@(\w+), \[((?:\{[^}]*\}(?:, )?)*)\]", op[name]):
        mesh = machine.meshes[mesh_name]
        lists = [[axis for axis in re.findall(r'"([^"]*)"', dim) if axis in manual]
                 for dim in re.findall(r"\{([^}]*)\}", dims)]
        shards = []
        for number in range(machine.partitions):
            at = dict(zip(mesh, np.unravel_index(number, tuple(mesh.values()))))
            places = [functools.reduce(lambda i, a: i * mesh[a] + int(at[a]), axes, 0)
                      for axes in lists]
            shards.append(([int(np.prod([mesh[a] for a in axes], dtype=int))
                            for axes in lists], places))
        layouts.append(shards)
    return layouts


def manual_computation(machine, op, operands, envs):
    manual = re.findall(r'"([^"]*)"', op["manual_axes"])
    region = op.regions[0]
    inner = sdy_layouts(machine, op, "in_shardings", manual)
    for number, env in enumerate(envs):
        shards = [cut(value, *layout[number])
                  for value, layout in zip(operands[number], inner)]
        env.update(zip(region.arguments, shards))
    shards = machine.block(region, envs)
    outer = sdy_layouts(machine, op, "out_shardings", manual)
    results = [join([values[i] for values in shards], layout)
               for i, layout in enumerate(outer)]
    return [results] * len(envs)


def gspmd_layouts(text, rank, count):
    """For each partition, how many parts dimensions have, and which."""
    found = re.search(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))",
                      text)
    if not found:
        return [([1] * rank, [0] * rank)] * count
    def read(part):
        return [int(n) for n in part.split(",")]
    tiles = read(found.group(1))
    if found.group(2):
        devices = np.arange(count).reshape(read(found.group(2)))
        if found.group(3):
            devices = devices.transpose(read(found.group(3)))
    else:
        devices = np.array(read(found.group(4)))
    devices = devices.reshape(tiles)
    return [(tiles[:rank], [int(i) for i in np.argwhere(devices == number)[0][:rank]])
            for number in range(count)]


def custom_call(machine, op, operands, envs):
    target = op["call_target_name"]
    if target.startswith("check."):
        return check(machine, op, operands, envs)
    rank = operands[0][0].ndim if operands[0] else 0
    if target == "Sharding":
        for env in envs:
            env["sharding of " + op.results[0]] = op["mhlo.sharding"]
        return operands
    if target == "SPMDFullToShardShape":
        text = envs[0].get("sharding of " + op.operands[0], "")
        layouts = gspmd_layouts(text, rank, len(envs))
        return [[cut(values[0], *layout)] for values, layout in zip(operands, layouts)]
    if target == "SPMDShardToFullShape":
        layouts = gspmd_layouts(op["mhlo.sharding"], rank, len(envs))
        return [[join([values[0] for values in operands], layouts)]] * len(envs)
    name = "chlo." + target.rsplit(".", 1)[-1].replace("topk", "top_k")
    if name not in elementwise.OPERATIONS and name not in tensors.OPERATIONS:
        raise Unsupported("custom call @" + target)
    op.name = name
    return [machine.single(op, values, env) for values, env in zip(operands, envs)]


LOCKSTEP = {
    "func.call": call, "stablehlo.composite": call, "mpmd.call": call,
    "stablehlo.while": while_loop, "stablehlo.if": branch, "stablehlo.case": branch,
    "stablehlo.custom_call": custom_call,
    "stablehlo.all_gather": all_gather, "stablehlo.all_reduce": all_reduce,
    "stablehlo.reduce_scatter": reduce_scatter, "stablehlo.all_to_all": all_to_all,
    "stablehlo.collective_broadcast": collective_broadcast,
    "stablehlo.collective_permute": collective_permute,
    "stablehlo.partition_id": partition_id,
    "sdy.manual_computation": manual_computation,
    **{f"check.expect_{kind}": check for kind in (
        "eq", "eq_const", "close", "almost_eq", "almost_eq_const")},
}
