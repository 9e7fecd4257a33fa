"""What the component leaves on a Doc: kept through serialisation, read by the extension
attributes."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import spacy
from last_word_model import LABELS, best, expected, pipeline
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from thinstack.bundle import Bundle
from thinstack.data.brackets import from_brackets
from thinstack.data.ptb import unescape
from thinstack.errors import ConfigError
from thinstack.integrations.spacy import results as spacy_results
from thinstack.integrations.spacy.component import TreeSentiment, predictions
from thinstack.integrations.spacy.results import register_extensions

TEXT = "  A good (film).\n\n It was n't awful !"
# Tokens: 0 spaces, 1 A, 2 good, 3 (, 4 film, 5 ), 6 ., 7 line breaks, 8 It, 9 was, 10 n't, 11
# awful, 12 !


@pytest.fixture(scope="module")
def nlp(last_word: Bundle) -> Language:
    return pipeline(last_word.path, source="left")


@pytest.fixture
def doc(nlp: Language) -> Doc:
    doc = nlp(TEXT)
    assert [token.text for token in doc][3:8] == ["(", "film", ")", ".", "\n\n "]
    return doc


# Left-branching trees: a phrase is one word, or the sentence from its first word to any other.
PHRASES = {(i, i + 1) for i in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)}
PHRASES |= {(1, i) for i in range(3, 8)} | {(8, i) for i in range(10, 14)}


def test_phrases_are_listed_and_a_span_has_results_exactly_where_it_is_one(doc: Doc) -> None:
    listed = {(item["start"], item["end"]): item for item in doc._.sentiment_phrases}
    assert listed.keys() == PHRASES
    assert len(doc._.sentiment_phrases) == len(PHRASES)
    for start, end in combinations(range(len(doc) + 1), 2):
        span = doc[start:end]
        words = [token.i for token in span if not token.is_space]
        if words and (words[0], words[-1] + 1) in PHRASES:
            scores = expected(doc[words[-1]].text, len(words))
            assert span._.sentiment_scores == pytest.approx(scores, abs=1e-6)
            assert span._.sentiment_label == best(scores)
            leaves = from_brackets(span._.sentiment_tree).words
            assert [unescape(leaf) for leaf in leaves] == [doc[i].text for i in words]
        else:
            found = (span._.sentiment_label, span._.sentiment_scores, span._.sentiment_tree)
            assert found == (None, None, None)
        if item := listed.get((start, end)):
            assert item["text"] == span.text == TEXT[item["start_char"] : item["end_char"]]
            assert (item["label"], item["scores"]) == (
                span._.sentiment_label,
                span._.sentiment_scores,
            )
    assert doc[3:3]._.sentiment_label is None


def test_the_tree_of_a_span_is_in_labelled_brackets(doc: Doc) -> None:
    classes = {label: number for number, label in enumerate(LABELS)}
    a, good, both = (classes[best(expected(*x))] for x in [("A",), ("good",), ("good", 2)])
    assert doc[1:3]._.sentiment_tree == f"({both} ({a} A) ({good} good))"
    assert [sent._.sentiment_tree.count("(") for sent in doc.sents] == [11, 9]


def test_predictions_can_be_drawn(doc: Doc) -> None:
    first, second = predictions(doc)
    assert (first.text, second.text) == ("A good (film).", "It was n't awful !")
    assert first.words == ("A", "good", "-LRB-", "film", "-RRB-", ".")
    texts = [first.text[a:b] for a, b in first.offsets.tolist()]
    assert texts == ["A", "good", "(", "film", ")", "."]
    assert first.to_dict()["tree"] == next(doc.sents)._.sentiment_tree
    assert first.label == best(expected(".", 2))


def test_a_token_of_several_words_and_a_word_of_several_tokens(nlp: Language) -> None:
    doc = nlp.make_doc("New York well - made film")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    doc = nlp.get_pipe("tree_sentiment")(doc)
    (result,) = predictions(doc)
    assert result.words[:2] == ("New", "York")
    assert doc[0:1]._.sentiment_scores == pytest.approx(expected("York", 2), abs=1e-6)
    doc = nlp("a well-made film")
    (result,) = predictions(doc)
    assert result.words == ("a", "well-made", "film")
    assert doc[1:4]._.sentiment_scores == pytest.approx(expected("well-made"), abs=1e-6)
    assert doc[1:2]._.sentiment_scores is None  # a part of a word
    assert doc[0:2]._.sentiment_scores is None
    assert doc[0:5]._.sentiment_scores == pytest.approx(expected("film", 3), abs=1e-6)


def test_results_survive_serialisation(nlp: Language, doc: Doc) -> None:
    binned = DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
    whole = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for copy in (whole, *binned.get_docs(nlp.vocab), doc.copy()):
        assert copy._.sentiment_phrases == doc._.sentiment_phrases
        trees, own = ([sent._.sentiment_tree for sent in one.sents] for one in (copy, doc))
        assert trees == own


def test_predictions_of_a_docbin_need_no_component(doc: Doc) -> None:
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    for name in ("tree_sentiment", "sentiment_phrases"):
        Doc.remove_extension(name)
    for name in ("label", "scores", "tree", "phrases"):
        Span.remove_extension(f"sentiment_{name}")
    (binned,) = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
    labels = [best(expected(word, 5)) for word in (".", "!")]
    assert [found.label for found in predictions(binned)] == labels
    assert next(binned.sents)._.sentiment_label == labels[0]


def test_a_span_reads_its_own_sentence_only(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    doc = nlp("So good. Very awful. " * 50)
    real, read = spacy_results._decoded, []

    def decoded(item: dict[str, Any]) -> object:
        read.append(item["start"])
        return real(item)

    monkeypatch.setattr(spacy_results, "_decoded", decoded)
    assert [sent._.sentiment_label for sent in doc.sents] == [best(expected(".", 3))] * 100
    assert read == [sent.start for sent in doc.sents]


def test_arrays_are_stored_as_described(doc: Doc) -> None:
    stored = doc._.tree_sentiment
    assert stored["labels"] == list(LABELS)
    first, second = stored["sentences"]
    assert (first["start"], first["end"], second["start"], second["end"]) == (0, 7, 7, 13)
    assert np.frombuffer(second["transitions"], np.int8).tolist() == [0, 0, 1, 0, 1, 0, 1, 0, 1]
    tokens = np.frombuffer(first["tokens"], "<i4").reshape(-1, 2)
    assert tokens.tolist() == [[i, i + 1] for i in range(1, 7)]
    scores = np.frombuffer(second["scores"], "<f4").reshape(9, 3)
    assert scores[-1].tolist() == pytest.approx(list(expected("!", 5).values()), abs=1e-6)


def test_a_doc_that_the_component_did_not_see_has_nothing(nlp: Language, doc: Doc) -> None:
    before = doc._.sentiment_phrases
    register_extensions()  # again, which changes nothing
    assert doc._.sentiment_phrases == before
    doc = nlp.make_doc("so good")
    assert doc._.tree_sentiment is None
    assert doc._.sentiment_phrases == []
    assert doc[0:1]._.sentiment_label is None
    assert predictions(doc) == []


@pytest.fixture
def strange() -> Iterator[None]:
    Span.set_extension("sentiment_label", getter=len, force=True)
    yield
    Span.remove_extension("sentiment_label")
    register_extensions()


@pytest.mark.usefixtures("strange")
def test_an_attribute_of_someone_else_is_not_overwritten() -> None:
    with pytest.raises(ConfigError, match=r"Span\._\.sentiment_label"):
        TreeSentiment()
    assert Span.get_extension("sentiment_label")[2] is len
