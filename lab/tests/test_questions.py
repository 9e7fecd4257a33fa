"""Reading questions with their class and parse."""

import json
import re

import pytest

from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import DataError, TreeError
from thinstack_lab.questions import read_questions

GOOD = {
    "sentence": "Who was it ?",
    "label": "HUM",
    "parse": "(ROOT (WHNP Who) (SQ (@SQ (VBD was) (NP it)) (. ?)))",
}


def written(folder, *lines):
    folder.mkdir(exist_ok=True)
    path = folder / "questions.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    path.write_text("".join(texts), encoding="utf-8")
    return path


def test_the_class_is_the_label_of_the_root_and_the_only_one(tmp_path):
    path = written(tmp_path, GOOD, "\n", {**GOOD, "label": "X", "more": 3})
    first, second = read_questions(str(path))
    expected = from_brackets("( Who ( ( was it ) ? ) )", labelled=False)
    assert first == expected.with_labels([None] * 6 + ["HUM"])
    assert second == expected.with_labels([None] * 6 + ["X"])


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        ("(R (S (W (WP Who)) (X (Y (VBD was) (NP (PRP it))) (. ?))))", "( Who ( ( was it ) ? ) )"),
        ("(R (WP Who) (VBD was) (PRP it) (. ?))", "( Who ( was ( it ? ) ) )"),
        ("(ROOT (WHADVP (WRB Why)))", "Why"),
    ],
)
def test_chains_are_collapsed_and_wide_nodes_branch_to_the_right(tmp_path, parse, expected):
    bare = from_brackets(expected, labelled=False)
    question = {"sentence": " ".join(bare.words), "label": "HUM", "parse": parse}
    (tree,) = read_questions(written(tmp_path, question))
    assert tree == bare.with_labels([*[None] * (len(bare) - 1), "HUM"])


def test_the_words_are_those_of_the_parse_however_it_cut_and_quoted_them(tmp_path):
    parse = "(ROOT (A (A (A No.) (B 1)) (C -LRB-)) (D (E (F ``) (G O`Hara)) (H and\\/or)))"
    (tree,) = read_questions(
        written(tmp_path, {**GOOD, "sentence": "No.1 ( \" O'Hara and/or", "parse": parse})
    )
    assert tree.words == ("No.", "1", "-LRB-", "``", "O`Hara", "and\\/or")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{\n", r":2:2: .* the fields sentence, label, parse: Expecting property name"),
        ("[1]\n", r":2: .* the fields sentence, label, parse, found \[1\]"),
        ({"sentence": "Who", "label": "HUM"}, ":2: .* 'parse', found 'no such field'"),
        ({**GOOD, "label": 3}, ":2: .* 'label', found 3"),
        ({**GOOD, "label": ""}, ":2: .* 'label', found an empty text"),
        ({**GOOD, "parse": "(ROOT (WP Who"}, ":2: parse, character 14: unbalanced brackets"),
        ({**GOOD, "sentence": "Who is it ?"}, r":2: .* 'Who is it \?', .* 'Who was it \?'"),
    ],
)
def test_a_malformed_line_is_told_with_its_place_or_skipped(tmp_path, line, message):
    path, skipped = written(tmp_path, GOOD, line, GOOD), []
    with pytest.raises(TreeError, match=message):
        read_questions(path)
    assert len(read_questions(path, skipped=skipped)) == 2
    assert re.search(message, str(skipped[0]))


def test_a_file_without_questions_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"questions\.jsonl: "):
        read_questions(written(tmp_path, "\n \n"))
    with pytest.raises(DataError, match="cannot be read"):
        read_questions(tmp_path / "none")
