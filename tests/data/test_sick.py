"""Reading the SICK sentence pairs."""

from pathlib import Path

import pytest
from data.conftest import SICK

from thinstack.core import Tree
from thinstack.data.trees.pairs import read_sick
from thinstack.errors import DataError

HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
ROWS = (
    "12\tYes\tNo, no\t1\tCONTRADICTION\n",
    "8\tx\ty\t2\tENTAILMENT\n",
    "7\tA dog runs\tIt sleeps\t3.5\tNEUTRAL\n",
)


def table(sick: Path, content: str, name: str = "SICK_trial.txt") -> Path:
    path = sick.parent / name
    path.write_text(content, encoding="utf-8")
    return path


def test_a_pair_holds_what_its_files_say(sick):
    first, second = read_sick(str(sick))
    assert (first.id, first.relatedness, first.entailment) == ("7", 3.5, None)
    assert (second.id, second.relatedness, second.entailment) == ("12", 1.0, None)
    assert first.dependency == (
        Tree.from_parents([1, 2, -1], ["a", "dog", "runs"], ["det", "nsubj", "root"]),
        Tree.from_parents([1, -1], ["it", "sleeps"], ["nsubj", "root"]),
    )
    assert first.constituency == (Tree.left(["a", "dog", "runs"]), Tree.left(["it", "sleeps"]))
    assert second.dependency[1].labels == ("dep", "punct", "root")
    assert second.constituency == (Tree.left(["yes"]), Tree.right(["no", ",", "no"]))


@pytest.mark.parametrize(
    ("split", "name"),
    [("train", "SICK_train.txt"), ("dev", "SICK_trial.txt"), ("test", "SICK_test_annotated.txt")],
)
def test_entailment_comes_from_the_table_of_the_split(sick, monkeypatch, split, name):
    folder = sick.rename(sick.with_name(split))
    table(folder, HEADER + "".join(ROWS), name)
    assert [pair.entailment for pair in read_sick(folder)] == ["NEUTRAL", "CONTRADICTION"]
    monkeypatch.chdir(folder)
    assert [pair.entailment for pair in read_sick(".")] == ["NEUTRAL", "CONTRADICTION"]


def test_columns_of_the_table_are_found_by_name(sick):
    table(sick, "entailment_judgment\tpair_ID\r\nENTAILMENT\t12\r\nNEUTRAL\t7\r\n")
    assert [pair.entailment for pair in read_sick(sick)] == ["NEUTRAL", "ENTAILMENT"]


@pytest.mark.parametrize("name", sorted(SICK))
def test_every_file_is_needed(sick, name):
    (sick / name).unlink()
    with pytest.raises(DataError, match="cannot be read: No such file") as caught:
        read_sick(sick)
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
        read_sick(sick)


@pytest.mark.parametrize("score", ["", "0.9", "5.1", "nan", "high"])
def test_a_score_outside_the_scale_is_refused(sick, score):
    (sick / "sim.txt").write_text(f"5\n{score}\n")
    with pytest.raises(DataError, match=f"sim.txt:2: .*'{score}'"):
        read_sick(sick)


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
        read_sick(sick)
    assert str(caught.value).startswith(str(path))


def test_the_published_splits(data_dir):
    folder = data_dir / "sick"
    if not folder.is_dir():
        pytest.skip("needs SICK: the folder that THINSTACK_DATA names has no sick/")
    assert len(read_sick(folder / "train")) == 4500
    dev = read_sick(folder / "dev")
    assert len(dev) == 500
    for pair in dev:
        for dependency, constituency in zip(pair.dependency, pair.constituency, strict=True):
            assert len(dependency) == len(dependency.words) == len(constituency.words)
            assert dependency.words == constituency.words
            assert dependency.labels[dependency.root] == "root"
            assert len(constituency.transitions) == len(constituency)
    labels = [pair.entailment for pair in dev]
    counts = {name: labels.count(name) for name in set(labels)}
    assert counts == {"NEUTRAL": 282, "ENTAILMENT": 144, "CONTRADICTION": 74}
