"""Reading treebank files."""

from pathlib import Path

import pytest

from thinstack.data.treebank import label_ids, read_labelled, read_trees
from thinstack.errors import DataError, TreeError

NAMES = ("very negative", "negative", "neutral", "positive", "very positive")


@pytest.fixture
def write(tmp_path: Path):
    def write_bytes(data: bytes) -> Path:
        path = tmp_path / "trees.txt"
        path.write_bytes(data)
        return path

    return write_bytes


def test_trees_are_read_past_blank_lines_mark_and_line_ends(write) -> None:
    text = "\ufeff(3 (2 The) (4 acting))\r\n\r\n  \n(1 (2 2\u00a01\\/2) (0 n\u2028o))"
    first, second = read_trees(write(text.encode()))
    assert first.words == ("The", "acting")
    assert first.labels == ("2", "4", "3")
    assert second.words == ("2\u00a01\\/2", "n\u2028o")


def test_other_encodings_are_read_when_named(write) -> None:
    path = write("(2 café)".encode("latin-1"))
    assert read_trees(path, encoding="latin-1")[0].words == ("café",)
    with pytest.raises(DataError, match=r"trees\.txt:1: expected text in utf-8, found the byte 0xe9 at position 6"):
        read_trees(path)
    with pytest.raises(DataError, match="unknown encoding 'klingon'"):
        read_trees(path, encoding="klingon")


def test_an_unbalanced_tree_is_placed(write) -> None:
    path = write(b"(2 a)\n\n(3 (2 b) (2 c)\n")
    with pytest.raises(TreeError, match="unbalanced") as caught:
        read_trees(path)
    assert (caught.value.source, caught.value.line) == (str(path), 3)
    assert caught.value.column == len("(3 (2 b) (2 c)") + 1


@pytest.mark.parametrize("data", [b"", b"\n \n", "\ufeff".encode()])
def test_a_file_without_trees_is_refused(write, data: bytes) -> None:
    with pytest.raises(DataError, match="found no tree"):
        read_trees(write(data))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.txt: cannot be read: No such file"):
        read_trees(tmp_path / "nowhere.txt")


def test_labels_are_numbers_names_or_missing(write) -> None:
    tree = read_trees(write(b"(3 (positive a) (0 b))"))[0]
    assert label_ids(tree, NAMES).tolist() == [3, 0, 3]
    assert label_ids(tree.with_labels([None, "4", None]), NAMES).tolist() == [-1, 4, -1]


def test_a_name_wins_over_a_number(write) -> None:
    assert label_ids(read_trees(write(b"(1 (0 a) (1 b))"))[0], ("1", "0")).tolist() == [1, 0, 0]


@pytest.mark.parametrize("label", ["5", "-1", "03", "Positive"])
def test_an_unknown_label_is_placed(write, label: str) -> None:
    path = write(f"(2 a)\n(3 (2 so) ({label} good))".encode())
    with pytest.raises(
        TreeError, match=f"node 1 \\('good'\\) has the label '{label}'; expected one of very negative, .* 0 to 4"
    ) as caught:
        read_labelled(path, NAMES)
    assert (caught.value.source, caught.value.line) == (str(path), 2)


def test_the_sentiment_treebank_has_its_published_size(data_dir: Path) -> None:
    dev = read_labelled(data_dir / "sst" / "dev.txt", NAMES)
    assert len(dev) == 1101
    assert sum(len(ids) for _, ids in dev) == 41_447
    assert {int(label) for _, ids in dev for label in set(ids.tolist())} == {0, 1, 2, 3, 4}
