# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites a graph with in-place operations into one without.

Each tensor of a graph is an alias: a root, which has memory of its own, or a view of
another alias. A write to a view becomes a write to what it is a view of, down to the
root. A read of a view whose root has changed since makes the view anew. Gradients are in
the graph already, so this works for writes that PyTorch differentiates through.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg

from pathways.torch import _pseudo
from pathways.torch._errors import TraceError

aten: Any = torch.ops.aten  # type: ignore[attr-defined]


def schema_of(node: Node) -> Any:
    return getattr(node.target, "_schema", None) if node.op == "call_function" else None


def written(schema: Any) -> list[tuple[int, Any]]:
    """Returns the arguments that a call writes to, with their places."""
    return [
        (i, argument)
        for i, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]


def is_view(schema: Any) -> bool:
    return any(
        result.alias_info is not None and not result.alias_info.is_write
        for result in schema.returns
    )


def is_inplace_view(target: Any) -> bool:
    return any(tag.name == "inplace_view" for tag in target.tags)


def op_name(target: Any) -> str:
    """Returns "aten.add.Tensor" for the overload."""
    return str(getattr(target, "lowering_name", target))


def shape_of(node: Node) -> tuple[int, ...]:
    return tuple(int(n) for n in node.meta["tensor_meta"].shape)


class _Alias:
    """A tensor of the graph. `node` has its value at `version` of the root."""

    def __init__(self, node: Node, original: Node, parent: _Alias | None = None) -> None:
        self.node = node
        self.original = original
        self.parent = parent
        self.root: _Alias = parent.root if parent else self
        self.version: int = self.root.version if parent else 0
        self.index: int | None = None
        self.call: Node = original


class _Functionalizer:
    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.graph = Graph()
        self.aliases: dict[Node, _Alias] = {}
        self.others: dict[Node, Any] = {}  # nodes that are no tensors: tuples, numbers
        self.versions: dict[Node, int] = {}  # of the roots that calls make views of

    # Reads and writes.

    def read(self, alias: _Alias) -> Node:
        if alias.parent is not None and alias.version != alias.root.version:
            call = alias.call
            base = self.read(alias.parent)
            arguments = (base, *self.mapped(call.args[1:]))
            made = self.emit(call.target, arguments, self.mapped(call.kwargs), call)
            if alias.index is not None:
                made = self.emit(operator.getitem, (made, alias.index), {}, alias.original)
            alias.node, alias.version = made, alias.root.version
        return alias.node

    def check_write(self, alias: _Alias, node: Node) -> None:
        if alias.root.original.meta.get("pathways.outside"):
            raise TraceError(
                f"{op_name(node.target)} writes to a tensor that is no argument, and what "
                "it writes would be lost: trace the module that owns it, call its eval(), "
                "or make the tensor an argument",
                node.meta.get("pathways.place"),
            )

    def write(self, alias: _Alias, value: Node) -> None:
        if alias.parent is None:
            alias.version += 1
        else:
            self.write(alias.parent, self.put_back(alias, value))
            alias.version = alias.root.version
        alias.node = value

    def emit(self, target: Any, args: Any, kwargs: Any, like: Node) -> Node:
        made: Node = self.graph.call_function(target, args, kwargs)
        made.meta = dict(like.meta)
        return made

    def mapped(self, arguments: Any) -> Any:
        return map_arg(arguments, self.value)

    def value(self, node: Node) -> Any:
        alias = self.aliases.get(node)
        return self.read(alias) if alias is not None else self.others[node]

    def put_back(self, alias: _Alias, value: Node) -> Node:
        """Returns what `alias` is a view of, with `value` in the place of the view."""
        parent = alias.parent
        assert parent is not None
        base, call, like = self.read(parent), alias.call, parent.original
        shape = shape_of(like)
        rank = len(shape)
        name = op_name(call.target).split(".")[1]
        args: list[Any] = list(call.args[1:])

        def argument(i: int, key: str, default: Any) -> Any:
            return args[i] if i < len(args) else call.kwargs.get(key, default)

        def emit(target: Any, *args: Any) -> Node:
            return self.emit(target, args, {}, like)

        if name in ("alias", "detach", "lift_fresh", "lift"):
            return value
        if name in (
            "view",
            "_reshape_alias",
            "reshape",
            "unsqueeze",
            "squeeze",
            "_unsafe_view",
            "expand",
        ):
            if isinstance(argument(0, "", None), torch.dtype):
                return emit(aten.view.dtype, value, like.meta["tensor_meta"].dtype)
            if torch.Size(shape_of(alias.original)).numel() != torch.Size(shape).numel():
                raise TraceError(
                    "an in-place operation writes to an expanded tensor, in which several "
                    "elements are one; clone it first",
                    alias.original.meta.get("pathways.place"),
                )
            return emit(aten.view.default, value, list(shape))
        if name == "t":
            return emit(aten.t.default, value)
        if name in ("transpose", "swapaxes", "swapdims"):
            return emit(aten.transpose.int, value, args[0], args[1])
        if name == "permute":
            order = [d % max(rank, 1) for d in args[0]]
            return emit(aten.permute.default, value, [order.index(d) for d in range(rank)])
        if name == "select":
            return emit(aten.select_scatter.default, base, value, args[0], args[1])
        if name == "slice":
            dim, start = argument(0, "dim", 0), argument(1, "start", None)
            end, step = argument(2, "end", None), argument(3, "step", 1)
            return emit(aten.slice_scatter.default, base, value, dim, start, end, step)
        if name == "diagonal":
            offset, dim1 = argument(0, "offset", 0), argument(1, "dim1", 0)
            dim2 = argument(2, "dim2", 1)
            return emit(aten.diagonal_scatter.default, base, value, offset, dim1, dim2)
        if name == "unbind":
            dim = argument(0, "dim", 0)
            return emit(aten.select_scatter.default, base, value, dim, alias.index)
        if name in ("split", "split_with_sizes"):
            dim = argument(1, "dim", 0)
            sizes, index = args[0], alias.index or 0
            start = sizes * index if isinstance(sizes, int) else sum(sizes[:index])
            stop = start + shape_of(alias.original)[dim]
            return emit(aten.slice_scatter.default, base, value, dim, start, stop)
        if name == "strided_view":
            return emit(_pseudo.strided_scatter, base, value, *args)
        raise TraceError(
            f"an in-place operation writes to the result of {op_name(call.target)}; "
            "clone it first",
            alias.original.meta.get("pathways.place"),
        )

    # Nodes.

    def add(self, node: Node) -> None:
        schema = schema_of(node)
        if node.op == "call_function" and node.target is operator.getitem:
            self.add_getitem(node)
        elif schema is None:
            made = self.graph.node_copy(node, lambda n: self.value(n))
            self.set(node, made)
        elif op_name(node.target) == "aten.as_strided.default":
            self.add_as_strided(node)
        elif is_inplace_view(node.target):
            self.add_view_in_place(node)
        elif written(schema):
            self.add_write(node, schema)
        elif is_view(schema) and isinstance(node.args[0], Node):
            parent = self.aliases[node.args[0]]
            made = self.graph.node_copy(node, lambda n: self.value(n))
            if "tensor_meta" in node.meta:
                self.aliases[node] = _Alias(made, node, parent)
            else:
                self.others[node] = made
                self.versions[node] = parent.root.version
        elif op_name(node.target) == "aten.native_batch_norm.default":
            self.add_batch_norm(node)
        else:
            self.set(node, self.graph.node_copy(node, lambda n: self.value(n)))

    def set(self, node: Node, made: Node) -> None:
        if "tensor_meta" in node.meta or node.op in ("placeholder", "get_attr"):
            self.aliases[node] = _Alias(made, node)
        else:
            self.others[node] = made

    def add_getitem(self, node: Node) -> None:
        call, index = node.args
        assert isinstance(call, Node) and isinstance(index, int)
        schema = schema_of(call)
        made = self.graph.node_copy(node, lambda n: self.others[n])
        if schema is not None and is_view(schema):
            base = call.args[0]
            assert isinstance(base, Node)
            alias = _Alias(made, node, self.aliases[base])
            alias.call, alias.index = call, index
            alias.version = self.versions[call]
            self.aliases[node] = alias
        else:
            self.set(node, made)

    def add_as_strided(self, node: Node) -> None:
        """Strides are those of memory: it is a view of the root, whose are known."""
        args: list[Any] = [*node.args, None, None, None]
        source, size, stride, offset = args[:4]
        assert isinstance(source, Node)
        root = self.aliases[source].root
        place = node.meta.get("pathways.place")
        if "tensor_meta" not in root.original.meta:
            raise TraceError("as_strided: the strides of its operand are not known", place)
        meta = root.original.meta["tensor_meta"]
        if offset is None and source is not root.original:
            raise TraceError("as_strided of a view needs a storage_offset", place)
        places = (list(meta.stride), list(size), list(stride), int(offset or 0))
        made = self.emit(_pseudo.strided_view, (self.read(root), *places), {}, node)
        alias = _Alias(made, node, root)
        alias.call = made
        self.aliases[node] = alias

    def add_view_in_place(self, node: Node) -> None:
        """squeeze_ and others: from now on, the tensor is a view of what it was."""
        source = node.args[0]
        assert isinstance(source, Node)
        parent = self.aliases[source]
        call = functional_variant(node, False)
        arguments = (self.read(parent), *self.mapped(node.args[1:]))
        made = self.emit(call, arguments, self.mapped(node.kwargs), node)
        alias = _Alias(made, node, parent)
        alias.call = made
        self.aliases[source] = self.aliases[node] = alias

    def add_write(self, node: Node, schema: Any) -> None:
        places = written(schema)
        targets: list[Node] = []
        for i, argument in places:
            target = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
            if not isinstance(target, Node):
                raise TraceError(
                    f"{op_name(node.target)} writes to {argument.name}, which is not one "
                    "tensor; use the operation that returns its result",
                    node.meta.get("pathways.place"),
                )
            self.check_write(self.aliases[target], node)
            targets.append(target)
        is_out = any(argument.kwarg_only for _, argument in places)
        function = functional_variant(node, is_out)
        outs = {argument.name for _, argument in places}
        kwargs = {k: v for k, v in node.kwargs.items() if not is_out or k not in outs}
        made = self.graph.call_function(
            function, self.mapped(tuple(node.args)), self.mapped(kwargs)
        )
        made.meta = dict(node.meta)
        if len(targets) == 1:
            made.meta["tensor_meta"] = targets[0].meta["tensor_meta"]
            made.meta["pathways.in_place"] = True
            self.write(self.aliases[targets[0]], made)
            self.aliases[node] = self.aliases[targets[0]]
            return
        for i, target in enumerate(targets):
            item = self.emit(operator.getitem, (made, i), {}, target)
            self.write(self.aliases[target], item)
        self.others[node] = made

    def add_batch_norm(self, node: Node) -> None:
        """Running statistics that a call updates become further results."""
        args = list(node.args)
        mean, variance, training = args[3], args[4], args[5]
        made = self.graph.node_copy(node, lambda n: self.value(n))
        self.others[node] = made
        if not training or mean is None:
            return
        assert isinstance(mean, Node) and isinstance(variance, Node)
        made.target = _pseudo.batch_norm
        for i, statistic in ((3, mean), (4, variance)):
            self.check_write(self.aliases[statistic], node)
            item = self.emit(operator.getitem, (made, i), {}, statistic)
            self.write(self.aliases[statistic], item)


def functional_variant(node: Node, is_out: bool) -> Any:
    """Returns the overload that returns what `node` writes."""
    target: Any = node.target
    schema = target._schema
    name = schema.name.rpartition("::")[2]
    pseudo = _pseudo.IN_PLACE.get(op_name(target))
    if pseudo is not None:
        return pseudo
    stem = name if is_out else name[:-1] if name.endswith("_") else name
    packet = getattr(aten, stem, None)
    wanted = [
        str(a.type)
        for a in schema.arguments
        if not (is_out and a.alias_info is not None and a.alias_info.is_write)
    ]
    for overload in packet.overloads() if packet is not None else ():
        candidate = getattr(packet, overload)
        arguments = candidate._schema.arguments
        if not written(candidate._schema) and [str(a.type) for a in arguments] == wanted:
            return candidate
    raise TraceError(
        f"{op_name(target)} works in place and has no form that returns its result; "
        "use such an operation",
        node.meta.get("pathways.place"),
    )


def needs_work(graph: Graph) -> bool:
    for node in graph.nodes:
        schema = schema_of(node)
        if schema is None:
            continue
        name = op_name(node.target)
        if written(schema) or name == "aten.as_strided.default":
            return True
        if name == "aten.native_batch_norm.default" and node.args[5] and node.args[3]:
            return True
    return False


def functionalize(
    module: GraphModule,
) -> tuple[GraphModule, dict[int, int]]:
    """Returns a graph without in-place operations. The values that placeholders have at
    the end, if they were written to, are further results: the dictionary has the number
    of the result for that of the placeholder."""
    if not needs_work(module.graph):
        return module, {}
    work = _Functionalizer(module)
    placeholders: list[Node] = []
    changed: dict[int, int] = {}
    node: Any
    for node in module.graph.nodes:
        if node.op == "output":
            values = work.mapped(tuple(node.args[0]))
            extra: list[Node] = []
            for i, placeholder in enumerate(placeholders):
                alias = work.aliases[placeholder]
                if alias.version:
                    changed[i] = len(values) + len(extra)
                    extra.append(work.read(alias))
            work.graph.output((*values, *extra))
            continue
        if node.op == "placeholder":
            placeholders.append(node)
        work.add(node)
    return GraphModule(module, work.graph), changed
