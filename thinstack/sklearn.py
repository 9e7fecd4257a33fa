"""Sentiment and vectors of texts as features of scikit-learn."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.data.tables.containers import instead_of
from thinstack.errors import InputError, needs_extra, shown
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.vectors import need_vectors, row_of

with needs_extra("sklearn", "sklearn"):
    from sklearn.base import BaseEstimator, TransformerMixin

__all__ = ["SentimentFeatures", "TextVectors"]

_EXPECTED: Final = "expected texts or one column of texts"
_MISSING: Final = {"NAType", "NaTType"}


class _OfTexts(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of texts that learns nothing: `fit` only loads the model."""

    model: Predictor | str | Path

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - the name in scikit-learn
        """Load the model. The texts are not read. Raises what `thinstack.load` raises."""
        self._predictor()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit, tags.no_validation = False, True
        tags.input_tags.string, tags.input_tags.one_d_array = True, True
        tags.input_tags.two_d_array, tags.input_tags.allow_nan = False, True
        return tags

    def _predictor(self) -> Predictor:
        if isinstance(self.model, Predictor):
            return self.model
        loaded: tuple[object, Predictor] | None = self.__dict__.get("_loaded")
        if loaded is None or loaded[0] != self.model:
            loaded = self._loaded = self.model, Predictor(open_bundle(self.model))
        return loaded[1]


class SentimentFeatures(_OfTexts):
    """A transformer of texts to the probabilities of the classes and the polarity.

    It does not need to be trained, so `fit` only loads the model, and you can call `transform`
    without it. The features are (n, C + 1) float64: the probability of each of the C classes, then
    the polarity, which is from -1 to 1. If the classes are not a sentiment scale, they are (n, C),
    without polarity. For missing texts (None, NaN) and texts without words, they are NaN, which
    `sklearn.impute.SimpleImputer` can fill.

    `model`: a loaded model, or what `thinstack.load` takes. Clones share a loaded model; otherwise,
    each clone loads its own. A pickle contains the name or path of the model, not its weights.
    """

    def __init__(self, model: Predictor | str | Path = "sentiment"):
        self.model = model

    if TYPE_CHECKING:  # scikit-learn has no types

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:  # noqa: N803
            """As `transform`, after `fit`."""

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The features of texts: a list, a Series, an array, or a frame or an array of one column.

        Raises InputError for a value that is not text, with its index (from 0), for several
        columns, and for a model without labels.
        """
        predictor, texts = self._predictor(), _texts(X)
        predictor.view.need_labels("SentimentFeatures")
        places = predictor.view.polarity is not None
        features = np.full((len(texts), len(predictor.labels) + places), np.nan)
        for row, result in enumerate(predictor.stream(texts)):
            if result.sentences:
                polarity = [result.polarity] if places else []
                features[row] = [*result.scores.values(), *polarity]
        return features

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features: those of the classes, and "polarity"."""
        view = self._predictor().view
        names = [*view.labels] if view.polarity is None else [*view.labels, "polarity"]
        return np.array(names, object)


class TextVectors(_OfTexts):
    """A transformer of texts to their vectors, as `Predictor.encode` makes them.

    It does not need to be trained, so `fit` only loads the model, and you can call `transform`
    without it. The features are (n, D) float32, of unit norm. For missing texts (None, NaN) and
    texts without words, they are NaN, which `sklearn.impute.SimpleImputer` can fill.

    `model` is as for `SentimentFeatures`. `sign`: whether to add the column of polarity, as
    `Predictor.encode` does, for (n, D + 1).
    """

    def __init__(self, model: Predictor | str | Path = "vectors", *, sign: bool = False):
        self.model, self.sign = model, sign

    if TYPE_CHECKING:

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]:  # noqa: N803
            """As `transform`, after `fit`."""

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """The vectors of texts. Accepts the same texts as `SentimentFeatures.transform`.

        Raises InputError for a value that is not text, with its index (from 0), for several
        columns, for a model without vectors, and for `sign` with a model without polarity.
        """
        predictor, texts = self._predictor(), _texts(X)
        need_vectors(predictor, "TextVectors", sign=self.sign)
        vectors = np.full((len(texts), predictor.width + self.sign), np.nan, np.float32)
        for row, result in enumerate(predictor.stream(texts)):
            if result.sentences:
                vectors[row] = row_of(result, sign=self.sign)
        return vectors

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features: "vector0", "vector1" and so on, then "sign" with `sign`."""
        names = [f"vector{column}" for column in range(self._predictor().width)]
        return np.array([*names, *["sign"] * self.sign], object)


def _texts(texts: Any) -> Sequence[str]:
    """The texts, "" in place of missing ones."""
    column = _one_column(texts)
    if not isinstance(column, Iterable) or (problem := instead_of(column)):
        problem = problem if isinstance(column, Iterable) else f"found {shown(texts, 60)}"
        raise InputError(f"{_EXPECTED}, {problem}")
    return ["" if _is_missing(text) else text for text in column]


def _one_column(texts: Any) -> Any:
    """The only column of what has columns; others as they are."""
    names = getattr(texts, "column_names", None) or getattr(texts, "columns", None)
    shape: tuple[int, ...] = getattr(texts, "shape", ())
    if names is None and len(shape) != 2:
        return texts.to_pylist() if hasattr(texts, "to_pylist") else texts
    several = len(names) if names is not None else shape[1]
    if several != 1:
        listed = f" ({', '.join(map(str, names)):.200})" if names is not None else ""
        raise InputError(
            f"{_EXPECTED}, found {several} columns{listed}: choose one, as in "
            "ColumnTransformer([('sentiment', SentimentFeatures(), 'text')])"
        )
    if names is None:
        return texts[:, 0]
    column = texts.iloc[:, 0] if hasattr(texts, "iloc") else texts[names[0]]
    return _one_column(column)


def _is_missing(value: object) -> bool:
    if isinstance(value, str):
        return False
    nan = isinstance(value, float) and value != value
    return value is None or nan or type(value).__name__ in _MISSING
