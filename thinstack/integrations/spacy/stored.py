"""What `tree_sentiment`, `tree_aspects` and `tree_vectors` leave on a spaCy Doc: a `Result` of each
component, by its name, whose places are characters of the Doc.

`Doc.to_bytes`, DocBin (`store_user_data=True`) and worker processes pass it on as `PlainResult`
describes it. A Doc that was read has its `Result` again once it is asked. A file of Docs may come
from anybody, so what no component can have left is a DataError.
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
from thinstack.integrations.spacy.places import tokens_at
from thinstack.runtime.mentions import Terms
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored, Spans
from thinstack.runtime.views import View

DocAggregation = Literal["tree", "words", "sentences"]
"""How a Doc of several sentences is read: as one tree, or as a mean of sentences, which weighs them
by their words or all alike."""

Kind = Literal["tree_sentiment", "tree_aspects", "tree_vectors"]
"""Of components. If no name is asked for, that of its kind is."""

NO_TREE: Final[NDArray[np.int8]] = np.zeros(0, np.int8)
"""The transitions of a tree over sentences that is not kept."""

# As spaCy names attributes of a Doc: it drops them where it takes a Doc apart (`Span.as_doc`).
_KEY = ("._.", "tree_sentiment_by_name", None, None)


@dataclass(frozen=True, slots=True)
class Stored:
    """What one component says of a Doc: its result, how it reads several sentences, and the digest
    of its `model`. `about` are the terms that a `tree_aspects` was asked for; None stands for those
    that its model finds."""

    result: Result
    aggregation: DocAggregation = "words"
    kind: Kind = "tree_sentiment"
    about: Sequence[str] | None = None
    model: str = ""

    def part(self, sentences: tuple[Prediction, ...]) -> Result:
        """The result of some of its sentences, or of a phrase of one."""
        whole = self.result
        if len(sentences) == len(whole.sentences) > 1:
            return whole
        first, last = sentences[0], sentences[-1]
        text = whole.text[first.start : last.start + len(last.text)]
        joint = alike(sentences) if self.aggregation == "sentences" else None
        return Result(text, sentences, whole.view, joint=joint)


def alike(sentences: Sequence[Prediction]) -> Scored | None:
    """The mean of sentences that weigh alike; None for fewer than two."""
    if len(sentences) < 2:
        return None
    rows = [sentence.node_scores[-1:] for sentence in sentences]
    means = np.average(rows, axis=0, weights=[sentence.weight for sentence in sentences])
    return Scored(NO_TREE, means.astype(np.float32))


def store(doc: Doc, stored: Stored | None, name: str) -> None:
    """Leave on a Doc what the component `name` says, in place of what it left before; None removes
    that. What other components left is not read."""
    before = doc.user_data.get(_KEY)  # type: ignore[call-overload]
    others = before.items() if isinstance(before, dict) else ()
    # Another dict each time: a copy of the Doc may share the one that it has.
    by_name = {key: value for key, value in others if key != name}
    doc.user_data[_KEY] = by_name | ({} if stored is None else {name: stored})  # type: ignore[index]


def stored_of(doc: Doc, name: str | None = None, *kinds: Kind) -> Stored | None:
    """What the component `name` left on a Doc. None if no component has left anything.

    Without a name, it is that of the first of these `kinds` that left something, under its usual
    name, or else the last one. By default these are all, in the order of `Kind`. Raises
    UnknownNameError if `name` has no results and other components have, and DataError for what no
    component can have left.
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
    """What is on a Doc, by name, in the order in which components left it. What was passed on as
    plain data is read and checked once."""
    by_name = doc.user_data.get(_KEY, {})  # type: ignore[call-overload]
    if not isinstance(by_name, dict):
        raise _not_results(f"found {by_name!r:.80}")
    if not all(isinstance(value, Stored) for value in by_name.values()):
        by_name = {name: _checked(value, doc.text) for name, value in by_name.items()}
        doc.user_data[_KEY] = by_name  # type: ignore[index]
    return by_name


def _not_results(problem: object) -> DataError:
    return DataError(f"this Doc has no results of tree_sentiment: {problem}; run it on the text")


Names = tuple[Annotated[str, Field(min_length=1)], ...]
Array = Any
"""An array, or nested lists of its numbers, as in JSON."""


class PlainSentence(Strict, extra="ignore"):
    """A sentence with words, as it is passed on: `words`, `transitions` and those behind them are
    as `Prediction` has them, and `scores` are its `node_scores`. `characters` (L, 2) are those of
    the Doc that a word was made from, whole tokens as they then were."""

    words: Annotated[Names, Field(min_length=1)]
    characters: Array
    transitions: Array
    scores: Array
    weight: Annotated[float, Field(ge=1e-9)]
    parts: Spans
    terms: Array
    vectors: Array = None

    def read(self, view: View, text: str) -> Prediction:
        """The sentence of a Doc with this text. Raises ValueError and others if it is none."""
        characters = np.asarray(self.characters, "<i4").reshape(len(self.words), 2).astype(np.int64)
        fine = (characters[:, 0] < characters[:, 1]).all() and (np.diff(characters.T) >= 0).all()
        start, end = characters[0, 0].item(), characters[-1, 1].item()
        if not (fine and start >= 0 and end <= len(text)):
            raise ValueError(f"expected characters of each word, in order, of {len(text)}")
        transitions: NDArray[np.int8] = np.asarray(self.transitions, np.int8).reshape(-1)
        if transitions.size:
            validate(transitions, words=len(self.words))
        scores = _scores(self.scores, len(view.labels), 1, transitions.size)
        edges = [0, *(edge for part in self.parts for edge in part), len(self.words)]
        if edges[::2] != edges[1::2] or any(end <= start for start, end in self.parts):
            raise ValueError(f"expected parts of {len(self.words)} words")
        terms = None if self.terms is None else _scores(self.terms, 1, len(scores))[:, 0]
        vectors = None if self.vectors is None else _vectors(self.vectors, len(scores))
        read = text[start:end], self.words, characters - start
        weight, parts = self.weight, self.parts
        return Prediction(*read, transitions, scores, view, weight, parts, start, terms, vectors)


class PlainResult(Strict, extra="ignore"):
    """What one component left on a Doc, as it is passed on. `labels`, `abstain` and `polarity` are
    as `View` has them, and the others as `Stored`. `root` (C,) are the probabilities, and
    `root_vector` (D,) the vector, of a Doc that is not the mean of its words. Sentences without
    words are left out."""

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
        """The results on a Doc with this text. Raises ValueError and others if they are none."""
        count = len(self.labels)
        if len({*self.labels}) < count or len(self.polarity or self.labels) != count:
            raise ValueError("expected different names of classes, and a polarity of each")
        view = View(self.labels, self.abstain, polarity=self.polarity)
        sentences = tuple(sentence.read(view, text) for sentence in self.sentences)
        if any(one.start + len(one.text) > two.start for one, two in pairwise(sentences)):
            raise ValueError("expected sentences one after the other")
        Terms(self.about or ())
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
    """Results as a `PlainResult` has them, with arrays."""
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
        raise ValueError(f"expected scores of each phrase, found those of {len(scores)}")
    return scores


def _vectors(values: Array, rows: int) -> NDArray[np.float16]:
    vectors = np.asarray(values, "<f4")
    if vectors.ndim != 2 or len(vectors) != rows or not (np.abs(vectors) < 1 + _ROUNDING).all():
        raise ValueError(f"expected the vector of each phrase, found the shape {vectors.shape}")
    return vectors.astype("<f2")


_ROUNDING: Final = 1e-2  # of vectors of length 1 in half precision, and more than that

_UNUSABLE: Final = (
    *(ThinstackError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
)
"""What reading results that are none may raise."""


def _checked(value: Any, text: str) -> Stored:
    """The results, which may be plain data. Raises DataError if no component can have left them."""
    if isinstance(value, Stored):
        return value
    try:
        return PlainResult.model_validate(value).read(text)
    except _UNUSABLE as error:
        raise _not_results(repr(error)[:300]) from None


def _packed(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """For msgpack, by which spaCy passes Docs on."""
    if isinstance(value, Stored):
        if value.kind == "tree_vectors":
            warnings.warn(
                "tree_vectors: a Doc that was loaded has its vectors but not spaCy's hooks: "
                "call nlp.get_pipe('tree_vectors').attach(doc) on it",
                stacklevel=2,
            )
        return _plain(value)
    return value if chain is None else chain(value)


srsly.msgpack_encoders.register("thinstack", func=_packed)


def as_plain(doc: Doc) -> dict[str, Any] | None:
    """The value of `Doc._.tree_sentiment`: a `PlainResult` with lists in place of arrays, ready for
    JSON, and without vectors. Its sentences also have `start_char` and `end_char`, and `start`,
    `end` and `tokens`, the tokens in which these characters and those of the words now stand."""
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
    """Set `Doc._.tree_sentiment` to what `as_plain` gives, or to the same with arrays. None removes
    the results of the component of that name."""
    store(doc, None if value is None else _checked(value, doc.text), "tree_sentiment")
