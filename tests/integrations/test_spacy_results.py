"""What the component leaves on a Doc: kept through serialisation, read by the extension
attributes."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import spacy
from last_word_model import LABELS, best, expected, pipeline, random_tree
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from thinstack.bundle import Bundle
from thinstack.data.brackets import from_brackets
from thinstack.data.ptb import unescape
from thinstack.errors import ConfigError, InputError, NoSentencesWarning
from thinstack.integrations.spacy.component import TreeSentiment, predictions
from thinstack.integrations.spacy.results import Annotated, register_extensions, store
from thinstack.integrations.spacy.splitter import sentences_of
from thinstack.runtime.documents import document_scores

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


def scored_at_random(doc: Doc, rng: random.Random) -> Doc:
    found = []
    for sentence in sentences_of(doc):
        tree = random_tree(len(sentence.words), rng)
        scores = [rng.choices([0.1, 0.3, 0.6], k=len(LABELS)) for _ in tree]
        found.append(Annotated(sentence, tree, np.array(scores, np.float32)))
    store(doc, found, LABELS)
    return doc


def rows_by_definition(doc: Doc) -> Iterator[tuple[Span, list[float] | None]]:
    """Every span of a Doc and the scores of its node, by a stack of (first word, end, row)."""
    nodes: dict[tuple[int, int, int], list[float]] = {}
    for number, record in enumerate(doc._.tree_sentiment["sentences"]):
        stack, shifted = [], 0
        rows = np.frombuffer(record["scores"], "<f4").reshape(-1, len(LABELS)).tolist()
        for step, row in zip(record["transitions"], rows, strict=True):
            if step == 0:
                stack.append((shifted, shifted + 1))
                shifted += 1
            else:
                right, left = stack.pop(), stack.pop()
                stack.append((left[0], right[1]))
            nodes[(number, *stack[-1])] = row
    places = [
        (number, word, tokens)
        for number, record in enumerate(doc._.tree_sentiment["sentences"])
        for word, tokens in enumerate(
            np.frombuffer(record["tokens"], "<i4").reshape(-1, 2).tolist()
        )
    ]
    for start, end in combinations(range(len(doc) + 1), 2):
        read = {token.i for token in doc[start:end] if not token.is_space}
        inside = [place for place in places if read.issuperset(range(*place[2]))]
        covered = {token for *_, tokens in inside for token in range(*tokens)}
        key = (inside[0][0], inside[0][1], inside[-1][1] + 1) if inside else (-1, 0, 0)
        one = inside and inside[0][0] == inside[-1][0] and covered == read
        yield doc[start:end], nodes.get(key) if one else None


TEXTS = [
    "",
    " ",
    "good",
    " \n good",
    "A good film. It was awful !",
    TEXT,
    "a b c d e f g h i j k l",
]
TEXTS += ["a well-made, New York film  here \n\n . ( good ) It is ''so'' good!  \n  ", "a b. " * 4]


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_any_span_of_random_trees_has_what_its_node_has(text: str, saved: bool) -> None:
    rng, nlp = random.Random(text), spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for _ in range(8):
        doc = nlp(text)
        if "York" in text:  # a token of two words
            place = [token.text for token in doc].index("New")
            with doc.retokenize() as retokenizer:
                retokenizer.merge(doc[place : place + 2])
        for _ in range(2):  # what is read is always what was stored last
            doc = scored_at_random(doc, rng)
            doc = Doc(nlp.vocab).from_bytes(doc.to_bytes()) if saved else doc
            for span, row in rows_by_definition(doc):
                scores = None if row is None else dict(zip(LABELS, row, strict=True))
                label = None if scores is None else best(scores)
                assert (span._.sentiment_label, span._.sentiment_scores) == (label, scores)
                assert (span._.sentiment_phrases is None) == (scores is None)
                if scores is not None:
                    assert span._.sentiment_phrases[-1]["scores"] == scores


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
    with pytest.warns(NoSentencesWarning):
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


class _Watched(dict[str, Any]):
    """A stored sentence that notes when its arrays are read."""

    read: ClassVar[list[int]] = []

    def __getitem__(self, key: str) -> Any:
        if key == "scores":
            self.read.append(self["start"])
        return super().__getitem__(key)


def test_a_span_reads_its_own_sentence_only(nlp: Language) -> None:
    doc = nlp("So good. Very awful. " * 50)
    stored = doc._.tree_sentiment
    doc._.tree_sentiment = {**stored, "sentences": list(map(_Watched, stored["sentences"]))}
    assert [sent._.sentiment_label for sent in doc.sents] == [best(expected(".", 3))] * 100
    assert _Watched.read == [sent.start for sent in doc.sents]


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


TEXTS = "The acting is superb. It was filmed in a town by the sea. It was not bad at all."


def shown(**settings: Any) -> Doc:
    return pipeline("sst", **settings)(TEXTS)


@pytest.mark.parametrize("most", [400, 4])
@pytest.mark.parametrize(("classes", "places"), [(3, (0, 0, 1, 2, 2)), (2, (0, 0, None, 1, 1))])
def test_a_view_shows_phrases_and_documents_by_sums(
    classes: int, places: Sequence[Any], most: int
) -> None:
    own, doc = shown(max_words=most), shown(max_words=most, classes=classes)
    names = ["negative", "neutral", "positive"] if classes == 3 else ["negative", "positive"]

    def sums(scores: dict[str, float]) -> dict[str, float]:
        masses = dict.fromkeys(names, 0.0)
        for place, score in zip(places, scores.values(), strict=True):
            if place is not None:
                masses[names[place]] += score
        return {name: mass / sum(masses.values()) for name, mass in masses.items()}

    assert doc.cats == pytest.approx(sums(own.cats), abs=1e-6)
    for before, after in zip(own._.sentiment_phrases, doc._.sentiment_phrases, strict=True):
        assert after["scores"] == pytest.approx(sums(before["scores"]), abs=1e-6)
    bare = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
    found = document_scores(predictions(bare))
    assert found.tolist() == pytest.approx(list(doc.cats.values()), abs=1e-6)
    assert any(len(one.parts) > 1 for one in predictions(bare)) == (most == 4)


def test_where_it_abstains_there_is_no_label(tmp_path: Path) -> None:
    nlp = pipeline("sst", classes=3, abstain=0.6)
    nlp.to_disk(tmp_path / "saved")
    for doc in (nlp(TEXTS), spacy.load(tmp_path / "saved")(TEXTS)):
        labels = {item["label"] for item in doc._.sentiment_phrases}
        assert labels == {"negative", "neutral", "positive", None}
        for item in doc._.sentiment_phrases:
            span, top = doc[item["start"] : item["end"]], max(item["scores"].values())
            assert (item["label"] is None) == (top < 0.6)
            assert (span._.sentiment_label, span._.sentiment_scores) == (
                item["label"],
                item["scores"],
            )
        assert [one.label for one in predictions(doc)] == [
            sentence._.sentiment_label for sentence in doc.sents
        ]


def test_a_view_that_the_model_lacks_is_refused_when_it_is_added(last_word: Bundle) -> None:
    with pytest.raises(InputError, match="a model of the five classes"):
        pipeline(last_word.path, classes=3)
    with pytest.raises(InputError, match="abstain: expected a probability"):
        pipeline(last_word.path, abstain=1.5)
