"""`Predictor`: a loaded model. It needs only numpy and onnxruntime."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import installed_name
from thinstack.core import Tree
from thinstack.core.config import TreeSource
from thinstack.data.tables.containers import check_container
from thinstack.errors import BundleError, InputError, UnknownNameError, shown
from thinstack.runtime.pairs import PairReader, PairResult, PairScorer, paired
from thinstack.runtime.phrase import Phrase
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.stream import OnError, Reader
from thinstack.runtime.vectors import (
    check_model,
    encoded_rows,
    need_vectors,
    span_vectors,
    vectors_of,
)
from thinstack.runtime.why import Contribution, contributions
from thinstack.text.given_trees import Trees

One: TypeAlias = str | Phrase | Prediction | Result
"""A value with one vector."""


class How(TypedDict, total=False):
    """The reading options of `Predictor.stream`."""

    source: TreeSource
    split: bool
    on_error: OnError | None


_PICKLED = "the predictor comes from a pickle, which contains only the name or path of its bundle"
_AGAIN = "load and pickle the model again"


class Predictor(PairScorer):
    """Scores texts, their sentences and, if the model supports it, every phrase.

    Call it: `model(text)`, `model([text, ...])`, or `model.stream(texts)` for any number of them.

    Thread-safe: threads that share a predictor get the same results as alone. Copies are the same
    object. A forked process starts its own session. When the program ends, daemon threads that
    still score are stopped. A pickle contains only the absolute path of the bundle, or the name of
    an installed one; loading it opens and checks the bundle again, which must be the same.

    Attributes:
        bundle, config, vocabulary: the bundle, its configuration and its vocabulary.
        width: number of columns D of a vector; 0 for a model without vectors.
        labels: the C class names of the view.
        view: which classes are shown, and the threshold of a label.
        reads_pairs, rates_pairs: whether the model reads pairs of texts, and gives ratings of them.
        phrases: whether phrases have scores. They do not if the task head reads only roots, or if
            the model reads plain sentences.
        device: "cpu", "cuda" or "webgpu", where the model runs. "auto" runs small batches on the
            CPU (`thinstack.runtime.devices.PAYS`). If its GPU fails, it warns and becomes "cpu".
        threads: number of threads that share the batches of a call on the CPU; None means one per
            core. Each operator runs on one thread.
        max_words: longer sentences are split (`thinstack.runtime.units`), unless you pass
            their trees.
        aggregation: "tree" to compose the sentences of a text into one tree, "mean" to average
            their scores, weighted by words. None means "tree" if the model was trained on such
            trees. A text of more than 2,048 words is the mean of several units
            (`thinstack.runtime.units`).
        isolated: whether the model runs in separate processes with memory and time limits
            (`thinstack.runtime.isolated`). None means only third-party models
            (`thinstack.bundle.origin`). `allow_operators` lists further operators that an isolated
            model may use.

    Raises BundleError if the bundle has no usable ONNX model; MissingExtraError without
    onnxruntime; DeviceError if the requested GPU does not work, also in the middle of a batch
    ("auto" then warns and uses the CPU); InputError unless 1 <= `threads` <= 256 and 2 <=
    `max_words`, for an `aggregation` that the model does not support, and as `View.choose` does
    for `classes` and `abstain`.
    """

    def __reduce__(self) -> tuple[object, ...]:
        name = installed_name(self.bundle.path) or str(self.bundle.path)
        return _reopen, (name, self._settings, self.bundle.manifest.digest)

    def without_abstain(self) -> Self:
        """Return a predictor that labels every text, over the same session."""
        if not self.view.abstain:
            return self
        labelling = object.__new__(type(self))
        labelling.__dict__ |= self.__dict__
        labelling._settings = self._settings | {"abstain": None}
        labelling.view = self.view._replace(abstain=0.0)
        return labelling

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        gives = ", ".join(self.labels) or f"vectors of {self.width}"
        return f"<Predictor of {self.bundle.path} on {self.device}: {gives}>"

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text iterates over texts of one character
        self, texts: str, **how: Unpack[How]
    ) -> Result: ...

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, texts: list[str] | tuple[str, ...], **how: Unpack[How]
    ) -> list[Result]: ...

    @overload
    def __call__(self, texts: Iterable[str], **how: Unpack[How]) -> Iterator[Result]: ...

    def __call__(
        self,
        texts: str | Iterable[str],
        *,
        source: TreeSource = "auto",
        split: bool = True,
        on_error: OnError | None = None,
    ) -> Result | list[Result] | Iterator[Result]:
        """Score an English text. A list or tuple returns a list of results, and any other iterable
        a stream. Arguments and errors are those of `stream`."""
        if isinstance(texts, str):
            reader = Reader(self, source, split=split, on_error=on_error)
            return reader.result(texts)
        results = self.stream(texts, source=source, split=split, on_error=on_error)
        return list(results) if isinstance(texts, list | tuple) else results

    def stream(
        self,
        texts: Iterable[str],
        *,
        source: TreeSource = "auto",
        split: bool = True,
        on_error: OnError | None = None,
    ) -> Iterator[Result]:
        """Score any number of English texts, in order and in bounded memory.

        `split`: whether to split texts into sentences; otherwise each text is one sentence.
        `on_error`: called with the index (from 0) and the error of a text that cannot be scored.
        This text then has a result without sentences. By default the error is raised, after the
        results of earlier texts.

        The first text with mostly unknown words, or that may not be English, triggers a
        LanguageWarning (`thinstack.text.language`). `warnings.simplefilter("error",
        LanguageWarning)` makes each such text an error.

        Raises InputError, with the index of the text, for values that are not text (None, NaN, a
        number) and for text decoded with the wrong encoding. Raises InputError also for objects
        that do not iterate over texts, such as a DataFrame or a dict, and for a `source` that the
        model does not support; BundleError if the model fails.
        """
        check_container(texts, "several texts")
        return Reader(self, source, split=split, on_error=on_error).results(texts)

    @overload
    def pairs(self, a: str, b: str) -> PairResult: ...  # type: ignore[overload-overlap]

    @overload
    def pairs(self, a: Iterable[str], b: Iterable[str]) -> list[PairResult]: ...

    def pairs(
        self, a: str | Iterable[str], b: str | Iterable[str]
    ) -> PairResult | list[PairResult]:
        """Rate or classify the pair of texts `a` and `b`, with a model trained on pairs. Two lists
        of equal length return a list of results.

        Each side is read as one sentence, as in training. Raises InputError, with the index (from
        0) and the side, for a value that is not text or has no words; also for lists of different
        lengths, and if the model was not trained on pairs.
        """
        reader = PairReader(self)
        if isinstance(a, str) and isinstance(b, str):
            return next(reader.results([(a, b)]))
        return list(reader.results(paired(a, b)))

    def predict(
        self, sentences: Sequence[Sequence[str]], *, source: Trees = "auto"
    ) -> list[Prediction]:
        """Score sentences given as words. Sources and errors are those of `trees_and_scores`."""
        scored = zip(sentences, self.trees_and_scores(sentences, source), strict=True)
        return [Prediction.of_words(words, result, self.view, self) for words, result in scored]

    def encode(
        self, texts: str | Iterable[str], *, sign: bool = False, on_error: OnError | None = None
    ) -> NDArray[np.float32]:
        """Return the vectors of texts, (n, D) of unit norm, one row per text; of one text, (D,).
        `Result.vector` describes them. Except for the rows, memory stays bounded.

        `sign`: whether to add a column, for (n, D + 1): sqrt(0.3) * s, where s is the square root
        of |p|, with the sign of the polarity p. The inner product of two rows is then their cosine
        plus 0.3 * s1 * s2, so opposite opinions are less similar. Such rows have a norm above 1.

        `on_error`: as for `stream`. It is also called for texts without words. The rows of texts
        that it is called for are NaN.

        Raises InputError for a model without vectors; for `sign`, if its classes are not a
        sentiment scale; for a text without words, with its index; and as `stream` does.
        """
        need_vectors(self, "encode", sign=sign)
        alone = isinstance(texts, str)
        rows = encoded_rows(self, [str(texts)] if alone else texts, on_error, sign=sign)
        kind = np.dtype((np.float32, self.width + sign))
        encoded: NDArray[np.float32] = np.fromiter(rows, kind)
        return encoded[0] if alone else encoded

    @overload
    def similarity(self, a: One, b: One) -> float: ...

    @overload
    def similarity(self, a: Any, b: Any) -> NDArray[np.float32]: ...

    def similarity(self, a: Any, b: Any) -> float | NDArray[np.float32]:
        """Return the cosine of the vectors of two texts, from -1 to 1; of lists of n and m texts,
        the cosines (n, m); of a text and a list, (m,).

        Instead of a text, you can pass anything of this model that has a vector: a phrase, a
        sentence, a result, or rows of `encode` with D columns.

        Raises InputError as `encode` does, and for vectors of another size.
        """
        cosines = np.clip(vectors_of(self, a) @ vectors_of(self, b).T, -1, 1)
        return cosines if cosines.ndim else float(cosines)

    def span_vectors(
        self, prediction: Prediction, spans: Iterable[tuple[int, int]]
    ) -> NDArray[np.float32]:
        """Return the vectors (k, D), of unit norm, of k spans of words [start, end) of a prediction
        by this model, like `vector_of`, but in one call of the model. Raises InputError for a span
        outside the sentence, for a prediction of another model, and as `vector_of` does."""
        passed: object = prediction
        if not isinstance(passed, Prediction):
            problem = f"expected a sentence of a result, found {shown(passed, 60)}"
            raise InputError(f"span_vectors: {problem}: pass one, such as result.sentences[0]")
        check_model(self, prediction, "span_vectors")
        return span_vectors(prediction, spans, self)

    def why(self, prediction: Prediction) -> list[Contribution]:
        """Return how much each phrase contributes to the label of a prediction by this model.
        Raises InputError as `thinstack.runtime.why.contributions` does, and for a prediction by
        another model."""
        check_model(self, prediction, "why")
        return contributions(self, prediction)

    def predict_trees(self, trees: Sequence[Tree]) -> list[Prediction]:
        """Score binary trees. A model of plain sentences reads only their words. Raises TreeError,
        with the index (from 0), for a tree that is not binary, and InputError for an object that
        does not iterate over trees, such as a single tree."""
        check_container(trees, "trees")
        trees = list(trees)
        source = self._trees.of_trees(trees)
        return self.predict([tree.words for tree in trees], source=source)


def _reopen(path: str, settings: dict[str, Any], digest: str) -> Predictor:
    try:
        bundle = open_bundle(path)
    except (BundleError, UnknownNameError) as error:
        raise BundleError(f"{error}; {_PICKLED}: put the bundle there, or {_AGAIN}") from None
    if digest != bundle.manifest.digest:
        problem = f"expected the bundle {digest:.12}, found {bundle.manifest.digest:.12}"
        raise BundleError(f"{bundle.path}: {problem}; {_PICKLED}, which has changed: {_AGAIN}")
    return Predictor(bundle, **settings)
