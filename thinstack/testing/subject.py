"""What a contract check is run on: a plugin with its options and sizes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args

import torch
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.head import Reads, TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ThinstackError
from thinstack.plugins.manager import manager
from thinstack.plugins.specs import Spec
from thinstack.testing.forests import random_forest
from thinstack.testing.methods import Change, Method, methods_of_cell, methods_of_head

Plugin = TypeVar("Plugin", Cell, TaskHead, Parser)

SEED, STD = 20, 0.5
CANDIDATES = [[1, 2], [0, -1], [0, 0], [1, 0], [0, 3], [2, 0], [-1, 1]]
"""Of three sentences; two of the trees are no sentence's candidates."""


@contextmanager
def empty_is_nan() -> Iterator[None]:
    """Fills what torch.empty and its like make with NaN."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


class Subject(Generic[Plugin]):
    """A plugin that each check builds afresh.

    Attributes:
        spec: of the plugin, which is given by its registered name or its class.
        options: as a configuration has them.
        sizes: that it is asked for.
        contract: the class that it must be derived from.
        kept: the sizes that it must have as attributes.
    """

    contract: type[Plugin]
    kept: ClassVar[tuple[str, ...]]
    defaults: ClassVar[dict[str, int]]

    def __init__(self, plugin: str | type[Plugin], options: Mapping[str, Any] = {}, **sizes: int):
        if unknown := sorted(set(sizes) - set(self.defaults)):
            raise TypeError(f"unknown sizes {unknown}; known: {', '.join(self.defaults)}")
        kind, is_name = self.contract.plugin_kind, isinstance(plugin, str)
        self.spec: Any = manager().find(kind, str(plugin)) if is_name else Spec(kind, plugin)
        self.options, self.sizes = options, self.defaults | sizes

    def create(self, seed: int = SEED) -> Plugin:
        """The plugin as a model gets it, with the weights that it starts with; what no one fills
        is NaN. Raises as `Spec.create` does."""
        with torch.random.fork_rng(devices=[]), empty_is_nan():
            # Of the CPU alone: for any device, torch notes the call and its stack for later.
            torch.default_generator.manual_seed(seed)
            plugin: Plugin = self.spec.create(self.options, **self.sizes)
        return plugin

    def random(self, dtype: torch.dtype = torch.float64) -> Plugin:
        """The plugin in evaluation mode with every weight drawn from N(0, 0.5), so that no bias is
        0; less for wide matrices, lest results grow beyond what float32 can hold."""
        plugin = self.create().to(dtype).eval()
        generator = torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for part in plugin.parameters():
                std = min(STD, 2 * max(part.shape) ** -0.5) if part.dim() > 1 else STD
                part.copy_(std * torch.randn(part.shape, generator=generator, dtype=torch.float64))
        return plugin

    def resized(self, sizes: Mapping[str, int]) -> Self:
        """The same, asked for these sizes in place of its own."""
        other = copy(self)
        other.sizes = {**self.sizes, **sizes}
        return other

    def variants(self) -> Iterator[Self]:
        """What else to check beside this: nothing, as a rule."""
        return iter(())

    def methods(
        self,
        plugin: Plugin,
        n: int,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float64,
        change: Change = torch.clone,
    ) -> dict[str, Method]:
        """The plugin's methods on n random rows, changed as asked."""
        raise NotImplementedError

    def misfit(self, plugin: Plugin) -> str | None:
        """What is wrong with the plugin's other attributes, if anything."""
        raise NotImplementedError


class CellSubject(Subject[Cell]):
    """A cell, with `examples`, the number of random batches where a check draws many.

    `inner_size` is what it is asked for; None to try 0 and `input_size`.

    Raises ValueError for an `inner_size` that is neither 0 nor `input_size`, as models ask.
    """

    contract, kept = Cell, ("input_size", "hidden_size")
    defaults: ClassVar = {"input_size": 5, "hidden_size": 4, "inner_size": 0, "kinds": 2}

    def __init__(
        self,
        cell: str | type[Cell],
        options: Mapping[str, Any] = {},
        *,
        examples: int = 60,
        inner_size: int | None = None,
        **sizes: int,
    ):
        super().__init__(cell, options, inner_size=inner_size or 0, **sizes)
        self.examples, self.open = examples, inner_size is None
        if self.sizes["inner_size"] not in (0, self.sizes["input_size"]):
            raise ValueError(
                f"inner_size must be 0 or input_size = {self.sizes['input_size']}, as models ask, "
                f"got {self.sizes['inner_size']}"
            )

    def edge_types(self, cell: Cell) -> int:
        """How many edge types to draw from: as many as the model has, unless the cell knows
        fewer."""
        kinds = self.sizes["kinds"]
        return max(1, min(kinds, cell.kinds or kinds))

    def forest(self, cell: Cell, sizes: Sequence[int], seed: int) -> Forest:
        """Random trees of so many nodes each, of the cell's arity."""
        kinds = self.edge_types(cell)
        return random_forest(sizes, arity=cell.arity, kinds=kinds, seed=seed)

    def variants(self) -> Iterator[Self]:
        """The cell with inputs at inner nodes, if it reads them when asked to, and nobody said
        whether it should."""
        if not self.open:
            return
        other = self.resized({"inner_size": self.sizes["input_size"]})
        try:
            reads = other.create().inner_size != self.create().inner_size
        except ThinstackError:
            reads = False
        if reads:
            yield other

    def methods(self, plugin: Cell, n: int, **how: Any) -> dict[str, Method]:
        return methods_of_cell(plugin, n, kinds=self.edge_types(plugin), **how)

    def misfit(self, plugin: Cell) -> str | None:
        inner, width = self.sizes["inner_size"], self.sizes["input_size"]
        if plugin.inner_size not in {0, inner, width}:
            return (
                f"inner_size is {plugin.inner_size} where {inner} was asked for; take the "
                "inner_size that __init__ gets, or 0 if inner nodes read no input, or input_size = "
                f"{width} if every node must"
            )
        if 0 < plugin.kinds < self.sizes["kinds"]:
            return (
                f"kinds is {plugin.kinds}, but the model has {self.sizes['kinds']} edge types; "
                "name `kinds` among the arguments of __init__ and make room for all of them, or "
                "set it to 0 if the cell does not look at edge types"
            )
        if not -1 <= plugin.word_part < len(plugin.state_sizes):
            return (
                f"word_part is {plugin.word_part}, but a state has {len(plugin.state_sizes)} "
                "parts; count from 0, or leave it at -1"
            )
        return None


class HeadSubject(Subject[TaskHead]):
    """A task head."""

    contract, kept = TaskHead, ("hidden_size", "classes")
    defaults: ClassVar = {"hidden_size": 4, "word_size": 0, "classes": 3}

    def random(self, dtype: torch.dtype = torch.float64) -> TaskHead:
        """As of any plugin, after a step in training mode, which moves what the head counts, such
        as the means of batch normalisation."""
        head = super().random(dtype).train()
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(SEED)
            head(self.rows(head, 5).to(dtype) * 2 + 1)
        return head.eval()

    def width(self, head: TaskHead) -> int:
        """Width of the rows that the head says it reads."""
        width = self.sizes["hidden_size"]
        others = {"pairs": 2 * width, "candidates": 2 * width + self.sizes["word_size"]}
        return others.get(head.reads, width)

    def rows(self, head: TaskHead, n: int, *, seed: int = 0) -> Tensor:
        """Random rows (n, width), float64."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(n, self.width(head), generator=generator, dtype=torch.float64)

    def labelled(self, head: TaskHead) -> tuple[Tensor, Tensor]:
        """What the loss takes, in float64: scores, and labels that hold as classes and as ratings,
        two of them -1.

        The labels of pairs are float64 if the loss refuses int64.
        """
        generator, double = torch.Generator().manual_seed(2), torch.float64
        if head.reads == "candidates":
            labels = torch.tensor(CANDIDATES)
            noise = torch.randn(len(labels), generator=generator, dtype=double)
            # The worse a tree, the higher its score, so that something is to be learnt.
            return 0.1 * noise + labels[:, 1], labels
        last = head.classes - 1
        labels = torch.tensor([last, -1, min(1, last), last, -1])
        scores = torch.randn(len(labels), head.classes, generator=generator, dtype=double)
        if head.reads == "pairs":
            try:
                head.loss(scores, labels)
            except Exception:  # it takes ratings; whatever it says of these is seen by the check
                labels = labels.double()
        return scores, labels

    def methods(
        self,
        plugin: TaskHead,
        n: int,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float64,
        change: Change = torch.clone,
    ) -> dict[str, Method]:
        scores, labels = self.labelled(plugin)
        rows = self.rows(plugin, n, seed=seed).to(dtype)
        labels = labels.to(dtype) if labels.is_floating_point() else labels
        return methods_of_head(plugin, change(rows), change(scores.to(dtype)), labels)

    def misfit(self, plugin: TaskHead) -> str | None:
        if plugin.reads in get_args(Reads):
            return None
        known = ", ".join(get_args(Reads))
        return f"reads is {plugin.reads!r}; hand one of {known} to TaskHead.__init__"


class ParserSubject(Subject[Parser]):
    """A parser."""

    contract, kept = Parser, ("input_size",)
    defaults: ClassVar = {"input_size": 5}

    def batch(self, lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Random vectors (L, X), float64, of sentences of so many words, and `lengths` (B,)."""
        generator = torch.Generator().manual_seed(len(lengths))
        size = (sum(lengths), self.sizes["input_size"])
        words = torch.randn(size, generator=generator, dtype=torch.float64)
        return words, torch.tensor(lengths, dtype=torch.int64)
