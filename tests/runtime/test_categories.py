"""Categories that are named by examples, against cosines by numpy."""

import pickle

import numpy as np
import pandas as pd
import pytest
from text_vectors import write_text_vectors

import thinstack
from thinstack import Category
from thinstack.errors import InputError

TEXT = "Good film. Awful screen not good films."
EXAMPLES = ["good screen", "awful"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return thinstack.load(write_text_vectors(tmp_path_factory.mktemp("v") / "m").path, threads=1)


def similarities(model, sentence):
    """Of each phrase of a sentence: the mean of its cosine and that of the sentence, each with the
    nearest example."""
    examples = np.stack([model(text).vector for text in EXAMPLES])
    rows = np.stack([phrase.vector for phrase in sentence.phrases])
    nearest = (rows @ examples.T).max(axis=1)
    return (nearest + nearest[-1]) / 2


def test_a_sentence_mentions_a_category_by_its_nearest_phrase(model):
    result = model(TEXT)
    aspects = result.about(Category("looks", EXAMPLES, threshold=1e-6))
    assert [aspect.asked for aspect in aspects] == ["looks", "looks"]
    for aspect, sentence in zip(aspects, result.sentences, strict=True):
        values = similarities(model, sentence)
        phrases = [*zip(values, sentence.phrases, strict=True)]
        read = [value for value, phrase in phrases if phrase.text not in (".", "not")]
        assert aspect.probability == pytest.approx(max(read), abs=1e-3)
        whole = [p for v, p in phrases if v == pytest.approx(aspect.probability, abs=1e-6)]
        assert any(aspect.start <= phrase.start < phrase.end <= aspect.end for phrase in whole)
        assert TEXT[aspect.start : aspect.end] == aspect.text
    first, second = (aspect.probability for aspect in aspects)
    between = Category("looks", EXAMPLES, threshold=(first + second) / 2)
    assert [one.probability for one in result.about(between)] == [max(first, second)]
    assert result.about(Category("looks", EXAMPLES, threshold=0.9999)) == []
    both = result.about("films", Category("looks", EXAMPLES, threshold=1e-6))
    assert sorted({str(aspect.asked) for aspect in both}) == ["films", "looks"]
    assert [one.start for one in both] == sorted(one.start for one in both)


def test_columns_of_a_category(model):
    frame = pd.DataFrame({"text": [TEXT, None, "Good film."]})
    looks = Category("looks", EXAMPLES, threshold=1e-6)
    scored = thinstack.score_frame(frame, model=model, about=looks)
    assert scored["looks_mentions"].tolist() == [2, 0, 1]
    mean = np.mean([aspect.polarity for aspect in model(TEXT).about(looks)])
    assert scored["looks_polarity"][0] == pytest.approx(mean)
    assert pd.isna(scored["looks_polarity"][1])
    with pytest.raises(InputError, match="the column 'looks_polarity'"):
        thinstack.score_frame(frame, model=model, about=["looks", looks])


def test_what_is_no_category_is_refused(model):
    for name, examples in (("price", []), ("price", "cheap"), ("price", None), ("price", ["?"])):
        with pytest.raises(InputError, match=r"category 'price': .*such as Category\("):
            Category(name, examples)
    for name, examples in (("", ["cheap"]), (3, ["cheap"])):
        with pytest.raises(InputError, match="expected a name with a letter"):
            Category(name, examples)
    for threshold in (0, 1, "high", None):
        with pytest.raises(InputError, match="threshold between 0 and 1"):
            Category("price", ["cheap"], threshold)
    price = Category("price", ["cheap"])
    sentiment = thinstack.load(threads=1)
    frame = pd.DataFrame({"text": ["Cheap."]})
    for ask in (
        lambda: sentiment("Cheap.").about(price),
        lambda: thinstack.score_frame(frame, model=sentiment, about=[price]),
    ):
        with pytest.raises(InputError, match=r'gives no vectors: .*load\("vectors"\)'):
            ask()
    lost = pickle.loads(pickle.dumps(model("Good film.")))
    with pytest.raises(InputError, match="has no predictor"):
        lost.about(price)
