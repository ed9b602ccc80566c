# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of this folder in NumPy, in double precision, with their inputs.

Gradients are written without the formulas of the programs where that is possible:
convolutions are sums over pixels, and scans are lists.
"""

import pathlib

import numpy as np

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "train" / "data"
BATCH = 32


def weights(random, *shape):
    inputs = int(np.prod(shape[:-1]))
    return (random.standard_normal(shape) / np.sqrt(inputs)).astype(np.float32)


def digits(steps):
    """Images from 0 to 1 and their labels, in batches, again from the start."""
    images = np.load(DIGITS / "images.npy").reshape(-1, 64)
    labels = np.load(DIGITS / "labels.npy").reshape(len(images), -1)
    if labels.shape[1] > 1:
        labels = labels.argmax(1)
    count = len(images) // BATCH
    order = np.arange(steps) % count
    x = (images.astype(np.float32) / 16).reshape(count, BATCH, 64)[order]
    return x, labels.astype(np.int32).reshape(count, BATCH)[order]


def one_hot(labels):
    return np.eye(10)[labels]


def cross_entropy(logits, labels):
    """The mean loss, and its gradient for the logits."""
    shifted = logits - logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    targets = one_hot(labels)
    return -(targets * logs).sum() / len(labels), (np.exp(logs) - targets) / len(labels)


def descend(state, gradient, rate):
    return {name: value - rate * gradient[name] for name, value in state.items()}


# Each class has the initial state, the inputs of all steps, and a step.

class Train:
    state_names = ["b1", "b2", "w1", "w2"]

    def __init__(self, steps, seed=1):
        random = np.random.default_rng(seed)
        self.state = {"b1": np.zeros(32, np.float32), "b2": np.zeros(10, np.float32),
                      "w1": weights(random, 64, 32), "w2": weights(random, 32, 10)}
        self.inputs = dict(zip("xy", digits(steps)))

    @staticmethod
    def step(state, x, y):
        h = np.tanh(x @ state["w1"] + state["b1"])
        loss, d_logits = cross_entropy(h @ state["w2"] + state["b2"], y)
        d_z = d_logits @ state["w2"].T * (1 - h * h)
        gradient = {"b1": d_z.sum(0), "b2": d_logits.sum(0), "w1": x.T @ d_z,
                    "w2": h.T @ d_logits}
        return descend(state, gradient, 0.5), loss


class Scan:
    state_names = ["b", "w"]

    def __init__(self, steps, seed=2):
        random = np.random.default_rng(seed)
        self.state = {"b": np.zeros((6, 16), np.float32),
                      "w": np.stack([weights(random, 16, 16) for _ in range(6)])}
        x = random.standard_normal((steps, 8, 16)).astype(np.float32)
        self.inputs = {"x": x, "y": np.tanh(x[:, :, ::-1]).astype(np.float32)}

    @staticmethod
    def step(state, x, y):
        inputs, h = [], x
        for w, b in zip(state["w"], state["b"]):
            inputs.append(h)
            h = np.tanh(h @ w + b)
        error = h - y
        d_h, outs = 2 * error / error.size, inputs[1:] + [h]
        gradient = {"b": [], "w": []}
        for w, before, after in zip(state["w"][::-1], inputs[::-1], outs[::-1]):
            d_z = d_h * (1 - after * after)
            gradient["b"].insert(0, d_z.sum(0))
            gradient["w"].insert(0, before.T @ d_z)
            d_h = d_z @ w.T
        gradient = {name: np.stack(parts) for name, parts in gradient.items()}
        return descend(state, gradient, 0.2), (error * error).mean()


class Convolutions:
    state_names = ["k1", "k2", "w"]

    def __init__(self, steps, seed=3):
        random = np.random.default_rng(seed)
        self.state = {"k1": weights(random, 3, 3, 1, 4), "k2": weights(random, 3, 3, 4, 8),
                      "w": weights(random, 32, 10)}
        x, y = digits(steps)
        self.inputs = {"x": x.reshape(steps, BATCH, 8, 8, 1), "y": y}

    @staticmethod
    def step(state, x, y):
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        c1 = np.maximum(convolve(padded, state["k1"]), 0)
        # Windows of four values, and the first of the largest.
        windows = c1.reshape(-1, 4, 2, 4, 2, 4).transpose(0, 1, 3, 5, 2, 4)
        windows = windows.reshape(-1, 4, 4, 4, 4)
        chosen = windows.argmax(-1)
        pooled = windows.max(-1)
        c2 = np.maximum(convolve(pooled, state["k2"]), 0)
        flat = c2.reshape(len(x), 32)
        loss, d_logits = cross_entropy(flat @ state["w"], y)
        d_c2 = (d_logits @ state["w"].T).reshape(c2.shape) * (c2 > 0)
        d_k2, d_pooled = convolve_gradients(pooled, state["k2"], d_c2)
        d_windows = np.zeros(windows.shape)
        np.put_along_axis(d_windows, chosen[..., None], d_pooled[..., None], -1)
        d_c1 = d_windows.reshape(-1, 4, 4, 4, 2, 2).transpose(0, 1, 4, 2, 5, 3)
        d_c1 = d_c1.reshape(c1.shape) * (c1 > 0)
        d_k1, _ = convolve_gradients(padded, state["k1"], d_c1)
        gradient = {"k1": d_k1, "k2": d_k2, "w": flat.T @ d_logits}
        return descend(state, gradient, 0.5), loss


def convolve(x, k):
    rows, columns = x.shape[1] - 2, x.shape[2] - 2
    return sum(x[:, i:i + rows, j:j + columns] @ k[i, j] for i in range(3)
               for j in range(3))


def convolve_gradients(x, k, d_out):
    """The gradients for the filter and for the image."""
    rows, columns = d_out.shape[1:3]
    d_k, d_x = np.zeros(k.shape), np.zeros(x.shape)
    for i in range(3):
        for j in range(3):
            part = x[:, i:i + rows, j:j + columns]
            d_k[i, j] = np.einsum("nyxi,nyxo->io", part, d_out)
            d_x[:, i:i + rows, j:j + columns] += d_out @ k[i, j].T
    return d_k, d_x


PROGRAMS = {"train": Train, "scan": Scan, "convolutions": Convolutions}


def losses(name, steps):
    """The losses of all steps, and the state after the last one."""
    program = PROGRAMS[name](steps)
    state = {key: value.astype(np.float64) for key, value in program.state.items()}
    result = []
    for i in range(steps):
        state, loss = program.step(state, *(v[i] for v in program.inputs.values()))
        result.append(loss)
    return np.array(result), state


def shard_map_inputs():
    random = np.random.default_rng(4)
    return {"x": random.standard_normal((8, 16)).astype(np.float32),
            "w": weights(random, 16, 16)}


def shard_map(x, w):
    """The results of shard_map.mlir, on whole arrays."""
    h = np.tanh(x.astype(np.float64) @ w)
    return [np.roll(h, 2, 0), h.T @ h, h, h.sum()]
