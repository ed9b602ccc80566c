# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of the pipeline's training, and what it should give, in NumPy."""

import numpy

import pipeline


def train(xs, targets, weights, rate):
    """The loss of each micro-batch, and the weights after the last step."""
    losses = numpy.zeros(xs.shape[:2])
    for step in range(xs.shape[0]):
        totals = [numpy.zeros_like(w) for w in weights]
        for batch in range(xs.shape[1]):
            inputs = [xs[step, batch]]
            for w in weights:
                inputs.append(numpy.maximum(inputs[-1] @ w, 0))
            d = inputs[-1] - targets[step, batch]
            losses[step, batch] = (d * d).sum() / 2
            for stage in reversed(range(len(weights))):
                g = numpy.where(inputs[stage + 1] > 0, d, 0)
                totals[stage] += inputs[stage].T @ g
                d = g @ weights[stage].T
        weights = [w - rate * total for w, total in zip(weights, totals)]
    return losses, weights


def make_arrays(args):
    """Inputs and expected results, by name."""
    random = numpy.random.default_rng(args.data_seed)

    def uniform(*shape, scale=1.0):
        return random.uniform(-scale, scale, shape).astype(numpy.float32)

    batches = (args.steps, args.iterations, args.rows, args.width)
    # The scale keeps the size of activations from layer to layer.
    scale = (6 / args.width) ** 0.5
    arrays = {"xs": uniform(*batches), "targets": uniform(*batches)}
    weights = [
        uniform(args.width, args.width, scale=scale)
        for _ in range(args.slices * args.chunks)
    ]
    # In double precision, so that it is closer to the truth than any order of the
    # additions in single precision.
    exact = [
        array.astype(numpy.float64)
        for array in (arrays["xs"], arrays["targets"], *weights)
    ]
    losses, last = train(exact[0], exact[1], exact[2:], args.rate)
    results = {"losses": losses}
    for stage, w in enumerate(weights):
        arrays[f"w{stage}"] = w
        results[f"w{stage}"] = last[stage]
    return arrays, results


def write(args, folder):
    """Writes program, inputs and expected results to `folder`. Returns the arguments of
    pw-run for a training with them."""
    arrays, results = make_arrays(args)
    program = folder / "program.mlir"
    program.write_text(pipeline.generate(args))
    flags = [program, f"--steps={args.steps}", "--rtol=1e-3", "--atol=1e-5"]
    for flag, values in (("input", arrays), ("expected", results)):
        for name, array in values.items():
            path = folder / f"{flag}.{name}.npy"
            numpy.save(path, array.astype(numpy.float32))
            flags.append(f"--{flag}={name}=@{path}")
    return flags


def add_arguments(parser):
    parser.add_argument("--steps", type=int, default=2, help="training steps")
    parser.add_argument("--data-seed", type=int, default=1, help="of the inputs")
