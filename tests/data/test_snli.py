"""Reading the sentence pairs of SNLI."""

import json
from pathlib import Path

import pytest

from thinstack.core import Tree
from thinstack.data.snli import SnliPair, read_snli
from thinstack.errors import DataError, TreeError

LINE = {
    "annotator_labels": ["neutral"],
    "gold_label": "neutral",
    "pairID": "34.jpg#4r1n",
    "sentence1": "A person jumps",
    "sentence1_binary_parse": "( ( A person ) jumps )",
    "sentence2_binary_parse": "( They ( ( jump -LRB- ) . ) )",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pairs.jsonl"


def write(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_pair_holds_what_its_line_says(path: Path) -> None:
    write(
        path,
        LINE,
        {**LINE, "pairID": "b", "gold_label": "entailment", "sentence1_binary_parse": "Yes"},
    )
    first, second = read_snli(str(path))
    assert first.trees == (
        Tree.from_transitions([0, 0, 1, 0, 1], ["A", "person", "jumps"]),
        Tree.from_transitions([0, 0, 0, 1, 0, 1, 1], ["They", "jump", "-LRB-", "."]),
    )
    assert first == SnliPair("34.jpg#4r1n", first.trees, "neutral")
    assert (second.id, second.label, second.trees[0]) == ("b", "entailment", Tree.left(["Yes"]))


def test_pairs_without_a_majority_are_left_out(path: Path) -> None:
    lines = [
        {**LINE, "gold_label": label, "pairID": label}
        for label in ("-", "contradiction", "-", "neutral")
    ]
    assert [pair.id for pair in read_snli(write(path, *lines))] == ["contradiction", "neutral"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"gold_label": "Neutral"},
            (
                ":2: expected gold_label to be one of entailment, neutral, contradiction or '-' "
                ".*'Neutral'"
            ),
        ),
        ({"pairID": None}, ":2: expected a text in the field 'pairID', found None"),
        (
            {"sentence2_binary_parse": "( They ( jump )"},
            ":2: sentence2_binary_parse, character 16: unbalanced brackets",
        ),
        (
            {"sentence1_binary_parse": ""},
            ":2: sentence1_binary_parse, character 1: expected a bracketed tree, found nothing",
        ),
    ],
)
def test_a_malformed_line_is_told_with_its_place_or_skipped(
    path: Path, change: dict[str, object], message: str
) -> None:
    write(path, LINE, {**LINE, **change}, LINE)
    with pytest.raises(TreeError, match=message) as caught:
        read_snli(path)
    assert (caught.value.source, caught.value.line) == (str(path), 2)
    skipped: list[TreeError] = []
    assert len(read_snli(path, skipped=skipped)) == 2
    assert [str(error) for error in skipped] == [str(caught.value)]


def test_a_file_that_is_not_there_is_told(path: Path) -> None:
    with pytest.raises(DataError, match=r"pairs\.jsonl: cannot be read"):
        read_snli(path)
