"""What a contract check tests: a cell, task head or parser with its options and sizes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell, Links
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ThinstackError
from thinstack.plugins.manager import manager
from thinstack.plugins.specs import Spec
from thinstack.testing.forests import random_forest
from thinstack.testing.method import DRAW, KIND, OWNER, Draw, Method, Values

Plugin = TypeVar("Plugin", Cell, TaskHead, Parser)
SEED, STD = 20, 0.5
# Labels of trees of three sentences; two trees are the candidates of no sentence.
CANDIDATES = [[1, 2], [0, -1], [0, 0], [1, 0], [0, 3], [2, 0], [-1, 1]]


class Subject(Generic[Plugin]):
    """A plugin under test, by its registered name or its class, which each check builds afresh with
    `options` and `sizes`."""

    contract: type[Plugin]
    attributes: ClassVar[tuple[str, ...]]  # the sizes that the plugin keeps
    exported: ClassVar[str]  # the method whose results an export gives
    defaults: ClassVar[dict[str, int]]  # of sizes

    def __init__(self, plugin: str | type[Plugin], options: Mapping[str, Any], **sizes: int):
        if unknown := sizes.keys() - self.defaults:
            raise TypeError(f"unknown sizes {sorted(unknown)}. Use {', '.join(self.defaults)}.")
        kind = self.contract.plugin_kind
        self.spec: Any = (
            manager().find(kind, plugin) if isinstance(plugin, str) else Spec(kind, plugin)
        )
        self.options, self.sizes = options, self.defaults | sizes

    def create(self, seed: int = SEED) -> Plugin:
        """The plugin in evaluation mode, with the weights that it starts with. Raises as
        `Spec.create` does."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            plugin: Plugin = self.spec.create(self.options, **self.sizes)
        return plugin.eval()

    def random(self, dtype: torch.dtype = torch.float64, scale: float = 1) -> Plugin:
        """The plugin with every weight drawn from N(0, 0.5), so that no bias is 0; less for wide
        matrices, so that results stay within float32. `scale` multiplies matrices."""
        plugin, generator = self.create().to(dtype), torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for weight in plugin.parameters():
                std = STD if weight.dim() < 2 else min(STD, 2 * max(weight.shape) ** -0.5) * scale
                numbers = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
                weight.copy_(std * numbers)
        return plugin

    def resized(self, sizes: Mapping[str, int]) -> Self:
        """The same plugin in other sizes, of those that it has. Inputs of inner nodes are as wide
        as those of leaves."""
        other = copy(self)
        other.sizes = {name: sizes.get(name, size) for name, size in self.sizes.items()}
        if other.sizes.get("inner_size"):
            other.sizes["inner_size"] = other.sizes["input_size"]
        return other

    def variants(self) -> Iterator[Self]:
        """All ways in which a check tests the plugin."""
        yield self

    def methods(self, plugin: Plugin, n: int, draw: Draw = DRAW) -> dict[str, Method]:
        """The plugin's methods for n random rows."""
        raise NotImplementedError

    def in_both_modes(self, n: int) -> Iterator[tuple[Plugin, Method]]:
        """The methods in evaluation mode, then those in training mode."""
        for training in (False, True):
            plugin = self.random().train(training)
            for method in self.methods(plugin, n).values():
                yield plugin, method


class CellSubject(Subject[Cell]):
    """A cell, and how many random batches `neighbours` draws.

    `inner_size` None tests the cell with and, if it can have them, without inputs at inner nodes.
    Raises ValueError if `inner_size` is neither 0 nor `input_size`.
    """

    contract, attributes = Cell, ("input_size", "hidden_size")
    defaults: ClassVar = {"input_size": 5, "hidden_size": 4, "inner_size": 0, "kinds": 2}

    def __init__(
        self,
        cell: Any,
        options: Any,
        examples: int = 60,
        inner_size: int | None = None,
        **sizes: int,
    ):
        super().__init__(cell, options, inner_size=inner_size or 0, **sizes)
        self.examples, self.both = examples, inner_size is None
        if self.sizes["inner_size"] not in (0, width := self.sizes["input_size"]):
            raise ValueError(f"inner_size must be 0 or {width} (input_size), found {inner_size}")

    def variants(self) -> Iterator[Self]:
        yield self
        if self.both and self.spec.takes("inner_size"):
            other = self.resized({"inner_size": 1})
            with suppress(ThinstackError):
                other.create()
                yield other

    def forest(self, cell: Cell, sizes: Sequence[int], seed: int) -> Forest:
        """Random trees of so many nodes, of the cell's arity."""
        return random_forest(sizes, arity=cell.arity, kinds=self.sizes["kinds"], seed=seed)

    def methods(self, plugin: Cell, n: int, draw: Draw = DRAW) -> dict[str, Method]:
        """`leaf`, `compose` and `output`. Child states are those of leaves. Nodes have any number
        of children, or with a fixed arity some missing ones."""
        shapes = [(n, width) for width in plugin.state_sizes]

        def compose(inputs: Tensor, kind: Tensor, *below: Tensor) -> list[Tensor]:
            owner, *children = below if plugin.arity == 0 else (kind.flatten()[:0], *below)
            return plugin.compose(inputs, children, Links(owner, kind))

        def output(*state: Tensor) -> list[Tensor]:
            return [plugin.output([*state])]

        links = _random_links(plugin.arity, n, self.sizes["kinds"])
        kind = links[KIND].unsqueeze(-1)
        with torch.no_grad():
            state = plugin.leaf(draw(n, plugin.input_size))
            children = [
                torch.where(kind > 0, part.reshape(*kind.shape[:-1], part.shape[1]), 0)
                for part in plugin.leaf(draw(kind.numel(), plugin.input_size))
            ]
        words = {"inputs": draw(n, plugin.input_size)}
        inputs = {"inputs": draw(n, plugin.inner_size)}
        below = {f"children {k}": part for k, part in enumerate(children)}
        parts = {f"state {k}": part for k, part in enumerate(state)}
        methods = (
            Method("leaf", plugin.leaf, words, shapes, ["inputs"]),
            Method("compose", compose, inputs | links | below, shapes, ["inputs", *below]),
            Method("output", output, parts, [(n, plugin.hidden_size)], [*parts]),
        )
        return {method.name: method for method in methods}


def _random_links(arity: int, n: int, kinds: int) -> Values:
    generator = torch.Generator().manual_seed(n)
    if arity > 0:
        return {KIND: torch.randint(kinds + 1, [n, arity], generator=generator)}
    edges = [max(2 * n - 2, 0)]  # one node has no children
    owner = torch.randint(max(n, 1), edges, generator=generator)
    return {KIND: torch.randint(1, kinds + 1, edges, generator=generator), OWNER: owner}


class HeadSubject(Subject[TaskHead]):
    """A task head."""

    contract, attributes, exported = TaskHead, ("hidden_size", "classes"), "scores"
    defaults: ClassVar = {"hidden_size": 4, "word_size": 0, "classes": 3}

    def width(self, head: TaskHead) -> int:
        """The width of the rows that the head reads."""
        width, more = self.sizes["hidden_size"], self.sizes["word_size"]
        pair = 2 * width
        return {"nodes": width, "roots": width, "pairs": pair, "candidates": pair + more}[
            head.reads
        ]

    def labelled(self, head: TaskHead) -> tuple[Tensor, Tensor]:
        """Arguments of the loss: scores, float64, and labels that are classes and ratings; two of
        them are -1. Labels of pairs are float64 if the loss does not take int64. Those of a head
        that gives vectors are vectors."""
        draw = Draw(seed=2)
        if head.reads == "candidates":
            labels = torch.tensor(CANDIDATES)
            # The worse a tree, the higher its score, so that the loss is above 0.
            return 0.1 * draw(len(labels), 1).squeeze(1) + labels[:, 1], labels
        last = head.classes - 1
        labels = torch.tensor([last, -1, min(1, last), last, -1])
        scores = draw(len(labels), head.classes)
        if head.gives == "vectors":
            vectors = torch.nn.functional.normalize(draw(len(labels), head.classes))
            return scores, torch.where(labels.unsqueeze(1) < 0, -1, vectors)
        if head.reads == "pairs":
            try:
                head.loss(scores, labels)
            except Exception:  # of any type; if float64 fails too, the check reports it
                labels = labels.double()
        return scores, labels

    def methods(self, plugin: TaskHead, n: int, draw: Draw = DRAW) -> dict[str, Method]:
        """`forward` and `scores` for n rows, and `loss` for the rows of `labelled`."""
        rows = {"rows": draw(n, self.width(plugin))}
        scores, labels = self.labelled(plugin)
        labels = labels.to(draw.dtype) if labels.is_floating_point() else labels
        judged = {"scores": draw.change(scores.to(draw.dtype)), "labels": labels}
        shape = [(n, plugin.classes)]
        return {
            "forward": Method("forward", lambda of: [plugin(of)], rows, shape, ["rows"]),
            "scores": Method("scores", lambda of: [plugin.scores(of)], rows, shape, []),
            "loss": Method("loss", lambda *of: [plugin.loss(*of)], judged, [()], ["scores"]),
        }


class ParserSubject(Subject[Parser]):
    """A parser."""

    contract, attributes, exported = Parser, ("input_size",), "forward"
    defaults: ClassVar = {"input_size": 5}

    def batch(self, lengths: Sequence[int], draw: Draw = DRAW) -> tuple[Tensor, Tensor]:
        """Random vectors (L, X) of sentences of so many words, and the lengths (B,)."""
        return draw(sum(lengths), self.sizes["input_size"]), torch.tensor(lengths).long()

    def methods(self, plugin: Parser, n: int, draw: Draw = DRAW) -> dict[str, Method]:
        """`forward` for n sentences of 1 to 13 words."""
        words, lengths = self.batch([1 + 4 * k % 13 for k in range(n)], draw)
        values, shape = {"words": words, "lengths": lengths}, [(len(words),)]
        return {"forward": Method("forward", lambda *of: [plugin(*of)], values, shape, ["words"])}
