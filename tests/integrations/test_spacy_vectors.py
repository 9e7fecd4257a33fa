"""The component `tree_vectors`: vectors of Docs, spans and tokens, against numpy by hand."""

import pickle
import re
from functools import partial, reduce
from itertools import combinations

import last_word_model
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from test_retokenized import HANDED_ON, merged
from text_vectors import write_text_vectors
from vector_models import SIZE, joined_by_hand, rows_by_hand, vectors_by_hand, write_vector_bundle

import thinstack
from thinstack.bundle.opening import SEPARATE
from thinstack.errors import DataError, InputError, UnknownNameError
from thinstack.integrations.spacy import predictions

HALF = 2e-3
TEXT = " The good film \n but the awful plot. Good film. "
SENTENCES = [["The", "good", "film", "but", "the", "awful", "plot", "."], ["Good", "film", "."]]
LOST = "lost the hooks"
pipeline = partial(last_word_model.pipeline, component="tree_vectors")


@pytest.fixture(scope="module")
def nlp(vector_folder):
    return pipeline(vector_folder)


def of(span, nlp):
    """Its vector, made by hand."""
    states = []
    for words, sentence in zip(SENTENCES, span.doc.sents, strict=True):
        tokens = [token.i for token in sentence if not token.is_space]
        inside = [place for place, token in enumerate(tokens) if span.start <= token < span.end]
        steps = nlp.get_pipe("tree_vectors").predictor.tree_maker()(words)
        spans, rows = [], rows_by_hand(words, steps)
        for step in steps:  # the words of each node
            right = spans and spans[-1]
            left = spans[-1 - (2 * len(right) - 1)] if step else ()
            spans.append((*left, *right) if step else (sum(len(one) == 1 for one in spans),))
        while inside:
            nodes = [node for node, one in enumerate(spans) if [*one] == inside[: len(one)]]
            states.append(rows[nodes[-1]])
            inside = inside[len(spans[nodes[-1]]) :]
    if not states:
        return None
    state = reduce(joined_by_hand, states)
    return state / np.linalg.norm(state)


def test_a_doc_of_a_span_has_no_vectors(nlp):
    doc = nlp(TEXT)[2:6].as_doc()
    assert (doc.has_vector, doc.vector_norm, doc[0].has_vector) == (False, 0, False)
    with pytest.raises(InputError, match="has no vectors"):
        _ = doc.vector


def test_any_span_and_any_token(nlp):
    doc = nlp(TEXT)
    joins = 0
    for start, end in combinations(range(len(doc) + 1), 2):
        span = doc[start:end]
        expected = of(span, nlp)
        assert span.has_vector == (expected is not None)
        if expected is None:
            np.testing.assert_array_equal(span.vector, np.zeros(SIZE, np.float32))
            continue
        if [token.i for token in span if not token.is_space] == [
            token.i for token in doc if not token.is_space
        ]:
            np.testing.assert_array_equal(span.vector, doc.vector)
            continue
        np.testing.assert_allclose(span.vector, expected, atol=HALF)
        assert span.vector_norm == pytest.approx(1, abs=1e-6)
        joins += 1
    assert joins > 60
    for token in doc:
        assert token.has_vector == (not token.is_space)
        assert token.vector_norm == token.has_vector
        if token.has_vector:
            np.testing.assert_array_equal(token.vector, doc[token.i : token.i + 1].vector)
    assert doc[0:0].has_vector is False


def test_a_doc(nlp):
    doc = nlp(TEXT)
    maker = nlp.get_pipe("tree_vectors").predictor.tree_maker()
    roots = [vectors_by_hand(words, maker(words))[-1] for words in SENTENCES]
    expected = 8 * roots[0] + 3 * roots[1]
    expected /= np.linalg.norm(expected)
    assert (doc.vector.dtype, doc.vector.shape, doc.vector_norm) == (np.float32, (SIZE,), 1)
    np.testing.assert_allclose(doc.vector, expected, atol=HALF)
    other = nlp("Awful plot")
    assert doc.similarity(other) == pytest.approx(doc.vector @ other.vector)
    one = doc[2:4].similarity(other[0])
    assert one == pytest.approx(doc[2:4].vector @ other[0].vector)
    assert doc[2].similarity(doc[2:4]) == pytest.approx(doc[2].vector @ doc[2:4].vector)
    empty = nlp(" ")
    assert (empty.has_vector, empty.vector_norm, empty.vector.tolist()) == (False, 0, [0] * SIZE)
    with pytest.warns(UserWarning, match="W008"):
        assert doc.similarity(empty) == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [("negative", "positive"), ()], ids=["classes", "alone"])
def test_a_text_that_is_one_tree(tmp_path, labels):
    model = write_text_vectors(tmp_path / "model", labels=labels).path
    nlp, text = pipeline(model), "The film is not good. The screen is awful, and awful."
    doc = nlp(text)
    result = thinstack.load(model, threads=1)(text)
    np.testing.assert_allclose(doc.vector, result.vector, atol=HALF)
    np.testing.assert_allclose(doc[6:].vector, result.sentences[1].vector, atol=HALF)
    means = reduce(np.add, [9 * result.sentences[0].vector, result.sentences[1].vector])
    assert not np.allclose(doc.vector, means / np.linalg.norm(means), atol=0.05)
    other = nlp.get_pipe("tree_vectors").attach(HANDED_ON["bytes"](doc))
    np.testing.assert_array_equal(other.vector, doc.vector)
    polarity = result.polarity if labels else None
    assert doc._.polarity == pytest.approx(polarity)
    assert doc.cats == {}


@pytest.mark.filterwarnings("ignore")  # spaCy's, and ours, of hooks that are not passed on
@pytest.mark.parametrize("way", HANDED_ON)
def test_a_doc_that_is_handed_on(nlp, way):
    doc = nlp(TEXT)
    other = HANDED_ON[way](doc)
    component = nlp.get_pipe("tree_vectors")
    if way == "bytes":
        for ask in (lambda: other.vector, lambda: other[3:6].vector, lambda: other[3].vector):
            with pytest.raises(InputError, match=rf"{LOST}.*get_pipe\('tree_vectors'\)\.attach"):
                ask()
    elif way == "pickle":
        np.testing.assert_array_equal(other.vector, doc.vector)
        with pytest.raises(InputError, match=r"not a phrase, .*attach\(doc\) first"):
            _ = other[2:6].vector
    if way == "JSON":  # which has the results of a tree_sentiment, without vectors
        with pytest.raises(UnknownNameError, match="'tree_vectors'"):
            component.attach(other)
        return
    assert component.attach(other) is other
    for start, end in combinations(range(1, 12), 2):
        assert other[start:end].has_vector == doc[start:end].has_vector
        if doc[start:end].has_vector:
            np.testing.assert_array_equal(other[start:end].vector, doc[start:end].vector)
    np.testing.assert_array_equal(other.vector, doc.vector)
    assert other.similarity(doc[2:4]) == pytest.approx(doc.similarity(doc[2:4]))


def test_what_is_lost_on_the_way_is_told(nlp):
    with pytest.warns(UserWarning, match=r"hooks: call nlp\.get_pipe\('tree_vectors'\)"):
        DocBin(store_user_data=True).add(nlp(TEXT))
    with pytest.warns(UserWarning, match="W101"):
        joined = Doc.from_docs([nlp(TEXT), nlp(TEXT)])
    with pytest.raises(InputError, match=LOST):
        _ = joined[0:2].vector


def test_tokens_that_are_merged(nlp):
    doc = nlp(TEXT)
    before = doc[2:6].vector, doc[6:8].vector
    merged("good film")(doc)
    np.testing.assert_array_equal(doc[2:5].vector, before[0])
    np.testing.assert_array_equal(doc[5:7].vector, before[1])


def test_beside_tree_sentiment(vector_folder):
    text = "Good film. Awful plot."
    both, alone = pipeline(vector_folder, "tree_sentiment"), pipeline(vector_folder)
    doc, other = both(text), alone(text)
    np.testing.assert_array_equal(doc[0:2].vector, other[0:2].vector)
    scores = thinstack.load(vector_folder, threads=1)(text).scores
    assert doc.cats == pytest.approx(scores, abs=1e-6)
    assert doc[0:2]._.polarity == other[0:2]._.polarity
    (sentence, _) = predictions(other, "tree_vectors")
    np.testing.assert_array_equal(sentence.vector, doc[0:3].vector)


def test_what_does_not_fit_is_an_error(nlp, tmp_path):
    with pytest.raises(InputError, match="with vectors, found 'sentiment': use the model 'vec"):
        pipeline("sentiment")
    doc = nlp(TEXT)
    for other in (nlp.make_doc("good"), nlp.vocab["good"], "good"):
        with pytest.raises(InputError, match="expected a Doc, span or token with"):
            doc[1:3].similarity(other)
    wide = pipeline(write_text_vectors(tmp_path / "wide").path)("good film")
    with pytest.raises(InputError, match=r"be compared with those of [0-9a-f]{12}: process"):
        doc.similarity(wide)
    alone = pipeline(write_vector_bundle(tmp_path / "alone", labels=()).path)
    alone.get_pipe("tree_vectors").attach(doc)
    assert doc[2:4].has_vector
    with pytest.raises(InputError, match=r"needs the model [0-9a-f]{12} that read the Doc, found"):
        _ = doc[2:6].vector


@pytest.mark.usefixtures("without_installed_models")
def test_a_missing_model_names_the_line_that_installs_it():
    with pytest.raises(UnknownNameError, match=re.escape(SEPARATE["vectors"])):
        spacy.blank("en").add_pipe("tree_vectors")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "wrong", [np.ones((3, 4)), np.full((5, 4), np.nan), np.ones((5, 4)) * 2, "text"]
)
def test_vectors_that_no_component_left(nlp, wrong):
    doc = nlp("The good film")
    ((key, by_name),) = [item for item in doc.user_data.items() if "by_name" in item[0][1]]
    data = pickle.loads(pickle.dumps(Doc(nlp.vocab).from_bytes(doc.to_bytes()).user_data[key]))
    data["tree_vectors"]["sentences"][0]["vectors"] = wrong
    doc.user_data[key] = data
    with pytest.raises(DataError, match="has no valid results"):
        nlp.get_pipe("tree_vectors").attach(doc)
    assert by_name
