"""Tokens are merged or split after the component: answers are about the same characters."""

import copy
import pickle
from itertools import combinations

import pytest
from last_word_model import pipeline
from spacy.tokens import Doc, DocBin

import thinstack
from thinstack.errors import InputError
from thinstack.integrations.spacy.doc_results import predictions
from thinstack.integrations.spacy.splitter import span_around

TEXT = "  A good Meryl Streep film, isn't it? \n\n Awful end. So good "
KEY = ("._.", "tree_sentiment_by_name", None, None)


@pytest.fixture(scope="module")
def nlp(last_word):
    return pipeline(last_word.path, source="balanced")


def merged(*texts):
    def change(doc):
        with doc.retokenize() as retokenizer:
            for text in texts:
                start = doc.text.index(text)
                retokenizer.merge(span_around(doc, start, start + len(text)))

    return change


def split(text, *parts):
    def change(doc):
        (token,) = [token for token in doc if token.text == text]
        with doc.retokenize() as retokenizer:
            retokenizer.split(token, list(parts), heads=[token] * len(parts))

    return change


def both(*changes):
    def change(doc):
        for each in changes:
            each(doc)

    return change


CHANGES = {
    "an entity": merged("Meryl Streep"),
    "several": merged("A good", "Streep film,", "Awful end"),
    "across a sentence end": merged("it? \n\n Awful"),
    "white space with a word": merged("? \n\n ", "  A"),
    "a whole sentence": merged("Awful end."),
    "a split": split("Streep", "St", "reep"),
    "as many as before": both(merged("Meryl Streep"), split("Awful", "Aw", "ful")),
    "merged and split again": both(merged("So good"), split("So good", "So g", "ood")),
    "nothing": merged(),
}


@pytest.fixture(params=CHANGES)
def change(request):
    return CHANGES[request.param]


def placed(doc):
    """The phrases of a Doc by their characters; their tokens are those around them."""
    for phrase in doc._.sentiment_phrases:
        span, start, end = doc[phrase["start"] : phrase["end"]], *spot(phrase)
        assert span.start_char <= start < end <= span.end_char
        inner = span[0].idx + len(span[0]), span[-1].idx
        assert start < inner[0]
        assert inner[1] < end
    keys = ("start_char", "end_char", "text", "label", "scores")
    return [tuple(phrase[key] for key in keys) for phrase in doc._.sentiment_phrases]


def spot(phrase):
    return phrase["start_char"], phrase["end_char"]


def asked(doc):
    """What each stretch of tokens answers, by its characters."""
    found = {}
    for start, end in combinations(range(len(doc) + 1), 2):
        span = doc[start:end]
        about, tree = span._.sentiment_span, span._.sentiment_tree
        label, scores = span._.sentiment_label, span._.sentiment_scores
        place = about and (about.start_char, about.end_char)
        key = span.start_char, span.end_char
        found[key] = (label, scores, span._.sentiment_exact, tree, place)
    return found


def test_phrases_are_those_of_the_text(nlp, change):
    doc = nlp(TEXT)
    before, drawn, cats = placed(doc), thinstack.render(doc), dict(doc.cats)
    change(doc)
    assert placed(doc) == before
    assert thinstack.render(doc) == drawn
    assert doc._.sentiment_scores == cats == doc.cats
    parts = [part for sent in doc.sents for part in sent._.sentiment_parts or ()]
    assert all(0 <= start < end <= len(doc) for start, end in parts)


def test_any_span_has_the_smallest_phrase_around_its_characters(nlp, change):
    doc = nlp(TEXT)
    before = asked(doc)
    phrases = doc._.sentiment_phrases
    change(doc)
    for (start, end), (label, scores, exact, tree, place) in asked(doc).items():
        if (start, end) in before:
            known = before[start, end]
            assert (label, scores, exact, tree) == known[:4]
            assert place is None or place[0] <= known[4][0] < known[4][1] <= place[1]
            continue
        text = TEXT[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        around = [one for one in phrases if spot(one)[0] <= start and end <= spot(one)[1]]
        if around and start < end:
            smallest = min(around, key=lambda one: spot(one)[1] - spot(one)[0])
            assert (label, scores) == (smallest["label"], smallest["scores"])
            assert exact == (spot(smallest) == (start, end))
        elif start < end:
            assert tree is None


HANDED_ON = {
    "copy": Doc.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "bytes": lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
    "DocBin": lambda doc: next(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)),
    "JSON": lambda doc: Doc(doc.vocab).from_json(doc.to_json(underscore=["tree_sentiment"])),
}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "bytes") for name in CHANGES),
        *((name, way) for name in ("several", "a split") for way in HANDED_ON if way != "bytes"),
    ],
)
def test_a_doc_can_be_handed_on_before_and_after(nlp, name, way):
    change, handed_on, doc = CHANGES[name], HANDED_ON[way], nlp(TEXT)
    before, answers = placed(doc), asked(doc)
    again = handed_on(doc)
    assert asked(again) == answers
    change(again)
    assert placed(again) == before
    assert placed(handed_on(again)) == before
    assert asked(handed_on(again)) == asked(again)
    assert asked(doc) == answers  # which was not changed


def test_a_group_of_phrases_follows(last_word, change):
    doc = pipeline(last_word.path, source="balanced", spans_key="sentiment")(TEXT)
    group = doc.spans["sentiment"]
    before = {(span.start_char, span.end_char): span.label_ for span in group}
    change(doc)
    assert len(list(group)) == len(group) == len(group.attrs["scores"])
    ends = {token.idx for token in doc}, {token.idx + len(token) for token in doc}
    kept = {place: before[place] for place in before if place[0] in ends[0] and place[1] in ends[1]}
    # spaCy cannot copy or write a Doc with a plain group that has not moved.
    for each in (doc, *(HANDED_ON[way](doc) for way in ("copy", "pickle", "bytes"))):
        held = each.spans["sentiment"]
        assert {(span.start_char, span.end_char): span.label_ for span in held} == kept
        assert [span.text for span in held] == [TEXT[a:b] for a, b in kept]
        assert [span._.sentiment_label for span in held] == list(kept.values())
    assert kept == before or len(kept) < len(before)


def test_a_span_that_spacy_has_not_moved_is_refused(nlp):
    doc = nlp("So Meryl Streep film good")
    spans = doc[0:1], doc[3:4], doc[3:5], doc[1:2]
    labels = [span._.sentiment_label for span in spans[:2]]
    merged("Meryl Streep")(doc)
    assert spans[0]._.sentiment_label == labels[0]
    for span in spans[1:]:
        place = span.start_char, span.end_char
        for ask in (lambda span=span: span._.sentiment_label, lambda span=span: predictions(span)):
            with pytest.raises(InputError, match=rf"char_span\({place[0]}, {place[1]}"):
                ask()
    assert span_around(doc, spans[1].start_char, spans[1].end_char)._.sentiment_label == labels[1]


def test_plain_results_are_told_by_the_tokens_of_now(nlp):
    doc = nlp("Meryl Streep good.")
    merged("Meryl Streep")(doc)
    (sentence,) = doc._.tree_sentiment["sentences"]
    assert sentence["tokens"] == [[0, 1], [0, 1], [1, 2], [2, 3]]
    assert (sentence["start"], sentence["end"]) == (0, 3)
    assert [doc.text[a:b] for a, b in sentence["characters"]] == ["Meryl", "Streep", "good", "."]


def test_contributions_name_the_tokens_of_now():
    nlp = pipeline("sentiment")
    component = nlp.get_pipe("tree_sentiment")
    doc = nlp("Meryl Streep is superb, but the plot is dull.")
    before = component.why(doc)
    merged("Meryl Streep", "the plot")(doc)
    for then, now in zip(*before, *component.why(doc), strict=True):
        assert now["text"] == then["text"]
        assert now["contribution"] == then["contribution"]
        assert now["text"] in doc[now["start"] : now["end"]].text
