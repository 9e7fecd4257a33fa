"""Vectors of phrases, spans, sentences and texts, and their similarity. For a span that is not a
node of its tree, the model composes the nodes that cover it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import left, over
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, ThinstackError, shown
from thinstack.runtime.phrase import Nodes
from thinstack.runtime.scored import LOAD, Scored, stored, unit

if TYPE_CHECKING:
    from thinstack.runtime.prediction import Prediction
    from thinstack.runtime.predictor import Predictor
    from thinstack.runtime.result import Result
    from thinstack.runtime.stream import OnError

SIGN_WEIGHT: Final = 0.3
"""The weight of the product of two signs relative to a cosine."""

LOST: Final = (
    "this prediction has no predictor, because it comes from a Doc, a pickle or a copy: call "
    "predictor."
)
"""The problem with a prediction without a predictor, before the call to use."""

ALONE: Final = (
    "this model has vectors for whole sentences only, not for phrases: use a tree "
    "model, or Prediction.vector"
)
"""The problem with a model that has vectors for sentences only."""


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
    roots: Sequence[NDArray[np.float16]], words: Sequence[int], joint: Scored | None
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


def span_vectors(
    prediction: "Prediction", spans: Iterable[tuple[int, int]], predictor: "Predictor | None"
) -> NDArray[np.float32]:
    """Compute `Predictor.span_vectors`. Without a predictor, raises InputError for a span that is
    not a node."""
    vectors, nodes, words = stored(prediction.vectors), Nodes(prediction), len(prediction.words)
    covers = list[list[int]]()
    for span in spans:
        start, end = _whole(span)
        if not 0 <= start < end <= words:
            problem = f"expected a word span (start, end), found {shown(span)}"
            advice = f"pass 0 <= start < end <= {words}, the number of words"
            raise InputError(f"span_vectors: {problem}: {advice}")
        covers.append(_covering(nodes, start, end))
    rows = unit(vectors[[cover[-1] for cover in covers]])
    joined = [place for place, cover in enumerate(covers) if len(cover) > 1]
    if joined and predictor is None:
        raise InputError(f"{LOST}span_vectors(prediction, [(first word, last word + 1)])")
    if joined and predictor is not None:
        parts = [_words_and_trees(nodes, covers[place]) for place in joined]
        trees = [over(left(len(below)), below) for _, below in parts]
        scored = predictor.trees_and_scores([words for words, _ in parts], trees)
        rows[joined] = unit(np.stack([stored(sentence.vectors)[-1] for sentence in scored]))
    return rows


def vector_across(
    spans: Sequence[tuple["Prediction", tuple[int, int]]], predictor: Callable[[], "Predictor"]
) -> NDArray[np.float32]:
    """Return the vector (D,) of words [start, end) of adjacent sentences: the nodes that cover
    them, composed from left to right. `predictor` is called unless a single node covers them."""
    words, trees = list[str](), list[NDArray[np.int8]]()
    for prediction, span in spans:
        nodes = Nodes(prediction)
        cover = _covering(nodes, *span)
        if len(spans) == len(cover) == 1:
            return unit(stored(prediction.vectors)[cover[0]])
        inside, below = _words_and_trees(nodes, cover)
        words += inside
        trees += below
    (scored,) = predictor().trees_and_scores([words], [over(left(len(trees)), trees)])
    return unit(stored(scored.vectors)[-1])


def _covering(nodes: Nodes, start: int, end: int) -> list[int]:
    """Return the largest nodes inside the words [start, end), from left to right."""
    inside, todo = list[int](), [len(nodes.spans) - 1]
    while todo:
        node = todo.pop()
        first, behind = nodes.spans[node]
        if start <= first and behind <= end:
            inside.append(node)
        elif first < end and start < behind:
            if (parts := nodes.children(node)) is None:
                raise InputError(ALONE)
            todo += reversed(parts)
    return inside


def _words_and_trees(
    nodes: Nodes, cover: Sequence[int]
) -> tuple[list[str], list[NDArray[np.int8]]]:
    """Return the words of adjacent nodes, and the transitions of each node's tree."""
    steps, spans = nodes.sentence.transitions, [nodes.spans[node] for node in cover]
    if len(nodes.spans) != len(steps):
        raise InputError(ALONE)
    words = nodes.sentence.words[spans[0][0] : spans[-1][1]]
    sizes = [2 * (end - start) - 1 for start, end in spans]
    return [*words], [steps[i + 1 - size : i + 1] for i, size in zip(cover, sizes, strict=True)]


def _whole(span: Any) -> tuple[int, int]:
    """Return a span as two ints; (-1, -1), which is invalid, for anything else."""
    try:
        start, end = map(index, span)
    except (TypeError, ValueError):
        return -1, -1
    return start, end


def place_of(
    sentences: Sequence["Prediction"], text: str, start: int, end: int, shift: int = 0
) -> tuple["Prediction", tuple[int, int]]:
    """Return the sentence of the characters [start, end), and its words there. `text` begins at the
    character `shift`. Raises InputError unless they are whole words of one sentence."""
    asked = shown((start, end))
    start, end = _whole((start, end))
    if not shift <= start < end <= shift + len(text):
        raise InputError(
            f"vector_of: expected character offsets (start, end), found {asked}: "
            f"pass {shift} <= start < end <= {shift + len(text)}"
        )
    quoted = shown(text[start - shift : end - shift], 60)
    asked = f"vector_of: the characters {start} to {end}, {quoted},"
    pairs = [(sentence, sentence.offsets + sentence.start) for sentence in sentences]
    touched = [
        (sentence, offsets, words)
        for sentence, offsets in pairs
        if (words := np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))).size
    ]
    if not touched:
        raise InputError(f"{asked} contain no word: choose whole words")
    if len(touched) > 1:
        raise InputError(f"{asked} span {len(touched)} sentences: stay within one")
    sentence, offsets, words = touched[0]
    first, behind = int(offsets[words[0], 0]), int(offsets[words[-1], 1])
    if first < start or behind > end:
        raise InputError(f"{asked} split a word: use {min(first, start)} to {max(behind, end)}")
    return sentence, (int(words[0]), int(words[-1]) + 1)
