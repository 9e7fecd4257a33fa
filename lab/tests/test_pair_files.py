"""Pairs of sentences: SNLI, SICK, and every format by the trees and the target asked for."""

import json
from collections import Counter

import pytest

from thinstack.core import Tree
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError
from thinstack.training.tasks.pairs import Pair
from thinstack_lab.pair_files import read_pairs, read_sick, read_snli

SICK = {
    "a.toks": "a dog runs\nyes\n",
    "a.parents": "2 3 0\n0\n",
    "a.rels": "det nsubj root\nroot\n",
    "a.cparents": "4 4 5 5 0\n0\n",
    "b.toks": "it sleeps\nno , no\n",
    "b.parents": "2 0\n3 3 0\n",
    "b.rels": "nsubj root\ndep punct root\n",
    "b.cparents": "3 3 0\n5 4 4 5 0\n",
    "id.txt": "7\n12\n",
    "sim.txt": "3.5\n1\n",
}


@pytest.fixture
def sick(tmp_path):
    """The split "dev" of two pairs, without its source table."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for name, content in SICK.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


TABLE = "pair_ID\tentailment_judgment\n7\tCONTRADICTION\n12\tNEUTRAL\n"
CONSTITUENCY = (Tree.left(["a", "dog", "runs"]), Tree.left(["it", "sleeps"]))
BINARY = (CONSTITUENCY, (Tree.left(["yes"]), Tree.right(["no", ",", "no"])))
DEPENDENCY = (
    (
        Tree.from_parents([1, 2, -1], ["a", "dog", "runs"], ["det", "nsubj", "root"]),
        Tree.from_parents([1, -1], ["it", "sleeps"], ["nsubj", "root"]),
    ),
    (
        Tree.from_parents([-1], ["yes"], ["root"]),
        Tree.from_parents([2, 2, -1], ["no", ",", "no"], ["dep", "punct", "root"]),
    ),
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
def snli(tmp_path):
    return tmp_path / "snli.jsonl"


def write(path, *changes):
    lines = (json.dumps({**LINE, **change}) + "\n" for change in changes)
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("target", ["relatedness", "entailment"])
@pytest.mark.parametrize("trees", ["binary", "constituency", "dependency", "sequence"])
def test_sick_has_all_trees_and_targets(sick, trees, target):
    (sick.parent / "SICK_trial.txt").write_text(TABLE, encoding="utf-8")
    found = read_pairs(str(sick), format="sick.v1", trees=trees, target=target)
    targets = {"relatedness": [3.5, 1.0], "entailment": ["contradiction", "neutral"]}[target]
    sides = DEPENDENCY if trees == "dependency" else BINARY
    assert found == [Pair(*pair) for pair in zip(("7", "12"), sides, targets, strict=True)]


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


# -- SNLI


def test_a_pair_holds_what_its_line_says(snli):
    other = {"pairID": "b", "gold_label": "entailment", "sentence1_binary_parse": "Yes"}
    first, second = read_snli(
        str(write(snli, {"sentence2_binary_parse": "( They ( ( jump -LRB- ) . ) )"}, other))
    )
    jump = Tree.from_transitions([0, 0, 0, 1, 0, 1, 1], ["They", "jump", "-LRB-", "."])
    assert first == Pair("34.jpg#4r1n", (CONSTITUENCY[0], jump), "neutral")
    assert (second.id, second.target, second.trees[0]) == ("b", "entailment", Tree.left(["Yes"]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold_label": "Neutral"}, ":2: .*entailment, neutral, contradiction or '-' .*'Neutral'"),
        ({"pairID": None}, ":2: .* 'pairID', found nothing"),
        ({"sentence2_binary_parse": "( They ( jump )"}, ":2: sentence2.*, character 16: unbal"),
    ],
)
def test_a_malformed_line_is_told_with_its_place(snli, change, message):
    with pytest.raises((TreeError, DataError), match=f"{snli}{message}"):
        read_snli(write(snli, {}, change, {}))


# -- SICK


HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
ROWS = (
    "12\tYes\tNo, no\t1\tCONTRADICTION\n",
    "8\tx\ty\t2\tENTAILMENT\n",
    "7\tA dog runs\tIt sleeps\t3.5\tNEUTRAL\n",
)


def table(sick, content, name="SICK_trial.txt"):
    path = sick.parent / name
    path.write_text(content, encoding="utf-8")
    return path


def judged(folder, trees="binary"):
    return [pair.target for pair in read_sick(folder, trees, "entailment")]


@pytest.mark.parametrize(
    ("split", "name"),
    [("train", "SICK_train.txt"), ("dev", "SICK_trial.txt"), ("test", "SICK_test_annotated.txt")],
)
def test_entailment_comes_from_the_table_of_the_split(sick, monkeypatch, split, name):
    folder = sick.rename(sick.with_name(split))
    table(folder, HEADER + "".join(ROWS), name)
    assert judged(folder) == ["neutral", "contradiction"]
    monkeypatch.chdir(folder)
    assert judged(".") == ["neutral", "contradiction"]


@pytest.mark.parametrize("name", sorted(SICK))
def test_every_file_is_needed(sick, name):
    (sick / name).unlink()
    trees = "dependency" if name.endswith(("parents", "rels")) and "c" not in name else "binary"
    with pytest.raises(DataError, match="cannot be read: No such file") as caught:
        read_sick(sick, trees, "relatedness")
    assert str(sick / name) in str(caught.value)


@pytest.mark.parametrize(
    ("names", "content", "found"),
    [
        (["id.txt"], "7\n12\n2\n", 3),
        (["sim.txt"], "3.5\n1\n2\n", 3),
        (["b.toks", "b.parents", "b.rels", "b.cparents"], "0\n", 1),
    ],
)
def test_files_of_different_lengths_are_refused(sick, names, content, found):
    for name in names:
        (sick / name).write_text(content)
    with pytest.raises(DataError, match=f"{names[0]}: .* 2 .* {found}"):
        read_sick(sick, "binary", "relatedness")


@pytest.mark.parametrize("score", ["", "0.9", "5.1", "nan", "high"])
def test_a_score_outside_the_scale_is_refused(sick, score):
    (sick / "sim.txt").write_text(f"5\n{score}\n")
    with pytest.raises(DataError, match=f"sim.txt:2: .*'{score}'"):
        read_sick(sick, "binary", "relatedness")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("pair_ID\tlabel\n", r"entailment_judgment.*, found .*'label'"),
        (HEADER + "7 a b 1 NEUTRAL\n", ":2: expected 5 cells, .*found 1"),
        (HEADER + ROWS[0], r": .*id\.txt, found none for '7'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(sick, content, message):
    path = table(sick, content)
    with pytest.raises(DataError, match=message) as caught:
        judged(sick)
    assert str(caught.value).startswith(str(path))


def test_the_published_splits(data_dir):
    folder = data_dir / "sick"
    if not folder.is_dir():
        pytest.skip("needs SICK: the folder that THINSTACK_DATA names has no sick/")
    assert len(judged(folder / "train")) == 4500
    dev = [read_sick(folder / "dev", trees, "entailment") for trees in ("dependency", "binary")]
    assert len(dev[0]) == 500
    for dependency, constituency in zip(*dev, strict=True):
        for one, other in zip(dependency.trees, constituency.trees, strict=True):
            assert len(one) == len(one.words) == len(other.words)
            assert one.words == other.words
            assert one.labels[one.root] == "root"
            assert len(other.transitions) == len(other)
    counts = Counter(pair.target for pair in dev[0])
    assert counts == {"neutral": 282, "entailment": 144, "contradiction": 74}
