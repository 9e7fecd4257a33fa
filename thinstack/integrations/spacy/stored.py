"""Storage of the results of `tree_sentiment`, `tree_aspects` and `tree_vectors` on a spaCy Doc: a
`Result` for each component, by name, with positions in characters of the Doc.

`Doc.to_bytes`, DocBin (`store_user_data=True`) and worker processes serialize it as a
`PlainResult`. A deserialized Doc gets its `Result` back on first access. Files of Docs are
untrusted, so data that no component can have stored raises DataError.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, get_args

import numpy as np
import srsly  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pydantic import Field
from spacy.tokens import Doc

from thinstack.core.config import Strict
from thinstack.core.transitions import validate
from thinstack.errors import DataError, ThinstackError, UnknownNameError
from thinstack.integrations.spacy.splitter import tokens_at
from thinstack.runtime.mentions import patterns_of
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored, Spans
from thinstack.runtime.views import View

DocAggregation = Literal["tree", "words", "sentences"]
"""How to read a Doc of several sentences: as one tree, or as a mean of sentences, which are
weighted by their words or equally."""

Kind = Literal["tree_sentiment", "tree_aspects", "tree_vectors"]
"""Kinds of components. The default name of a component is its kind."""

NO_TREE: Final[NDArray[np.int8]] = np.zeros(0, np.int8)
"""Placeholder transitions of a tree over sentences, which is not stored."""

# Named like an attribute of a Doc, so that spaCy drops it in `Span.as_doc`.
_KEY = ("._.", "tree_sentiment_by_name", None, None)


@dataclass(frozen=True, slots=True)
class Stored:
    """The results of one component for a Doc: its result, its aggregation of sentences, and the
    digest of its `model`. `about`: the terms requested of a `tree_aspects`, or None for those that
    its model finds."""

    result: Result
    aggregation: DocAggregation = "words"
    kind: Kind = "tree_sentiment"
    about: Sequence[str] | None = None
    model: str = ""

    def part(self, sentences: tuple[Prediction, ...]) -> Result:
        """Return the result of some of its sentences, or of a phrase of one."""
        whole = self.result
        if len(sentences) == len(whole.sentences) > 1:
            return whole
        first, last = sentences[0], sentences[-1]
        text = whole.text[first.start : last.start + len(last.text)]
        joint = alike(sentences) if self.aggregation == "sentences" else None
        return Result(text, sentences, whole.view, joint=joint)


def alike(sentences: Sequence[Prediction]) -> Scored | None:
    """Return the unweighted mean of sentences; None for fewer than two."""
    if len(sentences) < 2:
        return None
    rows = [sentence.node_scores[-1:] for sentence in sentences]
    means = np.average(rows, axis=0, weights=[sentence.weight for sentence in sentences])
    return Scored(NO_TREE, means.astype(np.float32))


def store(doc: Doc, stored: Stored | None, name: str) -> None:
    """Store the results of the component `name` on a Doc, replacing its earlier ones; None removes
    these. The results of other components are not read."""
    before = doc.user_data.get(_KEY)  # type: ignore[call-overload]
    others = before.items() if isinstance(before, dict) else ()
    # A new dict each time, because a copy of the Doc may share the current one.
    by_name = {key: value for key, value in others if key != name}
    doc.user_data[_KEY] = by_name | ({} if stored is None else {name: stored})  # type: ignore[index]


def stored_of(doc: Doc, name: str | None = None, *kinds: Kind) -> Stored | None:
    """Return the results of the component `name` on a Doc; None if no component has stored any.

    Without a name, returns those of the first of these `kinds` with results under the default name,
    otherwise the last stored. By default, `kinds` are all, in the order of `Kind`. Raises
    UnknownNameError if only other components than `name` have results, and DataError for data that
    no component can have stored.
    """
    by_name = _read(doc)
    if name is not None:
        if by_name and name not in by_name:
            raise UnknownNameError("component with results on this Doc", name, by_name)
        return by_name.get(name)
    for kind in kinds or get_args(Kind):
        alike = {key: value for key, value in by_name.items() if value.kind == kind}
        if alike:
            return alike.get(kind, [*alike.values()][-1])
    return None


def _read(doc: Doc) -> dict[str, Stored]:
    """Return the results on a Doc by name, in the order in which they were stored. Deserialized
    data is validated once."""
    by_name = doc.user_data.get(_KEY, {})  # type: ignore[call-overload]
    if not isinstance(by_name, dict):
        raise _not_results(f"found {by_name!r:.80}")
    if not all(isinstance(value, Stored) for value in by_name.values()):
        by_name = {name: _checked(value, doc.text) for name, value in by_name.items()}
        doc.user_data[_KEY] = by_name  # type: ignore[index]
    return by_name


def _not_results(problem: object) -> DataError:
    return DataError(f"this Doc has no valid results: {problem}; run tree_sentiment on its text")


Names = tuple[Annotated[str, Field(min_length=1)], ...]
Array = Any
"""An array, or nested lists of its numbers, as in JSON."""


class PlainSentence(Strict, extra="ignore"):
    """A serialized sentence with words: `words`, `transitions` and the following fields are those
    of `Prediction`, and `scores` are its `node_scores`. `characters` (L, 2): the characters of the
    Doc of each word, which are those of whole tokens at the time."""

    words: Annotated[Names, Field(min_length=1)]
    characters: Array
    transitions: Array
    scores: Array
    weight: Annotated[float, Field(ge=1e-9)]
    parts: Spans
    terms: Array
    vectors: Array = None

    def read(self, view: View, text: str) -> Prediction:
        """Return the sentence of a Doc with this text. Raises ValueError and others if invalid."""
        characters = np.asarray(self.characters, "<i4").reshape(len(self.words), 2).astype(np.int64)
        fine = (characters[:, 0] < characters[:, 1]).all() and (np.diff(characters.T) >= 0).all()
        start, end = characters[0, 0].item(), characters[-1, 1].item()
        if not (fine and start >= 0 and end <= len(text)):
            raise ValueError(f"expected the characters of each word in order, up to {len(text)}")
        transitions: NDArray[np.int8] = np.asarray(self.transitions, np.int8).reshape(-1)
        if transitions.size:
            validate(transitions, words=len(self.words))
        scores = _scores(self.scores, len(view.labels), 1, transitions.size)
        edges = [0, *(edge for part in self.parts for edge in part), len(self.words)]
        if edges[::2] != edges[1::2] or any(end <= start for start, end in self.parts):
            raise ValueError(f"expected parts that cover {len(self.words)} words")
        terms = None if self.terms is None else _scores(self.terms, 1, len(scores))[:, 0]
        vectors = None if self.vectors is None else _vectors(self.vectors, len(scores))
        read = text[start:end], self.words, characters - start
        weight, parts = self.weight, self.parts
        return Prediction(*read, transitions, scores, view, weight, parts, start, terms, vectors)


class PlainResult(Strict, extra="ignore"):
    """The serialized results of one component on a Doc. `labels`, `abstain` and `polarity` are
    those of `View`, the others those of `Stored`. `root` (C,) and `root_vector` (D,): the
    probabilities and the vector of a Doc that is not the mean of its words. Sentences without words
    are left out."""

    kind: Kind
    labels: Names
    abstain: Annotated[float, Field(ge=0)]
    polarity: tuple[Annotated[float, Field(ge=-1)], ...] | None
    aggregation: DocAggregation
    about: list[str] | None
    root: Array
    root_vector: Array = None
    model: str = ""
    sentences: tuple[PlainSentence, ...]

    def read(self, text: str) -> Stored:
        """Return the results for a Doc with this text. Raises ValueError and others if invalid."""
        count = len(self.labels)
        if len({*self.labels}) < count or len(self.polarity or self.labels) != count:
            raise ValueError("expected unique class names, and a polarity for each")
        view = View(self.labels, self.abstain, polarity=self.polarity)
        sentences = tuple(sentence.read(view, text) for sentence in self.sentences)
        if any(one.start + len(one.text) > two.start for one, two in pairwise(sentences)):
            raise ValueError("expected sentences in order, without overlap")
        patterns_of(self.about or ())
        joint = None
        if self.root is not None:
            vectors = None if self.root_vector is None else _vectors([self.root_vector], 1)
            joint = Scored(NO_TREE, _scores([self.root], count, 1), vectors=vectors)
        columns = {None if one.vectors is None else one.vectors.shape[1] for one in sentences}
        if joint is not None and joint.vectors is not None:
            columns.add(joint.vectors.shape[1])
        if len(columns) > 1:
            raise ValueError("expected vectors of one size, or none")
        result = Result(text, sentences, view, joint=joint)
        return Stored(result, self.aggregation, self.kind, self.about, self.model)


def _plain(stored: Stored) -> dict[str, Any]:
    """Convert results to the fields of a `PlainResult`, with arrays."""
    view, joint = stored.result.view, stored.result.joint
    plain = {name: getattr(stored, name) for name in ("kind", "aggregation", "about", "model")}
    plain |= {name: getattr(view, name) for name in ("labels", "abstain", "polarity")}
    plain["root"] = None if joint is None else joint.scores[-1]
    plain["root_vector"] = None if joint is None or joint.vectors is None else joint.vectors[-1]
    same = ("words", "transitions", "weight", "parts", "terms", "vectors")
    plain["sentences"] = [
        {
            **{name: getattr(sentence, name) for name in same},
            "characters": (sentence.offsets + sentence.start).astype("<i4"),
            "scores": sentence.node_scores,
        }
        for sentence in stored.result.sentences
    ]
    return plain


def _scores(values: Array, columns: int, *rows: int) -> NDArray[np.float32]:
    scores = np.asarray(values, "<f4")
    scores = scores.reshape(-1 if columns else len(scores), columns)
    if len(scores) not in rows or not np.isfinite(scores).all():
        raise ValueError(f"expected finite scores for each phrase, found {len(scores)} rows")
    return scores


def _vectors(values: Array, rows: int) -> NDArray[np.float16]:
    vectors = np.asarray(values, "<f4")
    if vectors.ndim != 2 or len(vectors) != rows or not (np.abs(vectors) < 1 + _ROUNDING).all():
        raise ValueError(f"expected one vector for each phrase, found the shape {vectors.shape}")
    return vectors.astype("<f2")


_ROUNDING: Final = 1e-2  # for unit vectors in half precision, with a margin

_UNUSABLE: Final = (
    *(ThinstackError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
)
"""Errors that reading invalid results may raise."""


def _checked(value: Any, text: str) -> Stored:
    """Validate results or plain data. Raises DataError if no component can have stored them."""
    if isinstance(value, Stored):
        return value
    try:
        return PlainResult.model_validate(value).read(text)
    except _UNUSABLE as error:
        raise _not_results(repr(error)[:300]) from None


def _packed(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """Encode results for msgpack, which spaCy uses to serialize Docs."""
    if isinstance(value, Stored):
        if value.kind == "tree_vectors":
            warnings.warn(
                "tree_vectors: a loaded Doc has its vectors but not spaCy's hooks: "
                "call nlp.get_pipe('tree_vectors').attach(doc) on it",
                stacklevel=2,
            )
        return _plain(value)
    return value if chain is None else chain(value)


srsly.msgpack_encoders.register("thinstack", func=_packed)


def as_plain(doc: Doc) -> dict[str, Any] | None:
    """Return the value of `Doc._.tree_sentiment`: a `PlainResult` with lists instead of arrays,
    ready for JSON, and without vectors. Its sentences also have `start_char` and `end_char`, and
    `start`, `end` and `tokens`, the current tokens of these characters and of the words."""
    stored = stored_of(doc)
    if stored is None:
        return None
    arrays = _plain(stored)
    for record in (arrays, *arrays["sentences"]):
        record.pop("root_vector", None)
        record.pop("vectors", None)
    plain: dict[str, Any] = json.loads(json.dumps(arrays, default=np.ndarray.tolist))
    for record in plain["sentences"]:
        characters, tokens = record["characters"], tokens_at(doc, record["characters"]).tolist()
        record |= {"start_char": characters[0][0], "end_char": characters[-1][1]}
        record |= {"start": tokens[0][0], "end": tokens[-1][1], "tokens": tokens}
    return plain


def put_plain(doc: Doc, value: dict[str, Any] | None) -> None:
    """Set `Doc._.tree_sentiment` to the output of `as_plain`, optionally with arrays. None removes
    the results of the component with that name."""
    store(doc, None if value is None else _checked(value, doc.text), "tree_sentiment")
