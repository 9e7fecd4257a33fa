"""`thinstack.PhraseIndex` against numpy by hand; its file."""

import contextlib
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from vector_models import write_vector_bundle

import thinstack
from thinstack.errors import DataError, InputError, MissingExtraError
from thinstack.integrations.search import phrase_index, phrase_table
from thinstack.text.english import rules

TEXTS = [
    "good film",
    "Good film. The plot but the film.",
    "An awful plot, good film and awful seats.",
    "GOOD  film!",
    "",
    "Of the.",
    "awful awful plot. Film plot film plot.",
]
ENDS = {"the", "but", "and", "an", "of", "."}


@pytest.fixture(scope="module")
def model(vector_folder):
    return thinstack.load(vector_folder)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone") / "model"
    return thinstack.load(write_vector_bundle(folder, labels=()).path)


@pytest.fixture
def index(model):
    index = thinstack.PhraseIndex(model)
    index.add(iter(TEXTS), range(len(TEXTS)))
    return index


def sign(polarity):
    return 0.0 if polarity is None else np.sign(polarity) * np.sqrt(abs(polarity))


def key_of(phrase):
    return " ".join(phrase.lower().split())


def side_of(phrase):
    return {"negative": -1, "neutral": 0, "positive": 1, None: 0}[phrase.label]


def is_turned(phrase):
    """Whether a phrase around it takes the other side, to which the rest does not belong."""
    inner, around = phrase, phrase.parent
    while side_of(phrase) and around is not None:
        if side_of(around) * side_of(phrase) < 0:
            (beside,) = [part for part in around.children if part != inner]
            words = re.findall(r"\w+", beside.text.lower())
            says = abs(beside.polarity) >= 0.5 * abs(around.polarity)
            has_content = any(word not in rules().function_words for word in words)
            return not (side_of(beside) == side_of(around) and says and has_content)
        inner, around = around, around.parent
    return False


def phrases_by_hand(model):
    """The text, place, vector and polarity of each phrase that can be read without the rest."""
    for number, result in enumerate(model(TEXTS)):
        for sentence in result.sentences:
            places = set()
            for phrase in sentence.phrases:
                words = [*re.finditer(r"\w+", phrase.text)]
                if not words:
                    continue
                start, end = words[0].start() + phrase.start, words[-1].end() + phrase.start
                is_root = phrase.parent is None
                content = any(one[0].lower() not in rules().function_words for one in words)
                first, last = words[0][0].lower(), words[-1][0].lower()
                reads = first not in ("and", "but") and last not in ENDS and content
                if (is_root or reads) and not is_turned(phrase) and (start, end) not in places:
                    places.add((start, end))
                    yield number, result.text[start:end], start, end, phrase


def hits_by_hand(model, query, *, sign_weight=0.3, side=None):
    asked = model(query)
    rows = [*phrases_by_hand(model)]
    first, counts = {}, {}
    for row in rows:
        key = key_of(row[1])
        first.setdefault(key, row[4])
        counts[key] = counts.get(key, 0) + 1
    scores = {}
    for key, phrase in first.items():
        vector = phrase.vector.astype(np.float16).astype(float)
        cosine = vector @ asked.vector
        scores[key] = cosine + sign_weight * sign(asked.polarity) * sign(phrase.polarity), cosine
    taken, hits = set(), []
    for key in sorted(scores, key=lambda key: -scores[key][0]):
        if side and first[key].label != side:
            continue
        said = [row for row in rows if key_of(row[1]) == key]
        places = [{(row[0], character) for character in range(*row[2:4])} for row in said]
        for (number, text, start, end, _), place in zip(said, places, strict=True):
            if not place & taken:
                taken |= set.union(*places)
                polarity = first[key].polarity
                hits.append((number, text, start, end, scores[key][1], polarity, counts[key]))
                break
    return hits


def numbers_of(hits):
    return [(h.id, h.phrase, h.start, h.end, h.similarity, h.polarity, h.count) for h in hits]


@pytest.mark.parametrize("query", ["good film", "the awful seats", "plot. Film."])
@pytest.mark.parametrize("settings", [{}, {"sign": False}, {"side": "negative"}])
def test_hits_are_those_of_numpy(model, index, query, settings, monkeypatch):
    monkeypatch.setattr("thinstack.integrations.search.phrase_table.said_phrase", lambda _: "")
    weight = {"sign_weight": 0.0} if "sign" in settings else {}
    expected = hits_by_hand(model, query, side=settings.get("side"), **weight)
    assert any(is_turned(phrase) for result in model(TEXTS) for phrase in result.phrases)
    hits = index.search(query, top=99, **settings)
    assert len(hits) == len(expected) >= 3
    for row, wanted in zip(numbers_of(hits), expected, strict=True):
        assert row == pytest.approx(wanted, abs=2e-4)
    for hit in hits:
        assert hit.text == TEXTS[hit.id]
        assert hit.text[hit.start : hit.end] == hit.phrase in hit.sentence
    assert index.search(query, 2, **settings) == hits[:2]


def test_phrases_below_a_similarity_are_left_out(index):
    hits = index.search("good film", top=99)
    ranked = sorted({hit.similarity for hit in hits})
    least = (ranked[-1] + ranked[-2]) / 2
    best = index.search("good film", top=99, min_similarity=least)
    assert best == [hit for hit in hits if hit.similarity >= least]
    assert 0 < len(best) < len(hits)
    assert index.search("good film", top=np.int64(99), min_similarity=np.float32(-1)) == hits


def test_equal_phrases_are_one_and_their_mentions_are_counted(index):
    (hit,) = index.search("good film", 1, sign=False)
    assert hit.similarity == pytest.approx(1, abs=1e-3)
    assert (hit.phrase, hit.count, hit.id) == ("good film", 3, 0)
    assert len(index) == len({key_of(row[1]) for row in phrases_by_hand(index.model)})


def test_phrases_that_differ_by_function_words_only_are_one_hit(model):
    index = thinstack.PhraseIndex(model)
    index.add(["film", "the film", "an awful film", "not film"])
    said = [hit.phrase for hit in index.search("film", 99, sign=False)]
    assert said[0] == "film"
    assert sorted(said) == ["awful", "film", "not film"], "none of them is `the film`"


def test_where_chooses_texts_by_their_ids(model, index):
    hits = index.search("good film", 99, sign=False, where=lambda id: id >= 2)
    assert {hit.id for hit in hits} <= {2, 3, 5, 6}
    assert (hits[0].phrase, hits[0].count) == ("GOOD  film", 1)
    assert index.search("good film", where=lambda id: False) == []
    rows = thinstack.PhraseIndex(model)
    rows.add(["good film"], [{"store": "Leeds", "number": np.int64(3)}])
    assert rows.search("film", 1)[0].id == {"store": "Leeds", "number": 3}


def test_blocks_and_batches_do_not_show(model, index, monkeypatch):
    hits = [index.search(query, 99) for query in ("good", "plot")]
    monkeypatch.setattr(phrase_table, "_TOGETHER", 2)
    monkeypatch.setattr(phrase_table, "_FIRST", 4)
    small = thinstack.PhraseIndex(model)
    small.add(TEXTS[:3], range(3))
    small.add(TEXTS[3:], range(3, len(TEXTS)))
    assert [small.search(query, 99) for query in ("good", "plot")] == hits


def test_a_text_is_stored_as_a_whole_or_not_at_all(model, index, monkeypatch):
    stopped = thinstack.PhraseIndex(model)
    stopped.add(TEXTS[:2], range(2))
    with monkeypatch.context() as patch:
        calls, add = [], stopped._table._add_sentence

        def interrupted(*sentence):
            calls.append(add(*sentence))
            if len(calls) == 3:
                raise KeyboardInterrupt

        patch.setattr(stopped._table, "_add_sentence", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stopped.add([TEXTS[2], "new seats. " + TEXTS[6], TEXTS[3]], range(2, 5))
    stopped.add(TEXTS[3:], range(3, len(TEXTS)))
    assert stopped.search("good film", 99) == index.search("good film", 99)


def test_cosines_of_all_halves_are_exact():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    expected = halves.astype(np.float32) * np.float32(0.5)
    cosines = phrase_table.cosines(halves[:, None], np.array([0.5], np.float32))
    np.testing.assert_array_equal(cosines, expected)


@given(arrays.arrays(np.float32, st.integers(0, 40), elements=st.sampled_from([-1, 0, 0.5, 2])))
def test_the_best_come_first(scores):
    scores[scores == -1] = -np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrase_table, "_FIRST", 5)
        order = [*phrase_table.best_first(scores)]
    assert sorted(order) == np.flatnonzero(scores > -np.inf).tolist()
    assert (np.diff(scores[order]) <= 0).all()


def test_a_model_without_classes_ranks_by_cosine(alone):
    index = thinstack.PhraseIndex(alone)
    index.add(TEXTS, range(len(TEXTS)))
    hits = index.search("good film", 3)
    for row, wanted in zip(numbers_of(hits), hits_by_hand(alone, "good film"), strict=False):
        assert row == pytest.approx(wanted, abs=2e-4)
    assert [hit.polarity for hit in hits] == [None] * 3
    with pytest.raises(InputError, match="side: works only with a sentiment model"):
        index.search("good", side="negative")


@pytest.mark.parametrize("cell", [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, "N/A", " "])
def test_missing_cells_are_skipped(model, cell):
    index, errors = thinstack.PhraseIndex(model), {}
    column = pd.Series(["good film", cell, 3, "good plot"], index=[5, 6, 7, 8], dtype=object)
    index.add(column, column.index, on_error=errors.__setitem__)
    assert [*errors] == [2]
    assert [index.search(text, 1, sign=False)[0].id for text in column[::3]] == [5, 8]
    assert not index.search("N/A", 9, where=lambda id: id == 6)


def test_bad_input_is_named(model, index, last_word):
    for query, settings, problem in (
        ("", {}, "query: expected a text with words, found ''"),
        (" ?!", {}, "query: expected a text with words, found ' [?]!'"),
        (3, {}, "query: expected a text, found 3"),
        ("good", {"top": 0}, "top: expected a whole number, at least 1, found 0"),
        ("good", {"min_similarity": 2}, "min_similarity: expected a number from -1 to 1, found 2"),
        ("good", {"where": 3}, "where: expected a function .*, found 3"),
        ("good", {"side": "bad"}, "side: expected .*, found 'bad'"),
    ):
        with pytest.raises(InputError, match=problem):
            index.search(query, **settings)
    for texts, ids, problem in (
        (["good"], [], "found fewer"),
        (["good"], [1, 2], "found more"),
        (["good"], [b"1"], "that JSON can represent, found b'1'"),
        (["good"], [float("nan")], "that JSON can represent, found nan"),
        (["good"], [("A", 1)], "that JSON can represent, found \\('A', 1\\)"),
        ("good", None, "expected several texts"),
        ([3], None, "text 0: "),
    ):
        with pytest.raises(InputError, match=problem):
            thinstack.PhraseIndex(model).add(texts, ids)
    with pytest.raises(InputError, match="gives no vectors"):
        thinstack.PhraseIndex(last_word.path)


# -- the file


def test_a_file_holds_all_and_grows(model, index, tmp_path):
    path = tmp_path / "reviews.index"
    index.source = "a note"
    index.save(path)
    loaded = thinstack.PhraseIndex.load(path)
    assert (len(loaded), loaded.source) == (len(index), "a note")
    assert loaded.model.bundle.path == model.bundle.path
    queries = ("good film", "awful seats", "plot")
    assert [loaded.search(q, 99) for q in queries] == [index.search(q, 99) for q in queries]
    more = ["Good film, new seats"]
    index.add(more)
    expected = [index.search(q, 99, sign=False) for q in queries]
    loaded = thinstack.PhraseIndex.load(path, model)
    loaded.add(more)
    assert [loaded.search(q, 99, sign=False) for q in queries] == expected
    assert expected[0][0].count == 4
    half = 2 * index.model.width
    assert path.stat().st_size < 70 * len(index) + half * len(index) + 4000


def test_a_writer_that_fails_leaves_the_old_file(index, tmp_path, monkeypatch):
    path = tmp_path / "reviews.index"
    index.save(path)
    before = path.read_bytes()

    def fail(file, **_):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="No space left"):
        index.save(path)
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == before


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "reviews.index"
    index = thinstack.PhraseIndex(model)
    index.add(TEXTS)
    index.save(path)
    return path


@given(st.data())
def test_a_changed_or_cut_file_is_an_error_or_says_the_same(model, saved, tmp_path_factory, data):
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if is_cut := data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "changed.index"
    path.write_bytes(content)
    if is_cut or not may_load(path, model):
        with pytest.raises(DataError, match=r"changed\.index: "):
            thinstack.PhraseIndex.load(path, model)
        return
    changed, whole = (thinstack.PhraseIndex.load(one, model) for one in (path, saved))
    assert changed.search("good film", 99) == whole.search("good film", 99)


def may_load(path, model):
    """Some bytes of an archive, such as dates, mean nothing."""
    with contextlib.suppress(DataError):
        return bool(thinstack.PhraseIndex.load(path, model))
    return False


def changed_members(saved, path, header=None, **members):
    """The file with other values in its header, and with other members."""
    arrays = dict(np.load(saved))
    about = json.loads(arrays["header"].tobytes()) | (header or {})
    members |= {"header": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    with path.open("wb") as file:
        np.savez(file, **(arrays | members))


def test_files_that_do_not_fit_say_so(model, alone, saved, tmp_path):
    path = tmp_path / "other.index"
    for header, members, problem in (
        ({"schema_version": 2}, {}, "schema_version: .*2"),
        ({"digest": "0" * 64}, {}, "come from the model 000000000000, not from"),
        ({"width": 8}, {}, "do not match"),
        ({"width": "4"}, {}, "width: .*found '4'"),
        ({"model": "hf://somebody/model"}, {}, "its model is not installed"),
        ({}, {"texts": np.frombuffer(b'["good film"]', np.uint8)}, "do not match"),
        ({}, {"texts": np.frombuffer(b"[" * 9000, np.uint8)}, "do not match"),
        ({}, {"sides": np.zeros(3, np.int8)}, "do not match"),
        ({}, {"vectors": np.zeros(3, np.float32)}, "not an index"),
        ({}, {"vectors": np.array([b""], object)}, "not an index"),
    ):
        changed_members(saved, path, header, **members)
        with pytest.raises(DataError, match=problem):
            thinstack.PhraseIndex.load(path, None if "model" in header else model)
    with pytest.raises(DataError, match="come from the model"):
        thinstack.PhraseIndex.load(saved, alone)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="not an index"):
        thinstack.PhraseIndex.load(path, model)
    with pytest.raises(DataError, match=r"none\.index: cannot be read"):
        thinstack.PhraseIndex.load(tmp_path / "none.index", model)


@pytest.mark.parametrize(
    ("column", "place", "value"),
    [
        ("mentions", 0, 1 << 20),
        ("mentions", 1, -1),
        ("mentions", 3, 1 << 20),
        ("sentences", 0, -1),
        ("sentences", 2, 1 << 20),
        ("texts", 0, "x"),
        ("ids", 0, "x"),
    ],
)
def test_columns_that_do_not_fit_together_are_an_error(
    model, saved, tmp_path, column, place, value
):
    """As of a file that somebody made, whose digest is right."""
    index = thinstack.PhraseIndex.load(saved, model)
    getattr(index._table, column)[place] = value
    path = tmp_path / "crafted.index"
    index.save(path)
    with pytest.raises(DataError, match="columns do not match"):
        thinstack.PhraseIndex.load(path, model)


# -- many phrases


def test_a_graph_finds_what_comparing_all_finds(index):
    pytest.importorskip("usearch", reason="needs the extra index: pip install usearch")
    for settings in ({}, {"sign": False}, {"side": "positive"}):
        hits = index.search("good film", 5, exact=False, **settings)
        assert hits == index.search("good film", 5, exact=True, **settings)
    index.add(["new good seats"], [9])
    assert index.search("new good seats", 1, exact=False, sign=False)[0].id == 9


def test_without_usearch_all_phrases_are_compared(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    monkeypatch.setattr(phrase_index, "EXACT", len(index) - 1)
    with pytest.warns(UserWarning, match="pip install usearch"):
        hits = index.search("good film", 5)
    assert hits == index.search("good film", 5, exact=True)
    with pytest.raises(MissingExtraError, match="usearch"):
        index.search("good film", exact=False)
