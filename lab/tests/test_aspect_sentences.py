"""Our own sentences for models of aspects (`lab/recipes/aspects/own.jsonl`): their form, what is in
them, and that no suite has a sentence like one of them."""

import json
import re
from collections import Counter

import pytest
from pages import ROOT

from thinstack.evaluate.suite import read_suite, suite_names

FILE = ROOT / "lab" / "recipes" / "aspects" / "own.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SENTENCES: dict[str, list[dict]] = {}
for row in ROWS:
    SENTENCES.setdefault(row["text"], []).append(row)
NEGATORS = (
    r"\b(not|no|never|nothing|nobody|none|nor|neither|without|cannot|cant|dont|hardly)\b|n't\b"
)
PRONOUNS = {"it", "this", "that", "they", "he", "she", "everything", "something"}
WHOLES = {"hotel", "phone", "shop", "store", "car", "bank", "film", "movie", "course"}


def words(text):
    return re.findall(r"[\w']+", text.lower())


def runs(text, length):
    """The words of a text, so many in a row."""
    found = words(text)
    return {tuple(found[place : place + length]) for place in range(len(found) - length + 1)}


def test_rows_are_terms_or_texts_without_any():
    assert len({json.dumps(row) for row in ROWS}) == len(ROWS)
    texts = [row["text"] for row in ROWS]
    together = [text for place, text in enumerate(texts) if not place or texts[place - 1] != text]
    assert len(together) == len(SENTENCES)
    for text, rows in SENTENCES.items():
        assert text == " ".join(text.split())
        for row in rows:
            assert list(row) == ["text", "start", "end", "label"]
            if row["start"] is None:
                assert row["end"] is row["label"] is None
                assert len(rows) == 1
            else:
                assert row["label"] in ("negative", "neutral", "positive")


def test_terms_are_whole_words_that_name_a_part():
    for text, rows in SENTENCES.items():
        last = 0
        for start, end in ((row["start"], row["end"]) for row in rows if row["label"]):
            term = text[start:end]
            assert last <= start < end <= len(text), text
            last = end
            assert re.compile(r"(?<!\w)" + re.escape(term) + r"(?!\w)").match(text, start), text
            assert term[0].isalnum(), text
            assert term[-1].isalnum(), text
            named = words(term)
            assert named[0] not in ("the", "a", "an", "my", "our", "their", "its", "his", "her")
            assert not PRONOUNS & {*named}, text
            assert term.lower() not in WHOLES, text


def test_no_two_sentences_are_alike():
    alike = Counter(" ".join(words(text)) for text in SENTENCES)
    assert alike.most_common(1)[0][1] == 1
    frames = Counter(run for text in SENTENCES for run in runs(text, 5))
    assert frames.most_common(1)[0][1] == 1


def test_there_are_so_many_of_each_sort():
    labels = {text: {row["label"] for row in rows} for text, rows in SENTENCES.items()}
    both = [text for text, found in labels.items() if {"positive", "negative"} <= found]
    negated = [
        t for t, found in labels.items() if found != {None} and re.search(NEGATORS, t.lower())
    ]
    neutral = [text for text, found in labels.items() if "neutral" in found]
    assert len(SENTENCES) >= 900
    assert sum(found == {None} for found in labels.values()) >= 150
    assert len(both) >= 250
    assert len(negated) >= 150
    assert len(neutral) >= 100
    assert sum("?" in text for text in SENTENCES) >= 60
    assert sum(text == text.lower() and text[-1].isalnum() for text in SENTENCES) >= 50
    sides = Counter(row["label"] for row in ROWS)
    assert 0.8 < sides["positive"] / sides["negative"] < 1.25


@pytest.mark.parametrize("name", suite_names())
def test_suites_have_no_five_words_in_a_row_of_them(name):
    ours = set().union(*(runs(text, 5) for text in SENTENCES))
    whole = {" ".join(words(text)) for text in SENTENCES}
    for case in read_suite(name):
        assert not ours & runs(case.text, 5), case
        assert " ".join(words(case.text)) not in whole, case
