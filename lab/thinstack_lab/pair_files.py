"""Reads rated or classified pairs of sentences: SICK (Marelli et al. 2014) with the trees of Tai et
al. (2015), and SNLI (Bowman et al. 2015) with its binary trees."""

import os
from pathlib import Path
from typing import Literal, get_args

from thinstack.core import Tree
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.trees.binarize import binarize
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.text_files import read_lines
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError
from thinstack.training.tasks.pairs import Pair
from thinstack_lab.parent_arrays import read_constituency_trees, read_dependency_trees

PairTrees = Literal["binary", "constituency", "dependency", "sequence"]
"""The trees that a model reads. Models of binary trees and of sequences get constituency trees,
which are binary."""

PairTarget = Literal["relatedness", "entailment"]

HELD: dict[str, tuple[tuple[PairTrees, ...], tuple[PairTarget, ...]]] = {
    "sick.v1": (get_args(PairTrees), get_args(PairTarget)),
    "snli.v1": (("binary", "constituency", "sequence"), ("entailment",)),
}
"""The trees and the targets that the pairs of each format have."""

SICK_TABLES = {
    "train": "SICK_train.txt",
    "dev": "SICK_trial.txt",
    "test": "SICK_test_annotated.txt",
}
"""The source table of each split, beside its folder."""

_ID, _ENTAILMENT = "pair_ID", "entailment_judgment"

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"
SNLI_FIELDS = ("pairID", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse")


def read_pairs(
    path: str | Path, *, format: str, trees: PairTrees, target: PairTarget
) -> list[Pair]:
    """The pairs of a file or folder. The format `sick.v1` is the folder of a split (`read_sick`),
    `snli.v1` a file of JSON lines (`read_snli`).

    Raises UnknownNameError for another format, and ConfigError for trees or a target that the
    format does not have. Raises what the readers raise.
    """
    if format not in HELD:
        raise UnknownNameError("format of sentence pairs", format, tuple(HELD))
    for what, asked, held in zip(("trees", "target"), (trees, target), HELD[format], strict=True):
        if asked not in held:
            choices = f"choose from {', '.join(held)}, or another format"
            raise ConfigError(f"pairs in {format} have no {what} {asked!r}; {choices}")
    return read_snli(path) if format == "snli.v1" else read_sick(path, trees, target)


def read_sick(folder: str | Path, trees: PairTrees, target: PairTarget) -> list[Pair]:
    """The pairs in the folder of one split, with dependency trees, whose node i is word i and whose
    labels are relations, or with binary trees without labels.

    The folder holds `a.toks`, `a.parents`, `a.rels` and `a.cparents` (see `parent_arrays`), the
    same files for `b`, `id.txt` and `sim.txt`. If the folder has a name of `SICK_TABLES`, and that
    table stands beside the folder, entailment comes from the table, by id.

    Raises DataError, with the path, for a file that is missing or does not fit the others. Also for
    a score or a row that cannot be read, and for entailment without the table. Raises TreeError for
    a malformed tree.
    """
    folder = Path(os.path.abspath(folder))  # so that "." has a name too
    first, second = (_sick_trees(folder, side, trees) for side in "ab")
    ids = [line.strip() for line in read_lines(folder / "id.txt")]
    scores = _scores(folder / "sim.txt")
    for name, items in (("b.toks", second), ("id.txt", ids), ("sim.txt", scores)):
        if len(items) != len(first):
            expected = f"{len(first)} lines, as many as a.toks has"
            mend = "use files of the same split from the same download"
            raise DataError(f"{folder / name}: expected {expected}, found {len(items)}; {mend}")
    targets: list[float | str]
    targets = [*scores] if target == "relatedness" else [*_classes(folder, ids)]
    parts = zip(ids, zip(first, second, strict=True), targets, strict=True)
    return [Pair(*part) for part in parts]


def _sick_trees(folder: Path, side: str, trees: PairTrees) -> list[Tree]:
    toks, *others = (folder / f"{side}.{name}" for name in ("toks", "parents", "rels", "cparents"))
    if trees == "dependency":
        return read_dependency_trees(toks, *others[:2])
    return read_constituency_trees(toks, others[2])


def _scores(path: Path) -> list[float]:
    scores = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            score = float(line)
        except ValueError:
            score = 0.0
        if not 1 <= score <= 5:
            raise DataError(f"{path}:{number}: expected a score from 1 to 5, found {line!r}")
        scores.append(score)
    return scores


def _classes(folder: Path, ids: list[str]) -> list[str]:
    path = folder.parent / SICK_TABLES.get(folder.name, "")
    if not path.is_file():
        names, tables = ", ".join(SICK_TABLES), ", ".join(SICK_TABLES.values())
        raise DataError(
            f"{folder}: its pairs have no entailment label; expected a folder named {names} with "
            f"the source table ({tables}) beside it"
        )
    advice = "use the table from the same download"
    rows = Table(path, separator="\t").rows([_ID, _ENTAILMENT], advice=advice)
    classes = {row.values[_ID]: row.values[_ENTAILMENT].lower() for row in rows}
    if absent := [pair for pair in ids if pair not in classes]:
        expected = f"a row for every pair of {folder / 'id.txt'}"
        raise DataError(f"{path}: expected {expected}, found none for {absent[0]!r}")
    return [classes[pair] for pair in ids]


def read_snli(path: str | Path) -> list[Pair]:
    """The pairs of a file of SNLI's JSON lines. Pairs whose `gold_label` is "-", on which the
    annotators found no majority, are left out.

    Raises DataError for a line without one of `SNLI_FIELDS`, and TreeError for another class and
    for malformed brackets, both with file and line.
    """
    rows = Table(path).rows(SNLI_FIELDS, advice="use the files from snli_1.0.zip")
    pairs = [_snli_pair(path, row) for row in rows]
    return [pair for pair in pairs if pair.target != UNDECIDED]


def _snli_pair(path: str | Path, row: TableRow) -> Pair:
    label = row.values["gold_label"]
    if label not in (*LABELS, UNDECIDED):
        expected = f"{', '.join(LABELS)} or {UNDECIDED!r} (undecided)"
        problem = f"expected gold_label to be one of {expected}, found {label!r:.60}"
        raise TreeError(problem, source=str(path), line=row.line)
    trees = []
    for field in SNLI_FIELDS[2:]:
        try:
            trees.append(binarize(from_brackets(row.values[field], labelled=False)))
        except TreeError as error:
            problem = f"{field}, character {error.column}: {error.message}"
            raise TreeError(problem, source=str(path), line=row.line) from None
    return Pair(row.values["pairID"], (trees[0], trees[1]), label)
