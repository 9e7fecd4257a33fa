"""Several components, JSON, groups of spans and pictures: what a Doc gives to others."""

import pickle

import numpy as np
import pytest
import spacy
from last_word_model import LABELS, TABLE, best, expected, mean_of, pipeline, write_last_word_bundle
from spacy.tokens import Doc, DocBin
from spacy.tokens.underscore import Underscore

import thinstack
from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.core.config import ModelConfig
from thinstack.errors import InputError, UnknownNameError
from thinstack.integrations.spacy import predictions, results
from thinstack.integrations.spacy.span_groups import PhraseGroup
from thinstack.integrations.spacy.stored import Stored, store
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.views import View

TEXT = "A good film. It was awful"
OTHER = TABLE[::-1].copy()
FIVE = ("very negative", "negative", "neutral", "positive", "very positive")


@pytest.fixture(scope="module")
def two(last_word, tmp_path_factory):
    nlp = pipeline(last_word.path)
    folder = tmp_path_factory.mktemp("other") / "bundle"
    labels = ("sports", "so-so", "music")
    write_last_word_bundle(folder, tree_source="left", table=OTHER, labels=labels)
    settings = {"model": str(folder), "threads": 1, "aggregation": "sentences"}
    nlp.add_pipe("tree_sentiment", name="topics", config=settings)
    return nlp


def by_topic(scores):
    return dict(zip(("sports", "so-so", "music"), scores.values(), strict=True))


def topics(doc):
    """The plain mean of both sentences, by the other table."""
    both = expected(".", 4, OTHER), expected("awful", 3, OTHER)
    return by_topic({label: (both[0][label] + both[1][label]) / 2 for label in LABELS})


def test_each_component_has_results_of_its_own(two):
    alone, doc = mean_of((".", 4), ("awful", 3)), two(TEXT)
    kept = Doc(two.vocab).from_bytes(doc.to_bytes())
    (binned,) = DocBin(docs=[doc], store_user_data=True).get_docs(two.vocab)
    (piped,) = two.pipe([TEXT], n_process=2)
    for each in (doc, kept, binned, piped, doc.copy(), pickle.loads(pickle.dumps(doc)), two(doc)):
        assert each._.sentiment_scores == pytest.approx(alone, abs=1e-6)
        assert each._.sentiment_label == best(alone)
        found = two.get_pipe("topics").results(each)
        assert found.scores == pytest.approx(topics(doc), abs=1e-6)
        assert found.label == best(topics(doc))
        # Labels stand side by side; of the one that both have, it is the later one's.
        assert each.cats == pytest.approx({**alone, **topics(doc)}, abs=1e-6)
        last = predictions(each, name="topics")[1]
        assert last.labels[last.label_ids[-1]] == best(by_topic(expected("awful", 3, OTHER)))
        assert results(each[0:2], "topics").span.text == "A good"
        ends = [[item["end"] for item in why][:3] for why in two.get_pipe("topics").why(each)]
        assert ends == [[1, 2, 2], [5, 6, 6]]


def test_one_component_of_another_name_is_read(two):
    with two.select_pipes(disable="tree_sentiment"):
        doc = two(TEXT)
    assert doc._.sentiment_scores == pytest.approx(topics(doc), abs=1e-6)
    with pytest.raises(UnknownNameError, match="'tree_sentiment'; known: topics"):
        two.get_pipe("tree_sentiment").results(doc)
    assert two.get_pipe("topics").results(two.make_doc(TEXT)) is None


def test_the_last_one_is_read_where_none_has_the_usual_name(two):
    doc = two.make_doc(TEXT)
    for names in (("a", "b"), ("b", "a")):
        for name in names:
            words = [token.text for token in doc]
            tree, scores = thinstack.Tree.balanced(words), np.full((13, 2), 0.5, np.float32)
            store(doc, scored(doc.text, words, tree, scores, View((name, "other"))), name)
        assert doc._.sentiment_label == names[1]


def test_getters_go_to_worker_processes_that_are_not_forked(nlp):
    state = pickle.loads(pickle.dumps(Underscore.get_state()))
    assert state[1]["sentiment_label"][2](nlp("so good")[:]) == "good"


def scored(text, words, tree, scores, view):
    """What a component leaves on a Doc of one sentence, whose words stand in turn in the text."""
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    offsets = np.stack([[0, *(ends + 1)[:-1]], ends], axis=1)
    read = text, tuple(words), offsets, tree.transitions, scores, view
    return Stored(Result(text, (Prediction(*read),), view))


def scored_as(brackets, abstain=0.0):
    """A Doc scored by labels in brackets, 0.6 each."""
    tree = thinstack.from_brackets(brackets)
    doc = Doc(spacy.blank("en").vocab, words=list(tree.words))
    scores = np.full((len(tree), 5), 0.1, np.float32)
    scores[np.arange(len(tree)), [int(label or 0) for label in tree.labels]] = 0.6
    view = View.of(FIVE, abstain)
    store(doc, scored(doc.text.strip(), tree.words, tree, scores, view), "tree_sentiment")
    return doc


BRACKETS = "(1 (3 (2 (2 The) (2 acting)) (3 (2 is) (4 superb))) (1 (2 ,) (1 (2 but) (0 dull))))"


def test_a_group_of_spans_has_the_phrases_that_differ():
    doc = scored_as(BRACKETS)
    doc.spans["sentiment"] = PhraseGroup(doc, "sentiment", "tree_sentiment")
    group = doc.spans["sentiment"]
    assert [(span.text, span.label_) for span in group] == [
        (doc.text.strip(), "negative"),
        ("The acting is superb", "positive"),
        ("superb", "very positive"),
        ("dull", "very negative"),
    ]
    assert group.attrs["scores"].tolist() == pytest.approx([0.6] * 4)
    unsure = scored_as(BRACKETS, abstain=0.7)
    assert len(PhraseGroup(unsure, "sentiment", "tree_sentiment")) == 0


def test_a_span_is_drawn_as_the_phrase_around_it(last_word):
    doc = pipeline(last_word.path, source="left", spans_key="sentiment")(TEXT)
    first, second = predictions(doc)
    for span, text in ((doc[0:2], "A good"), (doc[1:3], "A good film"), (doc[0:4], first.text)):
        (found,) = predictions(span)
        assert found.text == text
        assert found.brackets == span._.sentiment_tree
        assert thinstack.render(span) == thinstack.render(found)
    assert thinstack.render(doc[2:5], "text") == thinstack.render([first, second], "text")
    drawn = thinstack.render(doc.spans["sentiment"])
    assert drawn == thinstack.render(list(doc.spans["sentiment"]))
    with pytest.raises(InputError, match="found Token"):
        thinstack.render(doc[0])


def test_polarity_is_that_of_the_model_whatever_labels_are_called(tmp_path):
    """Of labels that stand for sets of classes, a Doc keeps where they stand."""
    base = open_bundle("sentiment")
    sets = {"class_sets": {"1": FIVE[:2], "3": FIVE[2:3], "5": FIVE[3:]}}
    config = ModelConfig.model_validate(base.config.model_dump() | sets)
    files = {name: base.read(name) for name in (VOCABULARY_FILE, ONNX_FILE)}
    model = str(write_bundle(tmp_path / "stars", files, config=config).path)
    nlp = pipeline(model)
    text = "A good film. The plot is awful."
    doc, result = nlp(text), thinstack.load(model)(text)
    assert result.view.polarity not in (None, View.of(result.view.labels).polarity)
    assert doc._.polarity == pytest.approx(result.polarity, abs=1e-6)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for phrase in result.sentences[0].phrases:
        span = again.char_span(phrase.start, phrase.end)
        assert span._.polarity == pytest.approx(phrase.polarity, abs=1e-6)
