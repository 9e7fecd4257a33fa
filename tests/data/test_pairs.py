"""Pairs of sentences from every format, with the trees and the target that are asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from thinstack.core import Tree
from thinstack.data.pairs import Pair, read_pairs, read_snli
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError

SICK = {"a.toks": "a dog runs\n", "a.parents": "2 3 0\n", "a.rels": "det nsubj root\n"}
SICK |= {"b.toks": "it sleeps\n", "b.parents": "2 0\n", "b.rels": "nsubj root\n"}
SICK |= {"a.cparents": "4 4 5 5 0\n", "b.cparents": "3 3 0\n"}
SICK |= {"id.txt": "7\n", "sim.txt": "3.5\n"}
TABLE = "pair_ID\tentailment_judgment\n7\tCONTRADICTION\n"
CONSTITUENCY = (Tree.left(["a", "dog", "runs"]), Tree.left(["it", "sleeps"]))
DEPENDENCY = (
    Tree.from_parents([1, 2, -1], ["a", "dog", "runs"], ["det", "nsubj", "root"]),
    Tree.from_parents([1, -1], ["it", "sleeps"], ["nsubj", "root"]),
)
LINE = {
    "annotator_labels": ["neutral"],
    "gold_label": "neutral",
    "pairID": "34.jpg#4r1n",
    "sentence1": "A dog runs",
    "sentence1_binary_parse": "( ( a dog ) runs )",
    "sentence2_binary_parse": "( it sleeps )",
}


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
    return tmp_path / "snli.jsonl"


def write(path: Path, *changes: dict[str, object]) -> Path:
    lines = (json.dumps({**LINE, **change}) + "\n" for change in changes)
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("target", "expected"), [("relatedness", 3.5), ("entailment", "contradiction")]
)
@pytest.mark.parametrize("trees", ["binary", "constituency", "dependency", "sequence"])
def test_sick_has_all_trees_and_targets(
    sick: Path, trees: Any, target: Any, expected: object
) -> None:
    parses = DEPENDENCY if trees == "dependency" else CONSTITUENCY
    found = read_pairs(str(sick), format="sick.v1", trees=trees, target=target)
    assert found == [Pair("7", parses, expected)]


@pytest.mark.parametrize("trees", ["binary", "constituency", "sequence"])
def test_snli_has_binary_trees_and_classes(snli: Path, trees: Any) -> None:
    write(snli, {"pairID": "x"}, {"gold_label": "-"})
    found = read_pairs(snli, format="snli.v1", trees=trees, target="entailment")
    assert found == [Pair("x", CONSTITUENCY, "neutral")]


@pytest.mark.parametrize(
    ("format", "trees", "target", "message"),
    [
        ("snli.v1", "dependency", "entailment", "'dependency'; .*binary, constituency, sequence"),
        ("snli.v1", "binary", "relatedness", "'relatedness'; .* entailment"),
        ("sick.v1", "balanced", "relatedness", "'balanced'; .*dependency"),
    ],
)
def test_what_a_format_does_not_have_is_refused(
    snli: Path, format: str, trees: Any, target: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_pairs(snli, format=format, trees=trees, target=target)


def test_an_unknown_format_is_told_with_those_that_are_known(snli: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'brackets\.v1'; known: sick\.v1, snli\.v1"):
        read_pairs(snli, format="brackets.v1", trees="binary", target="entailment")


def test_entailment_needs_the_source_table(sick: Path) -> None:
    (sick.parent / "SICK_trial.txt").unlink()
    with pytest.raises(DataError, match=r"no entailment label; .*SICK_trial\.txt"):
        read_pairs(sick, format="sick.v1", trees="binary", target="entailment")
    assert read_pairs(sick, format="sick.v1", trees="binary", target="relatedness")[0].target == 3.5


def test_errors_of_the_files_are_passed_on(sick: Path, snli: Path) -> None:
    (sick / "sim.txt").write_text("7\n")
    with pytest.raises(DataError, match=r"sim\.txt:1: .* '7'"):
        read_pairs(sick, format="sick.v1", trees="binary", target="relatedness")
    snli.write_text("{}\n")
    with pytest.raises(TreeError, match=r"snli\.jsonl:1: .*'pairID'"):
        read_pairs(snli, format="snli.v1", trees="binary", target="entailment")
    snli.unlink()
    with pytest.raises(DataError, match=r"snli\.jsonl: cannot be read"):
        read_snli(snli)


# -- SNLI


def test_a_pair_holds_what_its_line_says(snli: Path) -> None:
    other = {"pairID": "b", "gold_label": "entailment", "sentence1_binary_parse": "Yes"}
    first, second = read_snli(
        str(write(snli, {"sentence2_binary_parse": "( They ( ( jump -LRB- ) . ) )"}, other))
    )
    jump = Tree.from_transitions([0, 0, 0, 1, 0, 1, 1], ["They", "jump", "-LRB-", "."])
    assert first == Pair("34.jpg#4r1n", (CONSTITUENCY[0], jump), "neutral")
    assert (second.id, second.target, second.trees[0]) == ("b", "entailment", Tree.left(["Yes"]))


def test_pairs_without_a_majority_are_left_out(snli: Path) -> None:
    labels = ("-", "contradiction", "-", "neutral")
    write(snli, *({"gold_label": label, "pairID": label} for label in labels))
    assert [pair.id for pair in read_snli(snli)] == ["contradiction", "neutral"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold_label": "Neutral"}, ":2: .*entailment, neutral, contradiction or '-' .*'Neutral'"),
        ({"pairID": None}, ":2: .* 'pairID', found None"),
        ({"sentence2_binary_parse": "( They ( jump )"}, ":2: sentence2.*, character 16: unbal"),
        ({"sentence1_binary_parse": ""}, ":2: sentence1_binary_parse, character 1: .*nothing"),
    ],
)
def test_a_malformed_line_is_told_with_its_place_or_skipped(
    snli: Path, change: dict[str, object], message: str
) -> None:
    write(snli, {}, change, {})
    with pytest.raises(TreeError, match=message) as caught:
        read_snli(snli)
    assert (caught.value.source, caught.value.line) == (str(snli), 2)
    skipped: list[TreeError] = []
    assert len(read_snli(snli, skipped=skipped)) == 2
    assert [str(error) for error in skipped] == [str(caught.value)]
