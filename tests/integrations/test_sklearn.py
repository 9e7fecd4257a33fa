"""`thinstack.sklearn.SentimentFeatures` and `TextVectors` where scikit-learn has its
transformers."""

import pickle

import numpy as np
import pytest
from vector_models import write_vector_bundle

import thinstack
from thinstack.errors import InputError

base = pytest.importorskip("sklearn.base")
from sklearn.utils import estimator_checks  # noqa: E402

from thinstack.sklearn import SentimentFeatures, TextVectors  # noqa: E402

TEXTS = ["It is good. An awful film", "good", "very awful", "film"]
CHECKS = """
check_estimator_cloneable check_estimator_repr
check_get_params_invariance check_mixin_order check_no_attributes_set_in_init
check_parameters_default_constructible check_set_params check_valid_tag_types
"""
NAMES = ["negative", "neutral", "positive", "polarity"]


@pytest.fixture(scope="module")
def model(scale_folder):
    return thinstack.load(scale_folder)


@pytest.mark.parametrize("check", CHECKS.split())
@pytest.mark.parametrize("kind", [SentimentFeatures, TextVectors])
def test_the_checks_of_scikit_learn_that_need_no_numbers(check, kind):
    getattr(estimator_checks, check)(kind.__name__, kind())


def test_features_are_probabilities_and_polarity(model):
    features = SentimentFeatures(model).fit_transform(TEXTS)
    assert (features.shape, features.dtype) == ((4, 4), np.float64)
    for row, text in zip(features, TEXTS, strict=True):
        scores = model(text).scores
        assert row[:3].tolist() == list(scores.values())
        assert row[3] == pytest.approx(scores["positive"] - scores["negative"], abs=1e-12)
    assert SentimentFeatures(model).get_feature_names_out().tolist() == NAMES


def test_classes_that_are_no_scale_have_no_polarity(last_word):
    made = SentimentFeatures(last_word.path)
    assert made.transform(TEXTS).shape == (4, 3)
    assert made.get_feature_names_out().tolist() == ["bad", "so-so", "good"]


def test_a_named_model_is_loaded_once_and_again_where_it_is_another(scale_folder, last_word):
    made = SentimentFeatures(scale_folder)
    assert base.clone(made).get_params() == {"model": scale_folder}
    first = made._predictor()
    assert made.fit(TEXTS)._predictor() is first
    assert made.set_params(model=last_word.path).transform(TEXTS).shape == (4, 3)


def test_copies_and_pickles(model, scale_folder):
    made = SentimentFeatures(model)
    assert base.clone(made).model is model
    for one in (made, SentimentFeatures(scale_folder).fit(TEXTS)):
        again = pickle.loads(pickle.dumps(one))
        assert np.array_equal(again.transform(TEXTS), made.transform(TEXTS))


def test_what_holds_one_column_of_texts(model):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    made = SentimentFeatures(model)
    wanted = made.transform(TEXTS)
    frame, table = pandas.DataFrame({"a": TEXTS}), pyarrow.table({"a": TEXTS})
    arrays = [np.array(TEXTS), np.array(TEXTS, object), np.array(TEXTS, object)[:, None]]
    frames = [frame, frame["a"], table, table["a"], polars.DataFrame(frame), polars.Series(TEXTS)]
    for found in (tuple(TEXTS), iter(TEXTS), *arrays, *frames):
        assert np.array_equal(made.transform(found), wanted)
    for missing in (None, float("nan"), pandas.NA, "", " \t"):
        features = made.transform(["good", missing])
        assert np.array_equal(features[0], wanted[1])
        assert np.isnan(features[1]).all()
    assert made.transform([]).shape == (0, 4)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("good", "'good'"),
        (3, "found 3"),
        ({"text": TEXTS}, "dict"),
        (["good", 3], "text 1: .*found 3"),
        (["good", b"bad"], "text 1: .*b'bad'"),
        (np.array([TEXTS, TEXTS], object).T, "found 2 columns"),
    ],
)
def test_what_is_no_column_of_texts(model, found, said):
    with pytest.raises(InputError, match=said):
        SentimentFeatures(model).transform(found)


def test_frames_out_keep_their_index(model):
    pandas = pytest.importorskip("pandas")
    made = SentimentFeatures(model).set_output(transform="pandas")
    found = made.transform(pandas.DataFrame({"a": TEXTS}, index=[3, 3, 1, 0]))
    assert (list(found), list(found.index)) == (NAMES, [3, 3, 1, 0])
    frame = pandas.DataFrame({"text": TEXTS, "stars": [3, 5, 1, 3]})
    with pytest.raises(InputError, match=r"2 columns \(text, stars\)"):
        made.transform(frame)


@pytest.mark.parametrize("sign", [False, True])
def test_vectors_are_rows_of_encode(vector_folder, sign):
    model = thinstack.load(vector_folder)
    transformer = TextVectors(model, sign=sign)
    rows = transformer.fit_transform(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, model.encode(TEXTS, sign=sign))
    names = ["vector0", "vector1", "vector2", "vector3", *["sign"] * sign]
    assert transformer.get_feature_names_out().tolist() == names
    gaps = transformer.transform(["good", None, " ", "film"])
    assert np.isnan(gaps).all(axis=1).tolist() == [False, True, True, False]
    assert transformer.transform([]).shape == (0, 4 + sign)
    for one in (transformer, TextVectors(vector_folder, sign=sign).fit(TEXTS)):
        for copy in (base.clone(one), pickle.loads(pickle.dumps(one))):
            np.testing.assert_array_equal(copy.transform(TEXTS), rows)


def test_models_that_do_not_give_what_is_asked(model, tmp_path):
    alone = write_vector_bundle(tmp_path / "alone", labels=()).path
    with pytest.raises(InputError, match=r'TextVectors: .*load\("vectors"\)'):
        TextVectors(model).transform(TEXTS)
    with pytest.raises(InputError, match="TextVectors: sign=True needs polarity"):
        TextVectors(alone, sign=True).transform(TEXTS)
    with pytest.raises(InputError, match=r'SentimentFeatures: .*load\("sentiment"\)'):
        SentimentFeatures(alone).transform(TEXTS)
    with pytest.raises(InputError, match="text 1: expected a text, found 3"):
        TextVectors(alone).transform(["good", 3])
