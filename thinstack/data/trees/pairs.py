"""Reads rated or classified pairs of sentences: SICK, and SNLI (Bowman et al. 2015) with its binary
trees."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from thinstack.core import Tree
from thinstack.data.trees.json_lines import binary_tree, read_records
from thinstack.data.trees.sick import TABLES, SickPair, read_sick
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError

PairTrees = Literal["binary", "constituency", "dependency", "sequence"]
"""The trees that a model reads. Models of binary trees and of sequences get constituency trees,
which are binary."""

PairTarget = Literal["relatedness", "entailment"]

TABLE: Final = "table.v1"
"""The format of pairs of sentences in a table, which has no trees."""

HELD: dict[str, tuple[tuple[PairTrees, ...], tuple[PairTarget, ...]]] = {
    "sick.v1": (
        ("binary", "constituency", "dependency", "sequence"),
        ("relatedness", "entailment"),
    ),
    "snli.v1": (("binary", "constituency", "sequence"), ("entailment",)),
}
"""The trees and the targets that the pairs of each format have."""

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"
SNLI_FIELDS = ("pairID", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences.

    Attributes:
        id: the pair's name in the file.
        trees: the trees of the first and the second sentence.
        target: relatedness, from 1 to 5, or the class: neutral, entailment or contradiction.
    """

    id: str
    trees: tuple[Tree, Tree]
    target: float | str


def read_pairs(
    path: str | Path, *, format: str, trees: PairTrees, target: PairTarget
) -> list[Pair]:
    """The pairs of a file or folder. The format `sick.v1` is the folder of a split (`read_sick`),
    `snli.v1` a file of JSON lines (`read_snli`).

    Raises UnknownNameError for another format, and ConfigError for trees or a target that the
    format does not have. Raises DataError and TreeError as `read_sick` and `read_snli` do, and
    DataError where entailment is asked for and a SICK folder has no source table.
    """
    if format not in HELD:
        raise UnknownNameError("format of sentence pairs", format, (*HELD, TABLE))
    for what, asked, held in zip(("trees", "target"), (trees, target), HELD[format], strict=True):
        if asked not in held:
            choices = f"choose from {', '.join(held)}, or another format"
            raise ConfigError(f"pairs in {format} have no {what} {asked!r}; {choices}")
    return read_snli(path) if format == "snli.v1" else _read_sick(Path(path), trees, target)


def read_snli(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Pair]:
    """The pairs of a file of SNLI's JSON lines. Pairs whose `gold_label` is "-", on which the
    annotators found no majority, are left out.

    Malformed lines are skipped or raise as in `read_records`.
    """
    pairs = read_records(path, SNLI_FIELDS, _snli_pair, skipped=skipped)
    return [pair for pair in pairs if pair.target != UNDECIDED]


def _snli_pair(record: dict[str, str]) -> Pair:
    label = record["gold_label"]
    if label not in (*LABELS, UNDECIDED):
        expected = f"{', '.join(LABELS)} or {UNDECIDED!r} (undecided)"
        raise TreeError(f"expected gold_label to be one of {expected}, found {label!r:.60}")
    first, second = (
        binary_tree(record, f"sentence{side}_binary_parse", labelled=False) for side in (1, 2)
    )
    return Pair(record["pairID"], (first, second), label)


def _read_sick(path: Path, trees: PairTrees, target: PairTarget) -> list[Pair]:
    return [
        Pair(
            pair.id,
            pair.dependency if trees == "dependency" else pair.constituency,
            pair.relatedness if target == "relatedness" else _entailment(pair, path),
        )
        for pair in read_sick(path)
    ]


def _entailment(pair: SickPair, folder: Path) -> str:
    if pair.entailment is None:
        raise DataError(
            f"{folder}: its pairs have no entailment label; expected a folder named "
            f"{', '.join(TABLES)} with the source table ({', '.join(TABLES.values())}) beside it"
        )
    return pair.entailment.lower()
