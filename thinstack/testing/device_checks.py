"""Contract check that all tensors of a plugin lie on the device of its inputs and have their type.

No GPU is needed: the `meta` device of torch holds shapes without numbers, and mixes with the CPU as
little as a GPU does.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from thinstack.core.parser import Parser
from thinstack.testing.subject import ParserSubject, Subject

ROWS = 6
MOVES = {"to", "type_as"}
TAKES = {"copy_", "__setitem__", "__getitem__"}
"""Functions that take a tensor of the CPU if the first one lies on a GPU."""
READS = {"item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__"}
"""Functions that need numbers, and so make the host wait for a GPU."""
CASTS = {"float", "half", "bfloat16", "to", "type"}


class _Watch(TorchFunctionMode):
    """Watches each call of torch.

    Attributes:
        made: tensors with the names of the functions that made them of nothing.
        plain: tensors by the names of the attributes that hold them, no parameters or buffers.
    """

    def __init__(self, plugin: nn.Module) -> None:
        super().__init__()
        self.made: list[tuple[Tensor, str]] = []
        self.plain = {
            name: part
            for module in plugin.modules()
            for name, part in vars(module).items()
            if isinstance(part, Tensor)
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        given = list(_tensors((args, kwargs)))
        self._judge(name, given)
        result = func(*args, **kwargs)
        if not given:
            self.made += [(part, f"torch.{name}") for part in _tensors(result)]
        elif name in CASTS:
            lower = _floats(given) == {torch.float64} and _floats([result]) - {torch.float64}
            if lower:
                raise AssertionError(
                    f"`{name}` turns float64 into {lower.pop()}; compute in the type of the inputs"
                )
        return result

    def _judge(self, name: str, given: list[Tensor]) -> None:
        on_meta = [part for part in given if part.is_meta]
        if name in READS and on_meta:
            raise AssertionError(
                f"`{name}` reads the numbers of a tensor, for which the host must wait for a GPU, "
                "and which no export can follow; compute with tensors (torch.where, masks, "
                "sum_by_owner)"
            )
        large = [part for part in given if part.dim() > 0]
        off = [part for part in large if not part.is_meta]
        if name in MOVES or (name in TAKES and given[0].is_meta):
            return
        if on_meta and off:
            raise AssertionError(
                f"`{name}` gets tensors of two devices: {self._origin(off[0])} lies on the CPU, "
                "where the inputs lie elsewhere; make it by inputs.new_zeros, zeros_like or with "
                "device=inputs.device, or keep it by register_buffer or as a parameter"
            )
        if len(types := _floats(large)) > 1:
            odd = next(part for part in large if part.dtype in types - {torch.float64})
            raise AssertionError(
                f"`{name}` gets {' and '.join(sorted(map(str, types)))}: {self._origin(odd)} has "
                "not the type of the inputs; make it by inputs.new_zeros, zeros_like or with "
                "dtype=inputs.dtype, or keep it by register_buffer"
            )

    def _origin(self, part: Tensor) -> str:
        for made, by in self.made:
            if made is part:
                return f"what {by} made, {tuple(part.shape)},"
        for name, kept in self.plain.items():
            if kept is part:
                return f"the attribute {name!r}"
        return f"a tensor of shape {tuple(part.shape)}"


def _tensors(of: Any) -> Iterator[Tensor]:
    if isinstance(of, Tensor):
        yield of
    elif isinstance(of, list | tuple):
        for each in of:
            yield from _tensors(each)
    elif isinstance(of, dict):
        yield from _tensors(list(of.values()))


def _floats(parts: Iterable[Any]) -> set[torch.dtype]:
    return {part.dtype for part in _tensors(list(parts)) if part.is_floating_point()}


def device_and_type(subject: Subject[Any]) -> None:
    """On another device, and in float64, each method computes there and in that type: no tensor is
    made on the CPU or in float32, in evaluation and in training mode. No numbers are read."""
    for mode in (False, True):
        plugin = subject.random()
        methods = subject.methods(plugin, ROWS)
        plugin.train(mode).to("meta")
        for method in methods.values():
            values = {name: [part.to("meta") for part in of] for name, of in method.values.items()}
            _watched(method.name, plugin, partial(method.run, values))


def device_and_type_of_parser(subject: ParserSubject) -> None:
    """As of a cell: words may lie on another device than `lengths`, which lie on the host."""
    for mode in (False, True):
        parser = subject.random().train(mode).to("meta")
        words, lengths = subject.batch((5, 1, 12, 2))
        _watched("forward", parser, partial(_distances, parser, words.to("meta"), lengths))


def _distances(parser: Parser, words: Tensor, lengths: Tensor) -> list[Tensor]:
    return [parser(words, lengths)]


def _watched(name: str, plugin: nn.Module, run: Callable[[], list[Tensor]]) -> None:
    try:
        with _Watch(plugin):
            results = run()
    except AssertionError as error:
        raise AssertionError(f"{name} on another device, in float64: {error}") from None
    except Exception as error:
        if "Cannot copy out of meta" not in str(error):
            return  # what has no size without its numbers, such as masked_select
        raise AssertionError(
            f"{name} takes numbers off the device of its inputs; leave them there"
        ) from error
    for part in results:
        if not part.is_meta:
            raise AssertionError(
                f"{name} gives a result on the CPU where its inputs lie on another device; make it "
                "by inputs.new_zeros or zeros_like"
            )
