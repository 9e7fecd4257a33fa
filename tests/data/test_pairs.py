"""Pairs of sentences from every format, with the trees and the target that are asked for."""

import json
from pathlib import Path

import pytest
from data.reading import check_malformed

from thinstack.core import Tree
from thinstack.data.trees.pairs import Pair, read_pairs, read_sick, read_snli
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError

TABLE = "pair_ID\tentailment_judgment\n7\tCONTRADICTION\n12\tNEUTRAL\n"
CONSTITUENCY = (Tree.left(["a", "dog", "runs"]), Tree.left(["it", "sleeps"]))
LINE = {
    "annotator_labels": ["neutral"],
    "gold_label": "neutral",
    "pairID": "34.jpg#4r1n",
    "sentence1": "A dog runs",
    "sentence1_binary_parse": "( ( a dog ) runs )",
    "sentence2_binary_parse": "( it sleeps )",
}


@pytest.fixture
def snli(tmp_path):
    return tmp_path / "snli.jsonl"


def write(path: Path, *changes: dict[str, object]) -> Path:
    lines = (json.dumps({**LINE, **change}) + "\n" for change in changes)
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("target", ["relatedness", "entailment"])
@pytest.mark.parametrize("trees", ["binary", "constituency", "dependency", "sequence"])
def test_sick_has_all_trees_and_targets(sick, trees, target):
    (sick.parent / "SICK_trial.txt").write_text(TABLE, encoding="utf-8")
    found = read_pairs(str(sick), format="sick.v1", trees=trees, target=target)
    kind = "dependency" if trees == "dependency" else "constituency"
    targets = {"relatedness": [3.5, 1.0], "entailment": ["contradiction", "neutral"]}[target]
    expected = zip(read_sick(sick), targets, strict=True)
    assert found == [Pair(pair.id, getattr(pair, kind), wanted) for pair, wanted in expected]


@pytest.mark.parametrize("trees", ["binary", "constituency", "sequence"])
def test_snli_has_binary_trees_and_classes(snli, trees):
    write(snli, {"pairID": "x"}, {"gold_label": "-"})
    found = read_pairs(snli, format="snli.v1", trees=trees, target="entailment")
    assert found == [Pair("x", CONSTITUENCY, "neutral")]


@pytest.mark.parametrize(
    ("format", "trees", "target", "error", "message"),
    [
        ("snli.v1", "dependency", "entailment", ConfigError, "'dependency'; .*binary, const"),
        ("snli.v1", "binary", "relatedness", ConfigError, "'relatedness'; .* entailment"),
        ("sick.v1", "balanced", "relatedness", ConfigError, "'balanced'; .*dependency"),
        ("x.v1", "binary", "entailment", UnknownNameError, r"'x\.v1'; .* sick\.v1, snli\.v1"),
    ],
)
def test_what_a_format_does_not_have_is_refused(snli, format, trees, target, error, message):
    with pytest.raises(error, match=message):
        read_pairs(snli, format=format, trees=trees, target=target)


def test_entailment_needs_the_source_table(sick):
    with pytest.raises(DataError, match=r"SICK_trial\.txt"):
        read_pairs(sick, format="sick.v1", trees="binary", target="entailment")
    assert read_pairs(sick, format="sick.v1", trees="binary", target="relatedness")[0].target == 3.5


def test_errors_of_the_files_are_passed_on(sick, snli):
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


def test_a_pair_holds_what_its_line_says(snli):
    other = {"pairID": "b", "gold_label": "entailment", "sentence1_binary_parse": "Yes"}
    first, second = read_snli(
        str(write(snli, {"sentence2_binary_parse": "( They ( ( jump -LRB- ) . ) )"}, other))
    )
    jump = Tree.from_transitions([0, 0, 0, 1, 0, 1, 1], ["They", "jump", "-LRB-", "."])
    assert first == Pair("34.jpg#4r1n", (CONSTITUENCY[0], jump), "neutral")
    assert (second.id, second.target, second.trees[0]) == ("b", "entailment", Tree.left(["Yes"]))


def test_pairs_without_a_majority_are_left_out(snli):
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
def test_a_malformed_line_is_told_with_its_place_or_skipped(snli, change, message):
    good = read_snli(write(snli, {}, {}))
    check_malformed(read_snli, write(snli, {}, change, {}), message, 2, good=good)
