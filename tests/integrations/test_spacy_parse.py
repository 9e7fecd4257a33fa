"""The spaCy component with a model that makes trees of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from runtime.last_word_model import (
    LABELS,
    best,
    expected,
    mean_of,
    pipeline,
    write_last_word_bundle,
)
from runtime.own_parse import own_parse
from spacy.language import Language
from spacy.tokens import Doc, Span

from thinstack.core.transitions import spans_of
from thinstack.errors import BundleError, InputError
from thinstack.integrations.spacy.component import TreeSentiment, predictions
from thinstack.runtime.text import predict_text
from thinstack.show.html import page

TEXTS = [
    "what a good film",
    "so good. A very awful film.",
    "",
    "film",
    "a film (good) was so awful !",
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_last_word_bundle(
        tmp_path_factory.mktemp("bundles") / "parsing", parser="capped"
    ).path


@pytest.fixture(scope="module")
def nlp(bundle: Path) -> Language:
    return pipeline(bundle)


def by_hand(words: list[str]) -> list[tuple[int, int]]:
    """Words [start, end) of the phrases of the own parse, in transition order: all but the last
    from the right, then it."""
    n = len(words)
    inner = [(i, n - 1) for i in range(n - 3, -1, -1)]
    return [*((i, i + 1) for i in range(n - 1)), *inner, (n - 1, n), (0, n)] if n > 1 else [(0, 1)]


def stored(doc: Doc) -> Any:
    return doc._.tree_sentiment


@pytest.mark.parametrize("source", ["auto", "self"])
def test_everything_is_about_the_own_parse(bundle: Path, source: str) -> None:
    text = "  It was so\n awful , really"
    doc = pipeline(bundle, source=source)(text)
    words = ["It", "was", "so", "awful", ",", "really"]
    tokens = [token for token in doc if not token.is_space]
    spans = by_hand(words)
    assert [tuple(span) for span in spans_of(predictions(doc)[0].transitions).tolist()] == spans
    (sent,) = doc.sents
    assert doc._.sentiment_phrases == sent._.sentiment_phrases
    for phrase, (first, behind) in zip(sent._.sentiment_phrases, spans, strict=True):
        scores = expected(words[behind - 1], behind - first)
        assert (phrase["start"], phrase["end"]) == (tokens[first].i, tokens[behind - 1].i + 1)
        assert phrase["text"] == text[phrase["start_char"] : phrase["end_char"]]
        assert (phrase["label"], phrase["scores"]) == (
            best(scores),
            pytest.approx(scores, abs=1e-6),
        )
        span = doc[phrase["start"] : phrase["end"]]
        assert (span._.sentiment_label, span._.sentiment_scores) == (
            phrase["label"],
            phrase["scores"],
        )
    assert doc[1:3]._.sentiment_label is None  # "It was" is no phrase of this tree
    classes = [str(LABELS.index(best(expected(words[b - 1], b - a)))) for a, b in spans]
    assert [part[0] for part in sent._.sentiment_tree.split("(")[1:]] == [
        classes[i] for i in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1]))
    ]
    assert doc.cats == pytest.approx(mean_of(("really", 1)), abs=1e-6)


def test_the_phrases_of_a_span_are_those_inside(nlp: Language) -> None:
    doc = nlp("what a good film")
    assert [item["text"] for item in doc[0:3]._.sentiment_phrases] == [
        "what",
        "a",
        "good",
        "a good",
        "what a good",
    ]
    assert [item["text"] for item in doc[3:4]._.sentiment_phrases] == ["film"]
    assert doc[2:4]._.sentiment_phrases is None
    assert [len(sent._.sentiment_phrases) for sent in nlp(TEXTS[1]).sents] == [2 * 3 - 1, 2 * 5 - 1]
    assert nlp.make_doc("what a film")[0:2]._.sentiment_phrases is None


def test_fixed_shapes_can_be_asked_for(bundle: Path) -> None:
    doc = pipeline(bundle, source="right")("what a good film")
    assert doc[1:4]._.sentiment_label is not None
    assert doc[0:3]._.sentiment_label is None


@pytest.fixture
def benepar() -> Iterator[None]:
    """Parses from elsewhere, of four words, for every sentence but `boom`."""

    def parse_string(span: Span) -> str | None:
        return (
            None
            if span.text == "boom"
            else "(S (A {}) (B (C {}) (D (E {}) (F {}))))".format(*(token.text for token in span))
        )

    Span.set_extension("parse_string", getter=parse_string)
    yield
    Span.remove_extension("parse_string")


@pytest.mark.usefixtures("benepar")
def test_parses_from_elsewhere_can_be_asked_for(bundle: Path) -> None:
    nlp = pipeline(bundle, source="benepar")
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(docs[0].text))
    texts = ["what a good film", "boom", "a very awful one"]
    docs = list(nlp.pipe(texts))
    assert failed == ["boom"]
    for doc, text in zip(docs, (texts[0], texts[2]), strict=True):
        assert doc.text == text
        assert [found.transitions.tolist() for found in predictions(doc)] == [[0, 0, 0, 0, 1, 1, 1]]
        assert doc.cats == pytest.approx(expected(text.split()[-1], 4), abs=1e-6)


def test_batches_and_worker_processes_give_what_single_documents_give(nlp: Language) -> None:
    alone = [stored(nlp(text)) for text in TEXTS]
    for settings in ({"batch_size": 1}, {"batch_size": 100}, {"batch_size": 2, "n_process": 2}):
        assert [stored(doc) for doc in nlp.pipe(TEXTS, **settings)] == alone


def test_a_failing_document_harms_no_neighbour(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = pipeline(bundle)
    alone = {text: stored(nlp(text)) for text in TEXTS}
    predictor = nlp.get_pipe("tree_sentiment").predictor
    real, failed = predictor.trees_and_scores, []

    def parse(words: list[list[str]], trees: Any) -> Any:
        if any("boom" in sentence for sentence in words):
            raise BundleError("the model's own parse is no tree")
        return real(words, trees)

    monkeypatch.setattr(predictor, "trees_and_scores", parse)
    nlp.set_error_handler(
        lambda name, component, docs, error: failed.append((docs[0].text, type(error)))
    )
    docs = list(nlp.pipe([*TEXTS[:2], "boom it goes", *TEXTS[2:]]))
    assert {doc.text: stored(doc) for doc in docs} == alone
    assert failed == [("boom it goes", BundleError)]


def test_a_saved_pipeline_parses(bundle: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bundle, tmp_path / "gone")
    nlp = pipeline(folder, source="self")
    nlp.to_disk(tmp_path / "saved")
    data, alone = nlp.to_bytes(), [stored(nlp(text)) for text in TEXTS]
    shutil.rmtree(folder)
    again = [
        spacy.load(tmp_path / "saved"),
        spacy.blank("en").from_config(nlp.config, meta=nlp.meta).from_bytes(data),
    ]
    for loaded in again:
        assert [stored(doc) for doc in loaded.pipe(TEXTS)] == alone
    # What the name leads to may have become a model that does not parse: the saved one holds.
    write_last_word_bundle(folder)
    assert [stored(doc) for doc in spacy.load(tmp_path / "saved").pipe(TEXTS)] == alone


def test_a_model_without_a_parser_is_refused_when_it_is_added(tmp_path: Path) -> None:
    plain = write_last_word_bundle(tmp_path / "plain").path
    message = "no parser for the tree source 'self'; this model has balanced, left, right"
    with pytest.raises(InputError, match=message):
        pipeline(plain, source="self")
    component = TreeSentiment(model=str(plain), source="self")
    with pytest.raises(InputError, match=message):
        component.load()
    with pytest.raises(InputError, match=message):
        next(predict_text(["good"], model=str(plain), source="self"))


def test_a_parse_that_is_no_tree_goes_to_the_error_handler(tmp_path: Path) -> None:
    nlp = pipeline(write_last_word_bundle(tmp_path / "broken", parser="shifts").path)
    failed: list[str] = []
    nlp.set_error_handler(
        lambda name, component, docs, error: failed.append(f"{docs[0].text}: {error}")
    )
    docs = list(nlp.pipe(["good film", "film", ""]))
    assert [doc.text for doc in docs] == ["film", ""]
    assert len(failed) == 1
    assert failed[0].startswith("good film: ")
    assert "own parse is no tree" in failed[0]


def test_own_parses_are_drawn(bundle: Path) -> None:
    ((found,),) = predict_text(["what a good film"], model=str(bundle))
    assert found.transitions.tolist() == own_parse(4)
    html = page([found])
    assert html.count('class="row"') == 7
    assert "<bdi>what a good</bdi>" in html
