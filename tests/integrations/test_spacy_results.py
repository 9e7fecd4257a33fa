"""What the component leaves on a Doc, read by the extension attributes; what it cannot have left is
a DataError."""

import copy
from itertools import combinations

import pytest
import spacy
from last_word_model import LABELS, best, expected, mean_of, pipeline
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.underscore import Underscore

from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words.ptb import unescape
from thinstack.errors import ConfigError, DataError, NoSentencesWarning
from thinstack.integrations.spacy import TreeSentiment, predictions
from thinstack.integrations.spacy.doc_results import register_extensions

TEXT = "  A good (film).\n\n It was n't awful !"
# Tokens: 0 spaces, 1 A, 2 good, 3 (, 4 film, 5 ), 6 ., 7 line breaks, 8 It, 9 was, 10 n't, 11
# awful, 12 !


@pytest.fixture(scope="module")
def nlp(last_word):
    return pipeline(last_word.path, source="left")


@pytest.fixture
def doc(nlp):
    doc = nlp(TEXT)
    assert [token.text for token in doc][3:8] == ["(", "film", ")", ".", "\n\n "]
    return doc


# Left-branching trees: a phrase is one word, or the sentence from its first word to any other.
PHRASES = {(i, i + 1) for i in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)}
PHRASES |= {(1, i) for i in range(3, 8)} | {(8, i) for i in range(10, 14)}


def around(words):
    """The smallest phrase around these tokens, or the sentences that they stand in."""
    found = [(a, b) for a, b in PHRASES if a <= words[0] and words[-1] < b]
    return [min(found, key=lambda phrase: phrase[1] - phrase[0])] if found else [(1, 7), (8, 13)]


def test_a_span_has_the_results_of_the_smallest_phrase_around_it(doc):
    listed = {(item["start"], item["end"]): item for item in doc._.sentiment_phrases}
    assert listed.keys() == PHRASES
    assert len(doc._.sentiment_phrases) == len(PHRASES)
    for start, end in combinations(range(len(doc) + 1), 2):
        span = doc[start:end]
        words = [token.i for token in span if not token.is_space]
        if not words:
            continue
        phrases = around(words)
        whole = phrases[0][0], phrases[-1][1]
        scores = mean_of((".", 6), ("!", 5))
        if len(phrases) == 1:
            last = [i for i in range(*whole) if not doc[i].is_space]
            scores = expected(doc[last[-1]].text, len(last))
            leaves = from_brackets(span._.sentiment_tree).words
            assert [unescape(leaf) for leaf in leaves] == [doc[i].text for i in last]
        else:
            assert span._.sentiment_tree is None
        assert span._.sentiment_scores == pytest.approx(scores, abs=1e-6)
        assert span._.sentiment_label == best(scores)
        assert (span._.sentiment_span.start, span._.sentiment_span.end) == whole
        assert span._.sentiment_exact == (whole == (words[0], words[-1] + 1))
        inside = [each for a, b in phrases for each in listed if a <= each[0] and each[1] <= b]
        assert sorted((x["start"], x["end"]) for x in span._.sentiment_phrases) == sorted(inside)
        if item := listed.get((start, end)):
            assert item["text"] == span.text == TEXT[item["start_char"] : item["end_char"]]
            own = (span._.sentiment_label, span._.sentiment_scores)
            assert (item["label"], item["scores"]) == own


def test_a_span_without_words_has_nothing(doc):
    names = ("label", "scores", "span", "tree", "phrases", "parts")
    for span in (doc[0:1], doc[3:3], doc[7:8]):
        assert [span._.get(f"sentiment_{name}") for name in names] == [None] * 6
        assert span._.sentiment_exact is False


def test_the_tree_of_a_span_is_in_labelled_brackets(doc):
    classes = {label: number for number, label in enumerate(LABELS)}
    a, good, both = (classes[best(expected(*x))] for x in [("A",), ("good",), ("good", 2)])
    assert doc[1:3]._.sentiment_tree == f"({both} ({a} A) ({good} good))"
    assert [sent._.sentiment_tree.count("(") for sent in doc.sents] == [11, 9]


def test_a_token_of_several_words_and_a_word_of_several_tokens(nlp):
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
    assert doc[1:2]._.sentiment_scores == doc[1:4]._.sentiment_scores  # a part of a word
    assert [doc[a:b]._.sentiment_exact for a, b in ((1, 4), (1, 2), (0, 2))] == [True, False, False]
    assert doc[0:2]._.sentiment_span.text == "a well-made"
    assert doc[0:5]._.sentiment_scores == pytest.approx(expected("film", 3), abs=1e-6)


def test_predictions_of_a_docbin_need_no_component(doc):
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    for kind, state in ((Doc, 2), (Span, 1)):
        for name in [name for name in Underscore.get_state()[state] if "sentiment" in name]:
            kind.remove_extension(name)
    (binned,) = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
    labels = [best(expected(word, 5)) for word in (".", "!")]
    assert [found.label for found in predictions(binned)] == labels
    assert next(binned.sents)._.sentiment_label == labels[0]


def test_what_is_stored_is_as_described(doc):
    plain = doc._.tree_sentiment
    assert (plain["labels"], plain["aggregation"]) == (list(LABELS), "words")
    first, second = plain["sentences"]
    assert (first["start"], first["end"], second["start"], second["end"]) == (1, 7, 8, 13)
    assert second["transitions"] == [0, 0, 1, 0, 1, 0, 1, 0, 1]
    assert first["tokens"] == [[i, i + 1] for i in range(1, 7)]
    assert second["scores"][-1] == pytest.approx(list(expected("!", 5).values()), abs=1e-6)


def test_a_doc_that_the_component_did_not_see_has_nothing(nlp, doc):
    before = doc._.sentiment_phrases
    register_extensions()  # again, which changes nothing
    assert doc._.sentiment_phrases == before
    doc = nlp.make_doc("so good")
    assert doc._.tree_sentiment is None
    assert doc._.sentiment_phrases == []
    assert doc[0:1]._.sentiment_label is None
    assert predictions(doc) == []


@pytest.fixture
def strange():
    Span.set_extension("sentiment_label", getter=len, force=True)
    yield
    Span.remove_extension("sentiment_label")
    register_extensions()


@pytest.mark.usefixtures("strange")
def test_an_attribute_of_someone_else_is_not_overwritten():
    with pytest.raises(ConfigError, match=r"Span\._\.sentiment_label"):
        TreeSentiment()
    assert Span.get_extension("sentiment_label")[2] is len


TEXTS = "The acting is superb. It was filmed in a town by the sea. It was not bad at all."


def test_where_it_abstains_there_is_no_label(tmp_path):
    nlp = pipeline("sentiment", classes=3, abstain=0.6)
    nlp.to_disk(tmp_path / "saved")
    for doc in (nlp(TEXTS), spacy.load(tmp_path / "saved")(TEXTS)):
        labels = {item["label"] for item in doc._.sentiment_phrases}
        assert labels == {"negative", "neutral", "positive", None}
        for item in doc._.sentiment_phrases:
            span, top = doc[item["start"] : item["end"]], max(item["scores"].values())
            assert (item["label"] is None) == (top < 0.6)
            assert span._.sentiment_label == item["label"]
            assert span._.sentiment_scores == item["scores"]
        labels = [sentence._.sentiment_label for sentence in doc.sents]
        assert [one.label for one in predictions(doc)] == labels


KEY = ("._.", "tree_sentiment_by_name", None, None)
REVIEW = "good film. awful film"


def read(nlp, value):
    """A Doc as spaCy reads it, with other results than it was written with."""
    doc = nlp(REVIEW)
    doc.user_data[KEY] = value
    return Doc(nlp.vocab).from_bytes(doc.to_bytes())


def first(**changes):
    """Changes of the first sentence."""
    return lambda value: value["sentences"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda value: value.pop("labels"), "labels"),
        (lambda value: value.update(labels=["bad", "bad", "good"]), "class names"),
        (lambda value: value.update(polarity=[0.0]), "polarity for each"),
        (lambda value: value.update(aggregation="tokens"), "aggregation"),
        (lambda value: value.update(abstain=float("nan")), "abstain"),
        (lambda value: value.update(about=["!"]), "!"),
        (lambda value: value.update(root=[float("nan")] * 3), "scores"),
        (lambda value: value["sentences"].reverse(), "sentences in order"),
        (lambda value: value["sentences"].append(3), "sentences"),
        (first(words=["good", 3, "."]), "words"),
        (first(words=[]), "words"),
        (first(characters=[[0, 4], [5, 9], [9, 22]]), "up to 21"),
        (first(characters=[[-1, 4], [5, 9], [9, 10]]), "characters"),
        (first(characters=[[5, 9], [0, 4], [9, 10]]), "characters"),
        (first(characters=[0] * 6), "characters"),
        (first(characters=[1 << 40] * 6), "OverflowError"),
        (first(characters=[0] * 5), "reshape"),
        (first(transitions=[0] * 5), "TreeError"),
        (first(transitions=["x"]), "ValueError"),
        (first(scores=[[float("nan")] * 3] * 5), "scores for each phrase"),
        (first(scores=[0.5] * 6), "scores for each phrase"),
        (first(weight=-1.0), "weight"),
        (first(parts=[[0, 2]]), "parts that cover 3 words"),
        (first(parts=[[1, 3]]), "parts that cover 3 words"),
        (first(parts=[[0, 3], [3, 3]]), "parts that cover 3 words"),
        (first(terms=[0.5] * 2), "scores for each phrase, found 2"),
        (first(terms=[float("nan")] * 5), "scores for each phrase"),
    ],
)
def test_what_none_can_have_left_is_refused(nlp, change, problem):
    value = copy.deepcopy(nlp(REVIEW)._.tree_sentiment)
    change(value)
    doc = read(nlp, {"tree_sentiment": value})
    for ask in (lambda: doc._.sentiment_label, lambda: doc[0:2]._.sentiment_tree):
        with pytest.raises(DataError, match=problem):
            ask()
    other = nlp.make_doc(REVIEW)
    with pytest.raises(DataError, match=problem):
        other._.tree_sentiment = value
    assert other._.tree_sentiment is None
    assert nlp.get_pipe("tree_sentiment")(doc)._.sentiment_label is not None  # takes its place


@pytest.mark.parametrize("value", [3, [], {"labels": ["a"], "sentences": 1}, "x"])
def test_what_is_no_mapping_is_refused(nlp, value):
    with pytest.raises(DataError):
        nlp.make_doc(REVIEW)._.tree_sentiment = value
    with pytest.raises(DataError):
        _ = read(nlp, value)._.tree_sentiment
