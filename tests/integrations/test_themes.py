"""`thinstack.themes` against numpy and phrases by hand."""

import dataclasses
import json
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from vector_models import write_vector_bundle

import thinstack
from thinstack.data.words.ptb import plain
from thinstack.errors import DataError, InputError
from thinstack.integrations.themes import centres, counting, run
from thinstack.integrations.themes import themes as themes_module
from thinstack.integrations.themes.centres import grouped, polarity_direction, without
from thinstack.integrations.themes.clauses import TextNodes
from thinstack.integrations.themes.counting import ThemeCounter, is_about
from thinstack.integrations.themes.finding import (
    ClauseGroups,
    best_first,
    free_title,
    product_words,
    title_of,
    typical_words,
)
from thinstack.integrations.themes.matching import FoundThemes, NamedThemes, theme_options
from thinstack.runtime.clauses import ClauseNodes
from thinstack.runtime.scored import unit

PRAISE, BLAME = "awful plot", "awful awful plot"  # as the tiny model has it
TEXTS = [
    *(PRAISE, BLAME, "", f"{PRAISE}\n\n{BLAME}", PRAISE, "Of the.", BLAME),
    *(f"good seats\n\n{PRAISE}", BLAME, "good seats", PRAISE, BLAME),
]
HAS = [{PRAISE, BLAME} & {*text.split("\n\n")} for text in TEXTS]


@pytest.fixture(scope="module")
def model(vector_folder):
    return thinstack.load(vector_folder)


@pytest.fixture(scope="module")
def frame():
    shops = ["Leeds", "Bath"] * len(TEXTS)
    days = pd.date_range("2024-01-20", periods=len(TEXTS), freq="2D")
    return pd.DataFrame({"review": TEXTS, "shop": shops[: len(TEXTS)], "day": days})


@pytest.fixture(scope="module")
def themes(model, frame):
    return thinstack.themes(frame, "review", by="shop", over="day", model=model)


# -- grouping


def blob(angle, count, spread=0.05):
    """Vectors around a direction of the plane, in three dimensions."""
    around = np.linspace(-spread, spread, count)
    rows = [(math.cos(angle + turn), math.sin(angle + turn), turn) for turn in around]
    return unit(np.array(rows, np.float32))


def test_groups_are_dense_and_the_rest_is_outside():
    vectors = np.concatenate([blob(0, 6), blob(1.6, 5), blob(3.2, 2)])
    groups = grouped(vectors, np.arange(13), least=4, most=10)
    assert groups.tolist() == [0] * 6 + [1] * 5 + [-1] * 2
    same = np.array([0] * 6 + [*range(1, 8)])
    assert (grouped(vectors, same, least=4, most=10)[:6] == -1).all(), "one text six times"
    assert grouped(vectors[:0], same[:0], least=4, most=10).tolist() == []
    assert (grouped(np.repeat(vectors[:1], 9, axis=0), np.arange(9), least=4, most=5) == 0).all()


def test_a_clause_that_is_left_joins_the_nearest_group():
    near = np.array([[math.cos(1.1), math.sin(1.1), 0]], np.float32)  # cosine 0.45 with the first
    far = np.array([[math.cos(2.5), math.sin(2.5), 0]], np.float32)
    groups = grouped(np.concatenate([blob(0, 6), near, far]), np.arange(8), least=4, most=10)
    assert groups.tolist() == [0] * 7 + [-1]


def test_near_groups_are_merged_and_large_ones_are_split(monkeypatch):
    two, texts = np.concatenate([blob(0, 6), blob(0.9, 5)]), np.arange(11)  # cosine 0.6
    assert len({*grouped(two, texts, least=4, most=11).tolist()}) == 1
    assert grouped(two, texts, least=4, most=6).tolist() == [0] * 6 + [1] * 5, "too large together"
    two = np.concatenate([blob(0, 6), blob(0.8, 5)])  # cosine 0.7
    monkeypatch.setattr(centres, "_NEAR", 0.75)
    assert grouped(two, texts, least=4, most=11).tolist() == [0] * 11, "merged by their centres"
    assert len({*grouped(two, texts, least=4, most=6).tolist()}) == 2


def test_a_direction_is_taken_out():
    rng = np.random.default_rng(0)
    vectors, polarity = unit(rng.normal(size=(400, 5))), rng.normal(size=400)
    vectors[:, 2] += polarity
    direction = polarity_direction(vectors, polarity.astype(np.float32))
    assert abs(direction[2]) > 0.95
    others = np.stack([direction, unit(rng.normal(size=5))])
    rows = without(vectors, others)
    np.testing.assert_allclose(rows @ others.T, 0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_words_are_those_of_one_theme():
    phrases = [{"the late flight": 3, "flight was late": 1}, {"rude staff": 2, "a flight": 2}]
    counts = [Counter(late=4, flight=4), Counter(rude=2, staff=2, flight=2)]
    average, total = 14 / 2, Counter(late=4, flight=6, rude=2, staff=2)
    expected = [
        sorted(some, key=lambda word: (-some[word] * math.log(1 + average / total[word]), word))
        for some in counts
    ]
    assert typical_words(phrases) == [tuple(some) for some in expected]
    assert typical_words(phrases, {"late"})[0] == ("flight",)


# -- phrases


def side_by_hand(phrase):
    """The side of the clause around a phrase: of the largest phrase in which no two are apart."""
    nodes = ClauseNodes(phrase.sentence)
    node, polarity = phrase.node, [one.polarity for one in phrase.sentence.phrases]
    while nodes.parents[node] >= 0:
        beside = nodes.sibling(node)
        meet = max(nodes.spans[node][0], nodes.spans[beside][0])
        between = {plain(word).lower() for word in phrase.sentence.words[meet - 1 : meet + 1]}
        size = nodes.spans[beside][1] - nodes.spans[beside][0]
        strong = min(abs(polarity[node]), abs(polarity[beside])) >= 0.25 and size > 1
        opposed = strong and polarity[node] * polarity[beside] < 0
        if between & {"but", "yet", ";"} or (opposed and between & {"and", ","}):
            break
        node = nodes.parents[node]
    return 0 if abs(polarity[node]) < 0.25 else int(np.sign(polarity[node]))


def test_columns_are_those_of_phrases(model):
    texts = ["awful plot the film", "the good film but awful seats\n\nPlot film", "not good plot"]
    texts += ["the good film , the awful seats and a plot", "good film and the plot ; awful awful"]
    results = model(texts)
    nodes = TextNodes(results, {"film"})
    phrases = [phrase for result in results for phrase in result.phrases]
    owners = [place for place, result in enumerate(results) for _ in result.phrases]
    assert nodes.texts.tolist() == owners
    assert nodes.widths.tolist() == [len(phrase.text.split()) for phrase in phrases]
    np.testing.assert_allclose(nodes.polarity, [one.polarity for one in phrases], atol=1e-6)
    places = nodes.characters(np.arange(len(phrases)))
    assert places.tolist() == [[phrase.start, phrase.end] for phrase in phrases]
    neutral = {
        phrase.text
        for phrase in phrases
        if not phrase.children and abs(phrase.polarity) < 0.25 and phrase.text.lower() == "plot"
    }
    topics = [sum(word in neutral for word in phrase.text.split()) for phrase in phrases]
    assert nodes.topics.tolist() == topics
    assert sum(topics) > 3
    sides = [side_by_hand(phrase) for phrase in phrases]
    assert nodes.sides.tolist() == sides
    assert {*sides} == {-1, 0, 1}
    assert [nodes.roots[node] for node, phrase in enumerate(phrases) if phrase.parent is None] == [
        node for node, phrase in enumerate(phrases) if phrase.parent is None
    ]


@pytest.mark.parametrize(("sentence", "counts"), [(-0.29, True), (-0.31, False)])
def test_a_clause_counts_if_it_is_clear_together_with_its_sentence(model, sentence, counts):
    (result,) = model(["not good plot"])
    nodes = TextNodes([result])
    (clause,), (side,) = nodes.opinions.clauses, nodes.opinions.sides
    nodes.roots[clause] = 0  # stands for a sentence around it
    nodes.polarity[0], nodes.polarity[clause] = sentence * side, 0.6 * side
    assert (clause in nodes._opinions([result], result.sentences).clauses) == counts


def test_named_themes_are_matched_by_phrases_and_their_sentences(model):
    names = {"a": ["awful plot", "good film"], "b": ["the seats"]}
    matcher = NamedThemes(model, theme_options(names, (), "both", None, 3, 0.4))
    results = model(["good film\n\nthe awful seats", "the plot"])
    matches = matcher.match(TextNodes(results))
    best = {}
    for place, result in enumerate(results):
        for phrase in result.phrases:
            root = phrase.sentence.vector
            for name, examples in names.items():
                rows = model.encode(examples)
                score = (max(rows @ phrase.vector) + max(rows @ root)) / 2
                polarity = [model(example).polarity for example in examples]
                side = {np.sign(one) * (abs(one) >= 0.25) for one in polarity}
                other = len(side) == 1 and side_by_hand(phrase) == -side.pop() != 0
                if score >= 0.4 and not other:
                    best[place, name] = max(score, best.get((place, name), 0))
    found = {
        (row, [*names][theme]): similarity for row, theme, _, similarity, *_ in matches.tolist()
    }
    assert found == pytest.approx(best, abs=1e-3)
    assert {name for _, name in found} == {"a", "b"}


def at(cosine):
    """A vector of this cosine with the first axis."""
    return [cosine, math.sqrt(1 - cosine**2), 0.0]


def nodes_of(*rows):
    """Nodes of one text: vector, side, polarity, whether it is the sentence, width, topics."""
    columns = {name: [] for name in ("vectors", "sides", "polarity", "parents", "widths", "topics")}
    for vector, side, polarity, is_root, *more in rows:
        width, topics = more or (3, 1)
        values = (vector, side, polarity, -1 if is_root else len(rows), width, topics)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    arrays = {name: np.array(column) for name, column in columns.items()}
    arrays["vectors"] = arrays["vectors"].astype(np.float16).__getitem__
    zeros = np.zeros(len(rows), np.int64)
    places = {"texts": zeros, "roots": zeros + len(rows) - 1}
    return SimpleNamespace(**places, **arrays, characters=lambda some: np.zeros((len(some), 2)))


def test_phrases_belong_to_the_nearest_theme_of_their_side():
    found = np.array([[1, 0, 0], at(0.8), [1, 0, 0]], np.float32)  # two complaints, one praise
    none = np.zeros((0, 3), np.float32)
    themes = FoundThemes([-1, -1, 1], [()] * 3, found, {-1: none, 1: none})
    for row, expected in (
        ((at(0.98), -1, -0.5, False), {0}),
        ((at(0.85), -1, -0.5, False), {1}),
        ((at(-0.45), -1, -0.5, False), set()),
        ((at(0.98), 1, 0.5, False), {2}),
        ((at(0.98), 1, -0.5, False), set()),
        ((at(0.98), 0, -0.05, True), {0}),
        ((at(0.98), 0, 0.05, True), {2}),
        ((at(0.98), 0, 0.0, True), set()),
        ((at(0.98), -1, -0.05, False), set()),
        ((at(0.98), -1, 0.2, False), set()),
        ((at(0.98), 0, 0.0, False), set()),
        (([0.6, 0, 0.8], 0, 0.05, True), set()),
        (([0.6, 0, 0.8], 1, 0.3, True), {2}),
        ((at(0.98), -1, -0.5, False, 1, 1), set()),
        ((at(0.98), -1, -0.5, False, 13, 1), set()),
        ((at(0.98), -1, -0.5, False, 3, 0), set()),
    ):
        assert {*themes.match(nodes_of(row))["theme"].tolist()} == expected, row
    both = themes.match(nodes_of((at(0.9), -1, -1, False), (at(0.99), -1, -1, False)))
    assert (both["theme"].tolist(), both["node"].tolist()) == ([0, 1], [1, 0])
    assert both["whole"] == pytest.approx([0.99, np.dot(at(0.99), at(0.8))], abs=0.01)


def test_a_title_is_a_readable_clause_with_the_most_typical_word():
    examples = ["which was late", "late", "they lost my bag", "the flight was late"]
    assert title_of(examples, ["late", "bag"]) == "the flight was late"
    assert title_of(examples, ["gate", "bag", "late"]) == "they lost my bag"
    assert title_of(examples, ["gate"]) == "which was late"
    taken = ["the flight was late", "the flight was late (2)"]
    assert free_title("the flight was late", taken) == "the flight was late (3)"
    assert free_title("they lost my bag", taken) == "they lost my bag"


def test_the_best_clause_is_clear_typical_strong_and_near_with_its_sentence():
    said = ["late", "late bus", "late now", "late again", "late, all late", "slow", "late staff"]
    says = np.array([0.3, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9], np.float32)
    near, far, other = [1, 0, 0], at(0.6), [0, 1, 0]
    sentences = np.array([near, far, near, near, near, near, near], np.float32)
    places, groups, none = np.arange(7), np.zeros(7, np.int64), np.zeros((0, 3), np.float32)
    vectors, words = np.array([near] * 6 + [other], np.float32), ["late", "again"]
    clauses = ClauseGroups(np.array(said, object), places, groups, says, vectors, sentences, none)
    ranked = best_first(clauses, 0, np.array([near, other], np.float32), words)
    best = ["late, all late", "late again", "late now", "late bus", "slow", "late"]
    assert [said[place] for place in ranked] == best, "and not the one that is nearer to another"
    assert len(best_first(clauses, 0, np.array([[0, 0, 1], near, other], np.float32), words)) == 7


def test_names_have_sides_and_words_are_ignored():
    rows = {"bad": ([1, 0, 0], -0.5), "worse": (at(0.9), -0.3), "any": ([1, 0, 0], 0.1)}
    rows["echo"] = ([0, 0, 1], 0.0)

    def model(text):
        vector, polarity = rows[text]
        return SimpleNamespace(vector=np.array(vector, np.float32), polarity=polarity)

    model.width = 3
    names = {"blame": ["bad", "worse"], "topic": ["any"]}
    good, ill = (([1, 0, 0], side, 0.5 * side, True) for side in (1, -1))

    def matched(row, **settings):
        matcher = NamedThemes(model, theme_options(names, **settings))
        assert matcher.sides == [-1, 0]
        return {*matcher.match(nodes_of(row))["theme"].tolist()}

    assert matched(ill) == {0, 1}
    assert matched(good) == {1}
    assert matched(good, side="negative") == set()
    tilted = ([0.3, 0, 0.954], -1, -0.5, True)
    assert matched(tilted) == set()
    assert matched(tilted, ignore=["Echo"]) == matched(tilted, ignore=["echo,Echo"]) == {0, 1}


def test_products_are_behind_this_or_have_a_capital():
    texts = ["I love this camera.", "this nice camera, the lens", "my camera", "this is great"]
    texts += ["The Alexa app", "with Alexa", "an alexa app", "and Alexa", "of Alexa"]
    assert product_words(texts * 5) == {"camera", "alexa"}
    assert product_words(texts) == {"alexa"}, "two texts of this camera are too few"
    assert product_words([*texts * 5, *["a camera"] * 40]) == {"alexa"}


# -- tables


def test_texts_are_counted_by_their_phrases(themes, frame):
    blame, praise = themes
    assert [(one.title, one.side) for one in themes] == [(BLAME, "negative"), (PRAISE, "positive")]
    assert themes.figures.texts == sum(bool(text) for text in TEXTS)
    for theme in (blame, praise):
        rows = [row for row, has in enumerate(HAS) if theme.title in has]
        assert [row for row in range(len(TEXTS)) if theme.title in names_of(themes, row)] == rows
        assert theme.figures.texts == len(rows)
        assert theme.share.value == len(rows) / themes.figures.texts
        assert theme.share.low < theme.share.value < theme.share.high
        for group in theme.groups:
            inside = [row for row in rows if frame["shop"][row] == group.name]
            texts = sum(bool(text) for text in frame["review"][frame["shop"] == group.name])
            assert (group.texts, group.share.value) == (len(inside), len(inside) / texts)
        assert sum(part.texts for part in theme.periods) == len(rows)
        assert "plot" in theme.words
    assert {one.name for one in praise.groups} == {"Leeds", "Bath"}
    assert themes.unit == "day"
    for quote in blame.quotes:
        assert quote.text[slice(*quote.term)] == BLAME
        assert TEXTS[int(quote.place.removeprefix("row "))].find(quote.text) >= 0


def test_quotes_are_about_the_theme_as_a_whole(model, monkeypatch):
    none = np.zeros((0, model.width), np.float32)
    theme = FoundThemes([-1], [[BLAME]], model.encode([BLAME]), {-1: none})
    monkeypatch.setattr(run, "find_themes", lambda model, texts, ignore: (list(texts), theme)[1])
    wide = f"{BLAME} {BLAME}"  # more negative than BLAME, with another vector
    themes = thinstack.themes([wide, BLAME], model=model)
    assert [quote.text for quote in themes[BLAME].quotes] == [BLAME, wide]


def names_of(themes, row):
    return {match.theme for match in themes.of(row)}


def test_themes_are_shown_if_their_quotes_are_about_the_title(model, frame, monkeypatch):
    title = np.array([[1.0, 0]])
    about, apart = [0.51, math.sqrt(1 - 0.51**2)], [0.49, math.sqrt(1 - 0.49**2)]
    for quotes, expected in (
        ([about] * 4 + [apart], True),
        ([about] * 3 + [apart] * 2, False),
        ([about, apart], True),
        ([apart], False),
    ):
        assert is_about(np.concatenate([title, quotes])) == expected, quotes
    monkeypatch.setattr(counting, "ABOUT", 1.1)
    none = thinstack.themes(frame, "review", model=model)
    assert len(none) == 0
    about_plot = sum(BLAME in has for has in HAS)
    assert none.sides[0].other.value == about_plot / none.figures.texts
    named = thinstack.themes(frame, "review", names={"plot": [PRAISE]}, model=model)
    assert len(named) == 1, "a theme that a user names is always shown"


def test_the_largest_coherent_themes_of_each_side_are_shown():
    """Of four complaints the largest is not coherent, and two of the others have one title."""
    texts, sides = [2, 9, 5, 7, 4, 0], [-1, -1, -1, -1, 1, 1]
    quotes = [SimpleNamespace(text="quote")] * 7
    tallies = [
        SimpleNamespace(figures=SimpleNamespace(texts=n, quotes=lambda *_: quotes)) for n in texts
    ]
    titles, encoded = ["late", "vague", "late", "cold", "kind", "none"], []

    def encode(strings):
        encoded.append(strings)
        return np.array([[1.0, 0]] + [[0.0, 1] if strings[0] == "vague" else [1.0, 0]] * 5)

    counter = SimpleNamespace(
        _options=SimpleNamespace(sides=(-1, 1), most=3),
        _matcher=SimpleNamespace(sides=sides, examples=[[title] for title in titles]),
    )
    shown = ThemeCounter._coherent(counter, tallies, dict.fromkeys(range(6), ()), encode)
    assert list(shown) == [(3, "cold"), (2, "late"), (0, "late (2)"), (4, "kind")]
    assert encoded[0] == ["vague", *["quote"] * 5]
    counter._options.most = 1
    shown = ThemeCounter._coherent(counter, tallies, dict.fromkeys(range(6), ()), encode)
    assert list(shown) == [(3, "cold"), (4, "kind")]


def test_themes_without_quotes_are_the_same(themes, model, frame):
    none = thinstack.themes(frame, "review", by="shop", over="day", quotes=0, model=model)
    assert [theme.title for theme in none] == [theme.title for theme in themes]


def test_rows_have_labels_and_phrases(themes, frame):
    labels = themes.labels
    assert len(labels) == len(frame)
    for row, (label, text) in enumerate(zip(labels, TEXTS, strict=True)):
        assert (label is None) == (not HAS[row])
        matches = themes.of(row)
        assert label == (matches[0].theme if matches else None)
        assert [*matches] == sorted(matches, key=lambda match: -match.similarity)
        for match in matches:
            assert text[match.start : match.end] == match.phrase
            assert json.loads(json.dumps(match)) == [*match], "plain numbers"
    assert labels[0] == PRAISE
    for row in (-1, len(TEXTS), "0"):
        with pytest.raises(InputError, match="expected a row from 0 to"):
            themes.of(row)


def test_the_rest_is_other_or_in_general(themes, model):
    negative, positive = themes.sides
    texts = themes.figures.texts
    assert negative.texts == negative.share.value * texts
    assert positive.texts >= themes[PRAISE].figures.texts
    general = sum(one.general.value * texts for one in themes.sides)
    assert general == pytest.approx(
        sum(text in ("good seats", "Of the.", f"good seats\n\n{PRAISE}") for text in TEXTS)
    )
    alone = thinstack.themes(pd.DataFrame({"text": [PRAISE] * 3 + ["good seats"] * 5}), model=model)
    assert len(alone) == 0, "three texts are no theme"
    assert alone.sides[1].other.value == 3 / 8
    assert "no theme is in enough texts" in repr(alone)


def test_opinions_below_a_threshold_for_labels_count_too(themes, model, frame, monkeypatch):
    cut = thinstack.load(model.bundle.path, abstain=0.999)
    monkeypatch.setattr(type(cut), "_start", None)  # its session is not started again
    same = thinstack.themes(frame, "review", by="shop", over="day", model=cut)
    assert same.to_dict() == themes.to_dict()


def test_themes_are_saved_as_names(themes, model, frame):
    names = themes.names()
    assert [*names] == [BLAME, PRAISE]
    again = thinstack.themes(frame, "review", names=names, model=model, threshold=0.9)
    assert again.named
    assert [theme.side for theme in again] == ["negative", "positive"]
    for row, has in enumerate(HAS):
        assert has <= names_of(again, row)
    topic = thinstack.themes(frame, "review", names={"plot": ["plot"]}, model=model, threshold=0.1)
    assert [theme.side for theme in topic] == [None]
    for figures in (*again.sides, *topic.sides):
        assert figures.texts > 0
        assert figures.other.value == 0, "each text with a topic has a theme"
    only = thinstack.themes(frame, "review", side="positive", model=model)
    assert [theme.title for theme in only] == [PRAISE]


def test_a_large_table_is_read_again(model, monkeypatch):
    large = pd.DataFrame({"text": TEXTS * 4})
    whole = thinstack.themes(large, model=model)
    for name, size in (("_REMEMBERED", 20), ("_SAMPLE", 26)):
        monkeypatch.setattr(run, name, size)
        again = thinstack.themes(large, model=model)
        first, second = ([(one.title, one.figures.texts) for one in of] for of in (whole, again))
        assert second == first
        assert again.labels == whole.labels


@pytest.mark.parametrize("remembered", [10_000, 0])
def test_a_report_counts_themes_in_some_rows(model, monkeypatch, remembered):
    large = pd.DataFrame({"text": TEXTS * 4, "shop": ["Leeds", "Bath"] * 2 * len(TEXTS)})
    monkeypatch.setattr(run, "_SAMPLE", 26)
    monkeypatch.setattr(run, "_REMEMBERED", remembered)
    report = thinstack.report(large, by="shop", model=model, themes=model)
    themes = report.themes
    texts = [row for row in range(48) if large["text"][row]]
    golden = (math.sqrt(5) - 1) / 2
    texts = [row for place, row in enumerate(texts) if place * golden % 1 < 26 / len(texts)]
    assert (themes.rows, themes.counted, report.figures.texts) == (48, len(texts), 44)
    assert themes.figures.texts == len(texts) in (25, 26, 27)
    for theme in themes:
        rows = [row for row in texts if theme.title in HAS[row % len(TEXTS)]]
        assert (theme.figures.texts, theme.share.value) == (len(rows), len(rows) / len(texts))
        for part in theme.groups:
            shops = [[large["shop"][row] == part.name for row in some] for some in (rows, texts)]
            assert (part.texts, part.of) == (sum(shops[0]), sum(shops[1]))
            assert part.figures.counts == (part.texts, part.of - part.texts, 0)
    assert f"in {len(texts)} of the 48 rows, evenly spread" in report.html()
    said = f"{len(texts)} texts in {len(texts)} of the 48 rows"
    assert any(said in line for line in report.in_short)
    for ask in (lambda: themes.labels, lambda: themes.of(0)):
        with pytest.raises(InputError, match=f"counted in {len(texts)} of 48 rows"):
            ask()


def test_a_report_without_a_text_among_the_rows_taken_has_no_themes(model, monkeypatch):
    monkeypatch.setattr(run, "_SAMPLE", 1)
    rare = ["Это совсем не английский текст"] * 9 + [BLAME]
    report = thinstack.report(rare, model=model, themes=model, min_mentions=np.int64(5))
    assert report.themes is None
    assert report.to_json()


def test_a_theme_tells_when_it_became_frequent(model):
    days = pd.date_range("2024-01-01", periods=84)
    table = pd.DataFrame({"text": [PRAISE] * 42 + [BLAME] * 42, "day": days, "shop": "only"})
    themes = thinstack.themes(table, over="day", model=model)
    assert themes.trend(themes[BLAME]) == "100% from 12 Feb 2024 on, compared with 0% before"
    for words in (themes.html(), "\n".join(themes.lines(quotes=True))):
        assert "100% from 12 Feb 2024 on, compared with 0% before" in words
    gaps = table.assign(text=BLAME, day=["2024-01-05", "2024-02-05", "2024-12-05"] * 28)
    page = thinstack.themes(gaps, over="day", model=model).html()
    assert page.count('width="58.3"') == 3, "three of twelve months"
    same = thinstack.themes(table.assign(text=BLAME), over="day", model=model)
    assert same.trend(same[BLAME]) == ""
    assert thinstack.themes(table, by="shop", model=model).trend(themes[BLAME]) == ""
    rare = table.assign(
        text=[BLAME if row % 10 < 1 + 5 * (row > 41) else PRAISE for row in range(84)]
    )
    few = thinstack.themes(rare, over="day", model=model)
    many = dataclasses.replace(few, themes=few.themes * 1000)
    assert few.trend(few[BLAME])
    assert many.trend(few[BLAME]) == "", "one of 2,000 themes changes so much by chance"


def test_a_list_of_texts_does_as_well_as_a_frame(model, themes):
    texts = [*TEXTS[:2], None, *TEXTS[3:]]
    listed = thinstack.themes(texts, model=model, most=np.int64(10), quotes=np.int64(3))
    assert listed.labels == themes.labels
    assert listed.of(0) == themes.of(0)
    named = [f"the Alexa {text}" for text in TEXTS]
    products = thinstack.themes(named, model=model).products
    assert products == thinstack.themes([*named, *[None] * 120], model=model).products == ("alexa",)
    figures = thinstack.report(TEXTS, model=model, themes=False).figures.counts
    frame = pd.DataFrame({"text": TEXTS})
    assert figures == thinstack.report(frame, model=model, themes=False).figures.counts
    for problem, texts, settings in (
        ("row 1: expected a list of texts, found 7", ["x", 7], {}),
        ("expected a table with texts", [], {}),
        ("expected groups in the column 'shop'", TEXTS, {"by": "shop"}),
    ):
        with pytest.raises(InputError, match=problem):
            thinstack.themes(texts, model=model, **settings)
    unrated = pd.DataFrame({"text": TEXTS[:2], "stars": ["five", None]})
    with pytest.raises(InputError, match="numbers from 1 to 5 in the column 'stars'"):
        thinstack.report(unrated, stars="stars", model=model, themes=False)


def test_what_themes_are_as_data(themes, frame, model):
    data = json.loads(themes.to_json())
    assert data["kind"] == "themes"
    assert (data["rows"], data["by"], data["over"]) == (len(TEXTS), "shop", "day")
    first = data["themes"][0]
    assert first["title"] == BLAME
    assert first["quotes"][0]["term"].lower() == BLAME
    assert {"texts", "share", "groups", "periods", "words", "examples"} <= {*first}
    table = themes.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["theme"].tolist() == [BLAME, PRAISE]
    assert table["texts"].tolist() == [theme.figures.texts for theme in themes]
    rows = pl.from_pandas(frame)
    assert isinstance(thinstack.themes(rows, "review", model=model).to_frame(), pl.DataFrame)


@pytest.mark.parametrize(("installed", "kind"), [(("pandas", "polars"), pd), (("polars",), pl)])
def test_themes_of_a_list_are_a_frame_of_what_is_installed(model, monkeypatch, installed, kind):
    listed = thinstack.themes(TEXTS, model=model)
    monkeypatch.setattr(themes_module, "find_spec", installed.__contains__)
    assert isinstance(listed.to_frame(), kind.DataFrame)
    monkeypatch.setattr(themes_module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install pandas"):
        listed.to_frame()


def test_a_page_has_all_and_acts_on_nothing(model):
    hostile = ["<script>plot</script> awful plot", "</style> awful plot"] * 4
    table = pd.DataFrame({"text": hostile, "<b>": ["<i>a", "<i>b"] * 4})
    eight = thinstack.themes(table.assign(shop=range(8)), by="shop", model=model)
    assert ", 5 100.0%, ..." in "\n".join(eight.lines(quotes=True))
    page = thinstack.themes(table, by="<b>", model=model).html()
    assert "What people praise" in page
    assert "<script" not in page.lower()
    assert "<i>" not in page
    assert page.count("</style>") == 1
    assert "&lt;i&gt;a" in page


# -- bad input


def test_few_or_equal_texts_are_no_error(model):
    for texts in (["awful plot"], ["awful plot"] * 9, ["good seats"] * 9, ["plot"] * 3):
        themes = thinstack.themes(pd.DataFrame({0: texts}), 0, model=model)
        assert len(themes) == (texts == ["awful plot"] * 9)
        assert len(themes.labels) == len(texts)
        assert themes.html()


def test_bad_input_is_named(model, frame, last_word, tmp_path):
    for settings, problem in (
        ({"names": {}}, "names: expected examples by name"),
        ({"names": ["late"]}, "names: expected examples by name"),
        ({"names": {"": ["x"]}}, "names: expected texts, found ''"),
        ({"names": {"late": []}}, "expected examples of the theme 'late', found none"),
        ({"names": {"late": "late"}}, "expected a list of texts"),
        ({"names": {"late": [" "]}}, "expected texts, found ' '"),
        ({"names": {"late": [3]}}, "expected texts, found 3"),
        ({"names": {"late": ["..."]}}, "expected words, found the example '...'"),
        ({"ignore": "echo"}, "ignore: expected a list of texts"),
        ({"side": ["negative"]}, 'side: expected "both"'),
        ({"most": 0}, "most: expected a whole number, at least 1, found 0"),
        ({"quotes": -1}, "quotes: expected a whole number, at least 0, found -1"),
        ({"names": {"late": ["late"]}, "threshold": 2}, "threshold: expected a similarity"),
        ({"threshold": 0.5}, "threshold works only with themes that you define: add names"),
        ({"names": {"late": ["late"]}, "most": 3}, "most works only without names"),
        ({"by": "day", "text": "shop", "over": "review"}, "expected dates"),
    ):
        with pytest.raises(InputError, match=problem):
            thinstack.themes(frame, **{"text": "review", "model": model} | settings)
    with pytest.raises(DataError, match="text="):
        thinstack.themes(frame, model=model)
    with pytest.raises(InputError, match="expected texts in English, found none"):
        thinstack.themes(pd.DataFrame({"text": ["", None]}), model=model)
    with pytest.raises(InputError, match="gives no vectors"):
        thinstack.themes(frame, "review", model=last_word.path)
    alone = write_vector_bundle(tmp_path / "alone", labels=()).path
    with pytest.raises(InputError, match="expected a sentiment model"):
        thinstack.themes(frame, "review", model=alone)
