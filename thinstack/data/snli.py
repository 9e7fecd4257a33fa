"""Reading the sentence pairs of SNLI (Bowman et al. 2015) with their binary parses."""

from dataclasses import dataclass
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.json_lines import binary_tree, read_records
from thinstack.errors import TreeError

__all__ = ["SnliPair", "read_snli"]

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"

FIELDS = ("pairID", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse")


@dataclass(frozen=True, slots=True)
class SnliPair:
    """A premise and a hypothesis.

    Attributes:
        id: `pairID`.
        trees: binary trees of the premise and the hypothesis, without labels.
        label: entailment, neutral or contradiction.
    """

    id: str
    trees: tuple[Tree, Tree]
    label: str


def read_snli(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[SnliPair]:
    """Read SNLI's JSON lines without the pairs on which the annotators found no majority, whose
    `gold_label` is "-".

    `skipped`: takes the error of each malformed line, which is then left out of the result.

    Raises TreeError with file and line of the first malformed line, unless there is `skipped`;
    DataError for a file that is missing, is not UTF-8 or holds no pair.
    """
    pairs = read_records(path, FIELDS, _pair, skipped=skipped)
    return [pair for pair in pairs if pair.label != UNDECIDED]


def _pair(record: dict[str, str]) -> SnliPair:
    label = record["gold_label"]
    if label not in (*LABELS, UNDECIDED):
        raise TreeError(
            f"expected gold_label to be one of {', '.join(LABELS)} or {UNDECIDED!r} for none, "
            f"found {label!r:.60}"
        )
    first, second = (
        binary_tree(record, f"sentence{side}_binary_parse", labelled=False) for side in (1, 2)
    )
    return SnliPair(record["pairID"], (first, second), label)
