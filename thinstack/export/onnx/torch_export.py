"""Export of functions of tensors to ONNX, by torch."""

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, islice
from typing import Any

import onnx
import onnx.inliner
import torch
from torch import Tensor, nn

from thinstack.errors import ExportError
from thinstack.export.onnx.graph import OPSET, graph_of


class Part(nn.Module):
    """A function of tensors to export: its name in errors, example arguments, for each argument the
    sizes that may be any number, as in `torch.export.export`, and the modules whose weights it
    reads, by name."""

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        example: Sequence[Tensor],
        sizes: Sequence[Any],
        **modules: nn.Module,
    ):
        super().__init__()
        self.name, self.call, self.example, self.sizes = name, call, [*example], [*sizes]
        for key, module in modules.items():
            self.add_module(key, module)

    def forward(self, *inputs: Tensor) -> Any:
        return self.call(*inputs)


def export_part(part: Part) -> onnx.GraphProto:
    """Export a part for any number of rows. Raises ExportError, with the name of the part.

    Without `torch.export.export`, `torch.onnx.export` would silently keep the example's branch of
    an `if` on the number of rows.
    """
    try:
        with torch.no_grad(), _quiet():
            shapes = (tuple(part.sizes),)
            program = torch.export.export(part, tuple(part.example), dynamic_shapes=shapes)
            exported = torch.onnx.export(
                program, dynamo=True, opset_version=OPSET, optimize=True, verbose=False
            )
        model = onnx.inliner.inline_local_functions(exported.model_proto)  # type: ignore[union-attr]
    except Exception as error:
        raise ExportError(f"{part.name} cannot be exported to ONNX: {_reason(error)}") from error
    used = {node.domain for node in model.graph.node}
    needed = sorted((one.domain, one.version) for one in model.opset_import if one.domain in used)
    read, expected = len(model.graph.input), len(part.example)
    if needed and needed != [("", OPSET)]:
        problem = f"it needs {needed}; use operators of opset {OPSET}"
    elif read != expected:
        problem = f"expected {expected} inputs, found {read}; make the part read all of them"
    else:
        return model.graph
    raise ExportError(f"{part.name} cannot be exported to ONNX: {problem}")


def export_together(parts: Sequence[Part]) -> list[onnx.GraphProto]:
    """Export several parts at once, which is faster, or one by one to name the one that fails."""
    counts = [len(part.example) for part in parts]
    ends = [*accumulate(counts)]

    def call(*inputs: Tensor) -> Any:
        cuts = zip([0, *ends], ends, parts, strict=False)
        return tuple(chain.from_iterable(part(*inputs[start:end]) for start, end, part in cuts))

    modules = {key: module for part in parts for key, module in part.named_children()}
    example = chain.from_iterable(part.example for part in parts)
    sizes = chain.from_iterable(part.sizes for part in parts)
    try:
        name = ", ".join(part.name for part in parts)
        whole = export_part(Part(name, call, [*example], [*sizes], **modules))
    except ExportError:
        return [export_part(part) for part in parts]
    with torch.no_grad():
        lengths = [len(part(*part.example)) for part in parts]
    inputs, outputs = iter(whole.input), iter(whole.output)
    pairs = [
        ([*islice(inputs, count)], [*islice(outputs, length)])
        for count, length in zip(counts, lengths, strict=True)
    ]
    return [graph_of(whole.node, whole.name, *pair, whole.initializer) for pair in pairs]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence torch's exporters, whose warnings and logs do not concern users."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(disabled)


def _reason(error: BaseException) -> str:
    """Describe an error in one line, of the several causes that torch wraps."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    whole = "\n".join(map(str, chain))
    if "Constraints violated" in whole or "Expected op to be '=='" in whole:
        reasons = re.findall(r"^ *- (.+)$", whole, re.MULTILINE) or [str(error)]
        details = "; ".join(dict.fromkeys(reasons))
        return (
            "an `if` or a loop makes the result depend on the number of rows; handle all "
            f"numbers the same way ({details})"
        )
    places = re.findall(r'^ *File "([^"]+)", line (\d+), in \w+\n', str(error), re.MULTILINE)
    where = " at {}:{}".format(*places[-1]) if places else ""
    if "data-dependent" in whole:
        return f"its Python code branches on the values of a tensor{where}; use torch.where"
    operator = re.search(r"target=torch\.ops\.([\w.]+)", whole)
    last = next((line for line in str(chain[-1]).splitlines() if line.strip()), "no message")
    prefix = f"operator {operator[1]}: " if operator else ""
    return f"{prefix}{type(chain[-1]).__name__}: {last:.300}{where}"
