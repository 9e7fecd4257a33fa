"""Vectors of phrases, sentences and texts, and their similarity."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, ThinstackError, shown

if TYPE_CHECKING:
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result
    from thinstack.runtime.scored import Scored
    from thinstack.runtime.stream import OnError

SIGN_WEIGHT: Final = 0.3
"""The weight of the product of two signs relative to a cosine."""

LOAD: Final = 'thinstack.load("vectors") (pip install ./models/thinstack-vectors in a clone)'
"""How to get a model with vectors."""

_LEAST: Final = 1e-12


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Normalize rows (..., D) to unit norm, as float32."""
    exact: NDArray[np.float32] = rows.astype(np.float32)
    lengths = np.sqrt((exact * exact).sum(axis=-1, keepdims=True))
    exact /= np.maximum(lengths, _LEAST)
    return exact


def stored(vectors: NDArray[np.float16] | None) -> NDArray[np.float16]:
    """Return the vectors (N, D) of a prediction. Raises InputError for a model without vectors."""
    if vectors is None:
        raise InputError(f"this model gives no vectors: use {LOAD}")
    return vectors


def need_vectors(predictor: "Predictor", purpose: str, *, sign: bool = False) -> None:
    """Raise InputError, which names the `purpose`, for a model without vectors or, if `sign`,
    without polarity."""
    predictor.check_reads_texts()
    if not predictor.width:
        raise InputError(f"{purpose}: this model gives no vectors: use {LOAD}")
    if sign and predictor.view.polarity is None:
        raise InputError(
            f"{purpose}: sign=True needs polarity, which this model does not give: use "
            f"{LOAD}, or omit sign"
        )


def text_vector(
    roots: Sequence[NDArray[np.float16]], words: Sequence[int], joint: "Scored | None"
) -> NDArray[np.float32]:
    """Return the vector (D,) of a text, from the vectors `roots` and word counts `words` of its
    sentences, and the tree over them."""
    if joint is not None:
        return unit(stored(joint.vectors)[-1])
    if len(roots) == 1:
        return unit(roots[0])
    return unit(np.array(words) @ unit(np.stack(roots)))


def encoded_rows(
    predictor: "Predictor", texts: Iterable[str], on_error: "OnError | None", *, sign: bool
) -> Iterator[NDArray[np.float32]]:
    """Iterate over the rows of `Predictor.encode`. With `on_error`, the row of a text that cannot
    be encoded is NaN."""
    failed = set[int]()

    def fail(place: int, error: ThinstackError) -> None:
        if on_error is None:
            raise error
        failed.add(place)
        on_error(place, error)

    for place, result in enumerate(predictor.stream(texts, on_error=on_error and fail)):
        row = row_of(result, sign=sign)
        if row is None:
            if place not in failed:
                problem = f"text {place}: expected words, found {shown(result.text, 60)}"
                fail(place, InputError(f"{problem}: leave it out, or pass on_error to encode"))
            row = np.full(predictor.width + sign, np.nan, np.float32)
        yield row


def row_of(result: "Result", *, sign: bool) -> NDArray[np.float32] | None:
    """Return the row of `encode` for a text; None without words. Its `sign` is sqrt(0.3) * sign(p)
    * sqrt(|p|) for the polarity p, so that the product of two signs is added to the cosine."""
    vector, polarity = result.vector, result.polarity
    if vector is None or not sign or polarity is None:
        return vector
    column = np.sign(polarity) * np.sqrt(SIGN_WEIGHT * abs(polarity))
    return np.append(vector, np.float32(column))


def vectors_of(predictor: "Predictor", value: Any) -> NDArray[np.float32]:
    """Return the vector (D,) of a text or of a value with one, or the vectors (n, D) of several."""
    if isinstance(value, str):
        return predictor.encode(value)
    vector = getattr(value, "vector", value)
    if vector is None:
        raise InputError("similarity: expected texts with words, found one without: leave it out")
    check_model(predictor, value, "similarity")
    if isinstance(vector, np.ndarray) and vector.dtype.kind == "f":
        if vector.ndim not in (1, 2) or vector.shape[-1] != predictor.width:
            expected = f"vectors with {predictor.width} columns, as encode returns without sign"
            raise InputError(f"similarity: expected {expected}, found shape {vector.shape}")
        return unit(vector)
    check_container(value, "several texts")
    texts = list(value)
    if any(hasattr(text, "vector") or isinstance(text, np.ndarray) for text in texts):
        return np.stack([vectors_of(predictor, text) for text in texts])
    return predictor.encode(texts)


def check_model(predictor: "Predictor", value: Any, call: str) -> None:
    """Raise InputError, naming the `call`, for a phrase, sentence or result of another model."""
    sentence = next(iter(getattr(value, "sentences", ())), getattr(value, "sentence", value))
    other: Predictor | None = getattr(sentence, "predictor", None)
    if other is not None and other.bundle.manifest.digest != predictor.bundle.manifest.digest:
        raise InputError(
            f"{call}: expected a result of this model, {predictor.bundle.path}, found one of "
            f"{other.bundle.path}: score the text with this model"
        )
