"""Functions of tensors, exported to ONNX by torch: one, or several by one export."""

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

import onnx
import onnx.inliner
import torch
from torch import Tensor, nn

from thinstack.errors import ExportError
from thinstack.export.onnx.graph import OPSET, graph_of


class Part(nn.Module):
    """A function of tensors, and the modules whose weights it reads, by name."""

    def __init__(self, call: Callable[..., Any], **modules: nn.Module | None):
        super().__init__()
        self._call = call
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *inputs: Tensor) -> Any:
        return self._call(*inputs)


class Asked(NamedTuple):
    """What `_export` is asked for."""

    name: str
    part: Part
    example: Sequence[Tensor]
    sizes: Sequence[Any]


def export_part(
    name: str, part: Part, example: Sequence[Tensor], sizes: Sequence[Any]
) -> onnx.GraphProto:
    """Export one part, called `name` in errors, for any number of rows.

    By itself, `torch.onnx.export` would silently keep the example's branch of an `if` on the number
    of rows; with named sizes `torch.export.export` refuses it.
    """
    try:
        with torch.no_grad(), _quiet():
            shapes = (tuple(sizes),)
            program = torch.export.export(part, tuple(example), dynamic_shapes=shapes)
            exported = torch.onnx.export(
                program, dynamo=True, opset_version=OPSET, optimize=True, verbose=False
            )
        model = onnx.inliner.inline_local_functions(exported.model_proto)  # type: ignore[union-attr]
    except Exception as error:
        raise ExportError(f"{name} cannot be exported to ONNX: {_reason(error)}") from error
    used, opsets = {node.domain for node in model.graph.node}, model.opset_import
    needed = sorted((opset.domain, opset.version) for opset in opsets if opset.domain in used)
    if needed and needed != [("", OPSET)]:
        raise ExportError(
            f"{name} cannot be exported to ONNX: it needs operators beyond opset {OPSET}: {needed}"
        )
    if len(model.graph.input) != len(example):
        raise ExportError(
            f"{name} cannot be exported to ONNX: expected {len(example)} inputs, found "
            f"{len(model.graph.input)}; make it read all of its inputs"
        )
    return model.graph


def export_together(asked: Sequence[Asked]) -> list[onnx.GraphProto]:
    """The graphs of several parts, by one export, which takes less time than one of each. Where
    that fails, each is exported by itself, so that the error names it."""
    counts = [len(one.example) for one in asked]
    ends = [*accumulate(counts)]

    def call(*inputs: Tensor) -> Any:
        cuts = zip([0, *ends], ends, asked, strict=False)
        return tuple(chain.from_iterable(one.part(*inputs[start:end]) for start, end, one in cuts))

    modules = {key: part for one in asked for key, part in one.part.named_children()}
    example = [*chain.from_iterable(one.example for one in asked)]
    sizes = [*chain.from_iterable(one.sizes for one in asked)]
    try:
        names = ", ".join(one.name for one in asked)
        whole = export_part(names, Part(call, **modules), example, sizes)
    except ExportError:
        return [export_part(*one) for one in asked]
    with torch.no_grad():
        lengths = [len(one.part(*one.example)) for one in asked]
    inputs, outputs = iter(whole.input), iter(whole.output)
    pairs = [
        ([*islice(inputs, count)], [*islice(outputs, length)])
        for count, length in zip(counts, lengths, strict=True)
    ]
    return [graph_of(whole.node, whole.name, *pair, whole.initializer) for pair in pairs]


@contextmanager
def _quiet() -> Iterator[None]:
    """Torch's exporters warn and log of their own insides, which tells users nothing."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(disabled)


def _reason(error: BaseException) -> str:
    """What went wrong, in a line: torch wraps the cause several times and adds advice for its own
    developers."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    whole = "\n".join(str(link) for link in chain)
    if "Constraints violated" in whole or "Expected op to be '=='" in whole:
        reasons = re.findall(r"^ *- (.+)$", whole, re.MULTILINE) or [str(error)]
        details = "; ".join(dict.fromkeys(reasons))
        return (
            "it behaves differently for other numbers of rows, because of an `if` or a loop "
            f"over them; treat all numbers alike ({details})"
        )
    place = re.findall(
        r'^ *File "([^"]+)", line (\d+), in (\w+)\n *(.*)$', str(error), re.MULTILINE
    )
    where = f" at {place[-1][0]}:{place[-1][1]}" if place else ""
    if "data-dependent" in whole:
        return f"its Python code branches on the values of a tensor{where}; use torch.where"
    operator = re.findall(r"target=torch\.ops\.([\w.]+)", whole)
    last = next((line for line in str(chain[-1]).splitlines() if line.strip()), "no message")
    return (
        f"{f'operator {operator[0]}: ' if operator else ''}{type(chain[-1]).__name__}: "
        f"{last:.300}{where}"
    )
