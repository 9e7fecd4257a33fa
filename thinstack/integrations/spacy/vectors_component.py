"""`tree_vectors`, a spaCy component: vectors of Docs, spans and tokens. It is a `tree_sentiment`
that sets other attributes: `vector`, `has_vector`, `vector_norm` and `similarity`.

These are spaCy's hooks, which it does not serialize with a Doc: `attach` sets them again. Without
the hooks or other vectors, spaCy reads the tensor of the Doc, which raises InputError.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import srsly  # type: ignore[import-untyped]
from numpy.typing import NDArray
from spacy.errors import Warnings
from spacy.tokens import Doc, Span, Token

from thinstack.bundle.opening import SEPARATE
from thinstack.core.config import Device
from thinstack.errors import InputError, shown
from thinstack.integrations.spacy.component import Source, TreeSentiment
from thinstack.integrations.spacy.doc_results import sentences_around, words_between
from thinstack.integrations.spacy.pipe import check_docs
from thinstack.integrations.spacy.stored import Stored, stored_of
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result
from thinstack.runtime.units import MAX_WORDS
from thinstack.runtime.vectors import vector_across

_MARK: Final = np.uint32(0x7FC07EE5)
"""The bits of the NaN in the tensor of a Doc whose vectors come only from hooks."""


@dataclass(frozen=True)
class DocVectors:
    """The vectors of Docs that the component `name` stored, as spaCy's hooks.

    The `component` runs its model for a span that is not a phrase. Without it, for example after
    unpickling, such a span raises InputError.
    """

    name: str
    component: "TreeVectors | None" = None

    def __reduce__(self) -> tuple[object, ...]:
        return DocVectors, (self.name,)

    def attach(self, doc: Doc) -> None:
        """Set the hooks of a Doc. Raises InputError if it has no vectors of the component."""
        self._stored(doc)
        names = ("vector", "has_vector", "similarity")
        hooks = {name: getattr(self, name) for name in names}
        for place in (doc.user_hooks, doc.user_span_hooks, doc.user_token_hooks):
            place.update(hooks)
        # Not of spans: if they have this hook, spaCy calls that of "vector" instead.
        doc.user_hooks["vector_norm"] = doc.user_token_hooks["vector_norm"] = self.vector_norm
        if not doc.tensor.size:
            doc.tensor = np.full((len(doc), 1), _MARK).view("<f4").view(_Detached)

    def vector(self, x: Doc | Span | Token) -> NDArray[np.float32]:
        """Return the vector (D,), of unit norm, of a Doc, span or token; zeros for one without
        words (see `has_vector`)."""
        stored = self._stored(x.doc)
        vector = stored.result.vector
        if not (places := self._places(x, stored)):
            width = self._predictor(stored).width if vector is None else len(vector)
            return np.zeros(width, np.float32)
        whole = [(0, len(sentence.words)) for sentence in stored.result.sentences]
        if vector is not None and [words for _, words in places] == whole:
            return vector
        return vector_across(places, lambda: self._predictor(stored))

    def has_vector(self, x: Doc | Span | Token) -> bool:
        """Whether a Doc, span or token contains words, and its Doc the vectors of the component."""
        stored = self._read(x.doc)
        return stored is not None and bool(self._places(x, stored))

    def vector_norm(self, x: Doc | Token) -> float:
        """Return the length of a vector; 0 without words."""
        return float(self.has_vector(x))

    def similarity(self, x: Doc | Span | Token, other: Any) -> float:
        """Return the cosine of two vectors; 0 without words, with spaCy's warning. Raises
        InputError for objects without results of `tree_vectors`, or with those of another model."""
        of = other.doc if isinstance(other, Doc | Span | Token) else None
        hook = None if of is None else of.user_hooks.get("vector")
        vectors = getattr(hook, "__self__", None)
        if of is None or not isinstance(vectors, DocVectors):
            raise InputError(
                f"{self.name}: expected a Doc, span or token with this component's "
                f"vectors, found {shown(other, 60)}: create it with nlp(text); or, if its Doc "
                f"was loaded, {_attach(self.name)}"
            )
        mine, others = self._stored(x.doc).model, vectors._stored(of).model
        if mine != others:
            raise InputError(
                f"{self.name}: vectors of the model {mine:.12} cannot be compared with those of "
                f"{others:.12}: process both texts with one model"
            )
        if not (self.has_vector(x) and vectors.has_vector(other)):
            warnings.warn(Warnings.W008.format(obj=type(x).__name__), stacklevel=2)
        return float(self.vector(x) @ vectors.vector(other))

    def _places(self, x: Doc | Span | Token, stored: Stored) -> list[Any]:
        """Return the sentences of a Doc, span or token, and its words [start, end) in each."""
        if isinstance(x, Doc):
            return [(sentence, (0, len(sentence.words))) for sentence in stored.result.sentences]
        span = x.doc[x.i : x.i + 1] if isinstance(x, Token) else x
        around, place = sentences_around(span, stored.result.sentences)
        pairs = [(sentence, words_between(sentence, *place)) for sentence in around]
        return [(sentence, (start, end)) for sentence, (start, end) in pairs if start < end]

    def _predictor(self, stored: Stored) -> Any:
        problem = f"{self.name}: this span is not a phrase, and its vector needs the model"
        if self.component is None:
            raise InputError(f"{problem}: {_attach(self.name)} first")
        predictor = self.component.predictor
        digest = predictor.bundle.manifest.digest
        if digest != stored.model:
            problem += f" {stored.model:.12} that read the Doc, found {digest:.12}"
            raise InputError(f"{problem}: run the pipeline on its text again")
        return predictor

    def _stored(self, doc: Doc) -> Stored:
        if (stored := self._read(doc)) is None:
            raise InputError(f"{self.name}: this Doc has no vectors: run the pipeline on its text")
        return stored

    def _read(self, doc: Doc) -> Stored | None:
        stored = stored_of(doc, self.name)
        lacks = stored is None or any(one.vectors is None for one in stored.result.sentences)
        return None if lacks else stored


class _Detached(np.ndarray):
    """The tensor (N, 1) of a Doc of N tokens whose vectors come from hooks. spaCy reads it if the
    hooks are missing."""

    __array_priority__ = 1  # so that `Doc.from_docs`, which stacks tensors, keeps the class

    def mean(self, *_: Any, **__: Any) -> Any:
        raise _gone()

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int):
            raise _gone()
        return super().__getitem__(place)


def _gone() -> InputError:
    return InputError(
        "this Doc has lost the hooks for its vectors, because spaCy does not save them: "
        f"{_attach('tree_vectors')}, or run the pipeline on its text"
    )


def _attach(name: str) -> str:
    return f"call nlp.get_pipe({name!r}).attach(doc)"


def _unpacked(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    value = value if chain is None else chain(value)
    column = isinstance(value, np.ndarray) and value.dtype == np.float32 and value.shape[1:] == (1,)
    return value.view(_Detached) if column and (value.view(np.uint32) == _MARK).any() else value


srsly.msgpack_decoders.register("thinstack", func=_unpacked)


class TreeVectors(TreeSentiment):
    """The component. Its settings are those of `TreeSentiment`."""

    kind = "tree_vectors"
    learner = "thinstack train RECIPE, with the task vectors.v1"

    def __init__(
        self,
        name: str = "tree_vectors",
        model: str = "vectors",
        source: Source = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        aggregation: Literal["tree", "words"] | None = None,
        max_words: int = MAX_WORDS,
        isolated: bool | None = None,
    ):
        others: dict[str, Any] = {"max_words": max_words, "isolated": isolated}
        super().__init__(name, model, source, device, threads, aggregation, **others)

    def show(self, doc: Doc, result: Result) -> None:
        """Set the hooks of a Doc."""
        DocVectors(self.name, self).attach(doc)

    def attach(self, doc: Doc) -> Doc:
        """Set the hooks of a Doc that has the vectors of this component but not its hooks, because
        spaCy drops them: a Doc from `Doc.from_bytes`, a DocBin (`store_user_data=True`) or
        `nlp.pipe` with `n_process`. Returns the Doc. Raises InputError for a Doc without vectors.
        """
        check_docs([doc])
        DocVectors(self.name, self).attach(doc)
        return doc

    def check(self, predictor: Predictor) -> None:
        """Raise InputError for a model without vectors."""
        if not predictor.width:
            raise InputError(
                f"{self.name}: expected a model with vectors, found {shown(self.model)}: use "
                f"the model 'vectors' ({SEPARATE['vectors']})"
            )
