"""Reads the sentence pairs of SICK (Marelli et al. 2014) with the trees that Tai et al. (2015) gave
them."""

import os
from dataclasses import dataclass
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.tables.table import Table
from thinstack.data.trees.parent_arrays import read_constituency_trees, read_dependency_trees
from thinstack.data.trees.text_files import read_lines
from thinstack.errors import DataError

TABLES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
"""The source table of each split, beside its folder."""

ID, ENTAILMENT = "pair_ID", "entailment_judgment"


@dataclass(frozen=True, slots=True)
class SickPair:
    """Two sentences.

    Attributes:
        id: the pair's number, as the files write it.
        dependency: dependency trees of the first and the second sentence. Node i is word i, and its
            label is its relation to its head.
        constituency: binary trees of the first and the second sentence, without labels.
        relatedness: the annotators' mean score, from 1 to 5.
        entailment: NEUTRAL, ENTAILMENT or CONTRADICTION, as the source table has it; None without
            that table.
    """

    id: str
    dependency: tuple[Tree, Tree]
    constituency: tuple[Tree, Tree]
    relatedness: float
    entailment: str | None


def read_sick(folder: str | Path) -> list[SickPair]:
    """The pairs in the folder of one split.

    The folder holds `a.toks`, `a.parents`, `a.rels` and `a.cparents` (see `parent_arrays`), the
    same files for `b`, `id.txt` and `sim.txt`. If the folder has a name of `TABLES`, and that table
    stands beside the folder, entailment comes from the table, by id.

    Raises DataError, with the path, for a file that is missing or does not fit the others. Also for
    a score or a row that cannot be read. Raises TreeError for a malformed tree.
    """
    folder = Path(os.path.abspath(folder))  # so that "." has a name too
    dependency, constituency = [], []
    for side in "ab":
        toks, *others = (folder / f"{side}.{name}" for name in ("toks", "parents", "rels"))
        dependency.append(read_dependency_trees(toks, *others))
        constituency.append(read_constituency_trees(toks, folder / f"{side}.cparents"))
    ids = [line.strip() for line in read_lines(folder / "id.txt")]
    scores = _scores(folder / "sim.txt")
    for name, found in (("b.toks", dependency[1]), ("id.txt", ids), ("sim.txt", scores)):
        if len(found) != len(dependency[0]):
            expected = f"{len(dependency[0])} lines, as many as a.toks has"
            raise DataError(
                f"{folder / name}: expected {expected}, found {len(found)}; take all files of one "
                "split from the same download"
            )
    trees = zip(*dependency, strict=True), zip(*constituency, strict=True)
    parts = zip(ids, *trees, scores, _entailment(folder, ids), strict=True)
    return [SickPair(*part) for part in parts]


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


def _entailment(folder: Path, ids: list[str]) -> list[str] | list[None]:
    """The label of each pair."""
    path = folder.parent / TABLES.get(folder.name, "")
    if not path.is_file():
        return [None] * len(ids)
    advice = "take the table of the same download"
    rows = Table(path, separator="\t").rows([ID, ENTAILMENT], advice=advice)
    labels = {row.values[ID]: row.values[ENTAILMENT] for row in rows}
    if absent := [pair for pair in ids if pair not in labels]:
        expected = f"a row for every pair of {folder / 'id.txt'}"
        raise DataError(f"{path}: expected {expected}, found none for {absent[0]!r}")
    return [labels[pair] for pair in ids]
