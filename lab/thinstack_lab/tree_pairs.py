"""The tasks of pairs of sentences that come with trees, as SICK and SNLI have them."""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from rich.console import Console

from thinstack.core.config import ModelConfig
from thinstack.data.files.paths import FilePath
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.datasets import Datasets
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.pairs import Entailment, Pair, Pairs, Relatedness
from thinstack_lab.pair_files import SICK_TABLES, PairTarget, read_pairs

__all__ = ["EntailmentOfTrees", "RelatednessOfTrees", "source_tables"]


class TreePairs(Pairs):
    """Learns from pairs of sentences with their trees.

    Attributes:
        target: what of the pairs is learnt.
    """

    target: ClassVar[PairTarget]

    format: Literal["sick.v1", "snli.v1"]  # type: ignore[assignment]
    """What the files are: `sick.v1` (folders) or `snli.v1` (JSON lines)."""

    @property
    def brings_trees(self) -> bool:
        return True

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Pair]:
        pairs = read_pairs(Path(path), format=self.format, trees=model.trees, target=self.target)
        for pair in pairs:
            _check_target(pair, model.labels)
        return pairs

    def group_of(self, item: Any) -> Hashable:
        # The parts stay as they always were, though a pair may be in a file twice.
        return id(item)

    def check(self, recipe: Recipe) -> None:
        super().check(recipe)
        others = [source for source in recipe.training.trees if source not in ("gold", "self")]
        if others:
            raise ValueError(
                f"training.sources: pairs use their trees or the model's, 'self'; found {others}"
            )

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        return {}

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        """Nothing is odd in published data."""

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> None:
        """None: the tables have rivals of their own."""


def _check_target(pair: Pair, labels: Sequence[str]) -> None:
    """Raise ConfigError for a pair of a class or a rating that the model has not."""
    if isinstance(pair.target, str):
        fits, expected = pair.target in labels, f"one of model.labels ({', '.join(labels)})"
    else:
        fits = 1 <= pair.target <= len(labels)
        expected = f"a rating from 1 to {len(labels)} (model.labels)"
    if not fits:
        mend = "fix the pair or model.labels"
        raise ConfigError(f"pair {pair.id}: expected {expected}, found {pair.target!r}; {mend}")


class RelatednessOfTrees(TreePairs, Relatedness):
    """Learns ratings of pairs of sentences with their trees."""

    name: ClassVar[str] = "relatedness_of_trees.v1"
    summary: ClassVar[str] = "ratings of pairs of sentences with trees, as SICK's"
    target: ClassVar[PairTarget] = "relatedness"


class EntailmentOfTrees(TreePairs, Entailment):
    """Learns the classes of pairs of sentences with their trees."""

    name: ClassVar[str] = "entailment_of_trees.v1"
    summary: ClassVar[str] = "classes of pairs of sentences with trees, as SICK's and SNLI's"
    target: ClassVar[PairTarget] = "entailment"


def source_tables(recipe: Recipe, data: Path) -> list[str]:
    """The names, in the folder `data`, of the tables beside the folders of SICK that a recipe
    names: they hold the classes of the pairs."""
    if not isinstance(recipe.task, TreePairs) or recipe.task.format != "sick.v1":
        return []
    folders = map(Path, filter(None, (recipe.data.train, recipe.data.dev, recipe.data.test)))
    named = {folder.with_name(SICK_TABLES.get(folder.name, folder.name)) for folder in folders}
    return sorted(str(table) for table in named if (data / table).is_file())
