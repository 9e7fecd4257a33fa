"""Texts of a table: their sentences and words, what cannot be used, and what is set aside."""

import io
import json
import re
from collections import Counter
from types import SimpleNamespace

import pytest
import tiny_texts
from rich.console import Console

from thinstack.errors import DataError
from thinstack.training.examples.labels import MAX_CLASSES, find_labels
from thinstack.training.examples.set_aside import repeated, set_aside_share
from thinstack.training.loop.measuring import Answers
from thinstack.training.tasks.spans import Spans
from thinstack.training.tasks.texts import Text, Texts, report
from thinstack.training.tasks.texts.report import plain_rival, show_texts

LABELS = ("no", "yes")
BY_TEXT = Texts().class_of, Texts().group_of


def read(folder, *rows, skipped=None, **files):
    path = folder / "t.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    task = Spans if files.pop("spans", False) else Texts
    skips = skipped is not None
    return task(skip_bad=skips, **files).read(path, SimpleNamespace(shown_labels=LABELS), skipped)


def test_a_text_is_its_sentences_in_treebank_words(tmp_path):
    (found,) = read(tmp_path, {"text": 'It isn\'t "bad". Dr. No is!', "label": "yes"})
    assert found.sentences == [
        ["It", "is", "n't", "``", "bad", "''", "."],
        ["Dr.", "No", "is", "!"],
    ]
    assert (found.label, found.line) == ("yes", 1)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "Fine.", "label": "YES"}, r"t.jsonl:2: expected one of .*no, yes.* found 'YES'"),
        ({"text": " \u2003\n", "label": "no"}, "t.jsonl:2: "),
        ({"text": None, "label": "no"}, "t.jsonl:2: "),
    ],
)
def test_a_row_that_cannot_be_used_is_named_or_skipped(tmp_path, row, problem):
    good = {"text": "Fine.", "label": "no"}
    with pytest.raises(DataError, match=problem):
        read(tmp_path, good, row, good)
    skipped = []
    assert [text.line for text in read(tmp_path, good, row, good, skipped=skipped)] == [1, 3]
    with pytest.raises(DataError, match=problem):
        raise skipped[0]


TEXT = "  A dull film. It's fine."


@pytest.mark.parametrize(
    ("phrase", "words"),
    [("dull film", ["dull", "film"]), ("It's fine", ["It", "'s", "fine"]), ("A", ["A"])],
)
def test_a_span_is_the_words_of_its_characters(tmp_path, phrase, words):
    start = TEXT.index(phrase)
    row = {"text": TEXT, "label": "yes", "start": start, "end": start + len(phrase)}
    (found,) = read(tmp_path, row, spans=True)
    assert found.sentences == [words]


@pytest.mark.parametrize(("start", "end"), [(3, 8), (4, 4), (-1, 3), (0, 99), (8, 4), ("x", 3)])
def test_a_span_that_cuts_words_is_refused(tmp_path, start, end):
    row = {"text": TEXT, "label": "yes", "start": start, "end": end}
    with pytest.raises(DataError, match=r"t\.jsonl:1: expected .*start and end"):
        read(tmp_path, row, spans=True)


def text(label, number=0):
    return Text(f"text {number}", [["text"]], label, number)


def test_the_share_that_is_set_aside_is_that_of_every_class():
    texts = [text(label, n) for label, count in (("a", 200), ("b", 40), ("c", 2), ("d", 1))
             for n in range(count)]  # fmt: skip
    train, dev = set_aside_share(texts, 0.1, lambda one: one.label, id)
    assert Counter(one.label for one in dev) == {"a": 20, "b": 4, "c": 1}
    assert sorted(train + dev) == sorted(texts)
    assert (train, dev) == set_aside_share(texts, 0.1, lambda one: one.label, id)


def test_a_text_that_stands_in_several_rows_goes_to_one_part():
    texts = [Text(f"A film {n // 3 if n % 5 else n}.", [["A"]], "ab"[n % 2], n) for n in range(120)]
    alike = [one._replace(text=f" {one.text.upper()}\u200b", line=200) for one in texts[:40]]
    given = [*texts, *alike]
    train, dev = set_aside_share(given, 0.25, *BY_TEXT)
    group_of = Texts().group_of
    assert not {group_of(one) for one in train} & {group_of(one) for one in dev}
    assert sorted(train + dev) == sorted(given)
    assert (train, dev) == set_aside_share(given, 0.25, *BY_TEXT)
    counts = Counter(one.label for one in dev)
    assert all(abs(counts[label] - 20) <= 4 for label in "ab"), counts


def test_groups_larger_than_the_share_leave_some_of_each_class_in_both_parts():
    texts = [Text(f"{label} {n // 10}", [["A"]], label, n) for label in "ab" for n in range(30)]
    train, dev = set_aside_share(texts, 0.1, *BY_TEXT)
    assert Counter(one.label for one in dev) == {"a": 10, "b": 10}
    assert Counter(one.label for one in train) == {"a": 20, "b": 20}
    one_text = [Text("the same", [["A"]], label, 1) for label in "aabb"]
    assert set_aside_share(one_text, 0.5, *BY_TEXT) == (one_text, [])


def test_rows_with_other_classes_are_counted():
    texts = [text("a", 1), text("b", 1), text("a", 2), text("a", 2), text("a", 3)]
    assert repeated(texts, *BY_TEXT) == (2, 1)


def test_the_rival_names_classes_as_the_labels_are_in_order():
    texts = [Text(word, [[word, "film"]], label, 1) for word, label in
             [("good", "yes"), ("dull", "no"), ("fine", "maybe")] * 4]  # fmt: skip
    figures = plain_rival(texts, texts[:3], ("no", "yes", "maybe"))
    assert (figures["accuracy"], figures["texts"]) == (100, 3)


def test_the_rival_learns_every_class_from_a_part_of_the_texts(monkeypatch):
    monkeypatch.setattr(report, "MAX_RIVAL_TEXTS", 3)
    texts = [Text("good", [["good"]], "yes", 1)] * 9
    texts[1] = Text("dull", [["dull"]], "no", 1)  # of the others, it would learn only "yes"
    assert plain_rival(texts, texts, ("no", "yes"))["accuracy"] == 100


def test_the_rival_learns_from_texts_without_a_common_piece():
    texts = [
        Text(sign, [[sign]], "ab"[n % 2], 1)
        for n, sign in enumerate(map(chr, range(0x4E00, 0x4E3C)))
    ]
    assert plain_rival(texts, texts, ("a", "b"))["accuracy"] == 100


# -- classes that a table has


@pytest.mark.parametrize(
    "expected",
    [
        *[("1", "2", "10"), ("-0.5", "0", "2.5"), ("low", "medium", "high")],
        *[("negative", "neutral", "positive"), ("Very Negative", "negative", "Very Positive")],
        *[("LOC", "NUM", "abbr"), ("1 star", "2 stars")],
    ],
)
def test_classes_keep_the_order_that_they_have(expected):
    for given in (expected, expected[::-1], expected[1:] + expected[:1]):
        assert find_labels([*given, *given], "t.csv") == expected


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ([], "two classes or more, found no row"),
        (["a", "a"], "found only the class 'a';"),
        ([f"text {n}" for n in range(MAX_CLASSES + 1)], "at most 200 classes.*--label"),
        (["Good", "bad", "good", "good"], r"'Good' \(1 rows\) and 'good' \(2 rows\).*--labels"),
        (["not good", "not  good ", "x"], "differ only in case or spaces"),
        (["1", "1.0", "0"], r"'1' \(1 rows\) and '1\.0' \(1 rows\) are the same number"),
        (["été", "e\u0301te\u0301"], r"'\\xe9t\\xe9' .* and 'e\\u0301te\\u0301' .* look the same"),
        (["up", "down", "up\u2060"], r"'up' .* and 'up\\u2060' .*--labels"),
        (["up", "down", "NULL"], r"the class 'NULL' \(1 rows\) means a missing value"),
        (["up", "down", "?"], r"the class '\?' \(1 rows\) means a missing value.*--labels"),
    ],
)
def test_what_no_table_of_classes_holds_is_asked_about(labels, problem):
    with pytest.raises(DataError, match=f"t.csv: .*{problem}"):
        find_labels(labels, "t.csv")


@pytest.mark.parametrize(
    ("several", "others"),
    [
        ("rude|late", ["rude", "late"]),
        ("a; b", ["a", "b", "c"]),
        ("a#b", ["a#c", "c"]),
        ("good, bad", ["good", "bad"]),
        ("food, price", ["price, wine", "food, wine", "staff"]),
        ("x|y", ["y|z", "z|x"]),
        ("['a', 'b']", ["['b']", "['a']"]),
    ],
)
def test_several_labels_in_a_cell_are_refused_with_their_number(several, others):
    with pytest.raises(DataError, match=re.escape(repr(several))) as caught:
        find_labels([several] * 7 + others, "t.csv")
    assert re.search(
        rf"{7 + sum(bool(re.search('[#|,]', one)) for one in others)} rows", str(caught.value)
    )


@pytest.mark.parametrize(
    "label", ["C#", "news; sport", "Yes, of course", "and/or", "#happy", "a|", "[x, y]"]
)
def test_a_label_with_a_separator_is_one_if_no_part_is_another(label):
    assert set(find_labels([label, "other", "third"], "t.csv")) == {label, "other", "third"}


def test_labels_that_share_a_part_after_a_comma_are_labels():
    cities = {"Seattle, WA", "Tacoma, WA", "Portland, OR"}
    assert set(find_labels(cities, "t.csv")) == cities


def test_measurements_are_no_classes():
    measured = [f"0.{number:03}" for number in range(7, 67)]
    for values in (measured, measured * 20, [str(number) for number in range(30)]):
        with pytest.raises(DataError, match="measurements"):
            find_labels(values, "t.csv")
    for steps in ([1, 2, 3, 4, 5], [n / 2 for n in range(2, 11)]):
        assert len(find_labels(map(str, steps), "t.csv")) == len(steps)
    assert len(find_labels([str(number) for number in range(50)] * 3, "t.csv")) == 50


# -- what is said of a trained model: beside its rival, and while it learns


NO_ANSWERS = Answers(*[[]] * 5)


def figures_of(accuracy):
    return {"accuracy": accuracy, "macro_f1": 1.0, "binary_accuracy": None, "texts": 200}


def said(recipe, own, rival):
    file = io.StringIO()
    answers = NO_ANSWERS._replace(gold=[0], predicted=[0])
    show_texts(answers, figures_of(own), ("plain", figures_of(rival)), recipe, Console(file=file))
    return " ".join(file.getvalue().split())


@pytest.mark.parametrize(
    ("init", "tries"),
    [
        ("none", ("--init sentiment,", "--init sentiment-context")),
        ("sentiment", ("sentiment-context",)),
    ],
)
def test_where_the_rival_is_ahead_it_says_what_to_try(init, tries):
    recipe = tiny_texts.recipe(None if init == "none" else init, epochs=8)
    ahead = said(recipe, 70.0, 72.5)
    assert "ahead by 2.5 percentage points" in ahead
    assert all(each in ahead for each in (*tries, "more rows", "--epochs 16 or 4"))
    assert "ahead" not in said(recipe, 72.5, 72.5)


@pytest.mark.parametrize(("stop_on", "flattering"), [("dev", True), ("nothing", False)])
def test_figures_that_chose_the_epoch_are_called_too_good(stop_on, flattering):
    recipe = tiny_texts.recipe(None, stop_on=stop_on)
    assert ("slightly optimistic" in said(recipe, 70.0, 60.0)) == flattering
