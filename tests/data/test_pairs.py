"""Pairs of sentences from every format, with the trees and the target that are asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from thinstack.core import Tree
from thinstack.data.pairs import Pair, read_pairs
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError

SICK = {
    "a.toks": "a dog runs\n",
    "a.parents": "2 3 0\n",
    "a.rels": "det nsubj root\n",
    "a.cparents": "4 4 5 5 0\n",
    "b.toks": "it sleeps\n",
    "b.parents": "2 0\n",
    "b.rels": "nsubj root\n",
    "b.cparents": "3 3 0\n",
    "id.txt": "7\n",
    "sim.txt": "3.5\n",
}
TABLE = "pair_ID\tentailment_judgment\n7\tCONTRADICTION\n"
CONSTITUENCY = (Tree.left(["a", "dog", "runs"]), Tree.left(["it", "sleeps"]))
DEPENDENCY = (
    Tree.from_parents([1, 2, -1], ["a", "dog", "runs"], ["det", "nsubj", "root"]),
    Tree.from_parents([1, -1], ["it", "sleeps"], ["nsubj", "root"]),
)


@pytest.fixture
def sick(tmp_path: Path) -> Path:
    folder = tmp_path / "dev"
    folder.mkdir()
    for name, content in SICK.items():
        (folder / name).write_text(content, encoding="utf-8")
    (tmp_path / "SICK_trial.txt").write_text(TABLE, encoding="utf-8")
    return folder


@pytest.fixture
def snli(tmp_path: Path) -> Path:
    parses = {
        "sentence1_binary_parse": "( ( a dog ) runs )",
        "sentence2_binary_parse": "( it sleeps )",
    }
    lines = [
        {"pairID": name, "gold_label": label, **parses}
        for name, label in (("x", "neutral"), ("y", "-"))
    ]
    path = tmp_path / "snli.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("target", "expected"), [("relatedness", 3.5), ("entailment", "contradiction")]
)
@pytest.mark.parametrize("trees", ["binary", "constituency", "dependency", "sequence"])
def test_sick_has_all_trees_and_targets(
    sick: Path, trees: Any, target: Any, expected: object
) -> None:
    parses = DEPENDENCY if trees == "dependency" else CONSTITUENCY
    assert read_pairs(str(sick), format="sick.v1", trees=trees, target=target) == [
        Pair("7", parses, expected)
    ]


@pytest.mark.parametrize("trees", ["binary", "constituency", "sequence"])
def test_snli_has_binary_trees_and_classes(snli: Path, trees: Any) -> None:
    assert read_pairs(snli, format="snli.v1", trees=trees, target="entailment") == [
        Pair("x", CONSTITUENCY, "neutral")
    ]


@pytest.mark.parametrize(
    ("format", "trees", "target", "message"),
    [
        (
            "snli.v1",
            "dependency",
            "entailment",
            "pairs in snli.v1 have no trees 'dependency'; .*binary, constituency, sequence,",
        ),
        (
            "snli.v1",
            "binary",
            "relatedness",
            "pairs in snli.v1 have no target 'relatedness'; choose from entailment,",
        ),
        (
            "sick.v1",
            "balanced",
            "relatedness",
            "pairs in sick.v1 have no trees 'balanced'; choose from .*dependency",
        ),
    ],
)
def test_what_a_format_does_not_have_is_refused(
    snli: Path, format: str, trees: Any, target: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_pairs(snli, format=format, trees=trees, target=target)


def test_an_unknown_format_is_told_with_those_that_are_known(snli: Path) -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"unknown format of sentence pairs 'brackets\.v1'; known: sick\.v1, snli\.v1",
    ):
        read_pairs(snli, format="brackets.v1", trees="binary", target="entailment")


def test_entailment_needs_the_source_table(sick: Path) -> None:
    (sick.parent / "SICK_trial.txt").unlink()
    with pytest.raises(
        DataError, match=r"dev: its pairs have no entailment label; expected .*SICK_trial\.txt"
    ):
        read_pairs(sick, format="sick.v1", trees="binary", target="entailment")
    assert read_pairs(sick, format="sick.v1", trees="binary", target="relatedness")[0].target == 3.5


def test_errors_of_the_files_are_passed_on(sick: Path, snli: Path) -> None:
    (sick / "sim.txt").write_text("7\n")
    with pytest.raises(DataError, match=r"sim\.txt:1: expected a score from 1 to 5"):
        read_pairs(sick, format="sick.v1", trees="binary", target="relatedness")
    snli.write_text("{}\n")
    with pytest.raises(TreeError, match=r"snli\.jsonl:1: expected a text in the field 'pairID'"):
        read_pairs(snli, format="snli.v1", trees="binary", target="entailment")
