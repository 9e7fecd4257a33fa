"""`Predictor`: a model that is called with texts. It needs only numpy and onnxruntime."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import open_bundle
from thinstack.bundle.opening import installed_name
from thinstack.core import Tree
from thinstack.core.config import TreeSource
from thinstack.data.tables.containers import check_container
from thinstack.errors import BundleError, UnknownNameError
from thinstack.runtime.pairs import PairReader, PairResult, PairScorer, paired
from thinstack.runtime.phrase import Phrase
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.span_vectors import span_vectors
from thinstack.runtime.stream import OnError, Reader
from thinstack.runtime.vectors import encode, similarity
from thinstack.runtime.why import Contribution, contributions
from thinstack.text.given_trees import Trees

One: TypeAlias = str | Phrase | Prediction | Result
"""What has one vector."""

_PICKLED = "the predictor comes from a pickle, which holds only the name or path of its bundle"
_AGAIN = "load the model, and pickle that"


class Predictor(PairScorer):
    """A model that scores texts, their sentences, and their phrases if it has learnt to.

    Call it: `model(text)`, `model([text, ...])`, or `model.stream(texts)` for any number of them.

    Thread safety is a promise: any number of threads may share a predictor, and each gets the
    answers that it would get alone. Its copies are itself. When the program ends, it stops those
    that still score, if they are daemons. What a signal handler of the program raises goes through.
    A forked process starts its own session. A pickle holds only the absolute path of the bundle, or
    the name of an installed one. When it is loaded, the bundle is opened and checked again, and
    must be the same.

    Attributes:
        bundle, config, vocabulary: what the predictor was made from.
        width: the number of columns D of a vector; 0 if the model gives no vectors.
        labels: the C class names, as the view shows them.
        view: which classes are shown, and how probable a label must be.
        phrases: whether phrases have scores. They have none if the task head reads only roots, or
            if the model reads plain sentences.
        device: "cpu", "cuda" or "webgpu", the device that the model really runs on. "auto" runs
            few words on the CPU all the same (`thinstack.runtime.devices.PAYS`). If its GPU
            fails in the middle of a batch, it warns, and is "cpu" from then on.
        threads: how many threads share the batches of a call on the CPU; None means one per core.
            Each operator runs on one thread.
        max_words: the longest sentence that is read as a whole. A longer one is cut
            (`thinstack.runtime.long_sentences`), unless its tree is given.
        aggregation: "tree" if a text of several sentences is read as one tree over their trees,
            "mean" if its scores are the mean of theirs, weighted by words. Given None, it is a tree
            if the model has learnt to compose sentences. A text of more than 2,048 words is read in
            units (`thinstack.runtime.units`), whose mean it has.
        isolated: whether the model runs in processes of its own, with limits of memory and time
            (`thinstack.runtime.isolated`). Given None, it does unless it is your own
            (`thinstack.bundle.origin`). `allow_operators` names operators that an isolated model
            may have beside those that `check_onnx` lets pass.

    Raises BundleError if the bundle has no usable ONNX model; MissingExtraError without
    onnxruntime; DeviceError if the GPU that `device` names does not work, also later in the middle
    of a batch ("auto" then warns and uses the CPU); InputError unless 1 <= `threads` <= 256 and
    2 <= `max_words`, for an `aggregation` that the model does not have, and as `View.choose` does
    for `classes` and `abstain`.
    """

    def __reduce__(self) -> tuple[object, ...]:
        name = installed_name(self.bundle.path) or str(self.bundle.path)
        return _reopen, (name, self._settings, self.bundle.manifest.digest)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        gives = ", ".join(self.labels) or f"vectors of {self.width}"
        return f"<Predictor of {self.bundle.path} on {self.device}: {gives}>"

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text iterates over texts of one character
        self,
        texts: str,
        *,
        source: TreeSource = ...,
        split: bool = ...,
        on_error: OnError | None = ...,
    ) -> Result: ...

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        texts: list[str] | tuple[str, ...],
        *,
        source: TreeSource = ...,
        split: bool = ...,
        on_error: OnError | None = ...,
    ) -> list[Result]: ...

    @overload
    def __call__(
        self,
        texts: Iterable[str],
        *,
        source: TreeSource = ...,
        split: bool = ...,
        on_error: OnError | None = ...,
    ) -> Iterator[Result]: ...

    def __call__(
        self,
        texts: str | Iterable[str],
        *,
        source: TreeSource = "auto",
        split: bool = True,
        on_error: OnError | None = None,
    ) -> Result | list[Result] | Iterator[Result]:
        """The result of an English text; of a list or tuple of texts, the list of their results; of
        any other iterable, `stream`. Arguments and errors are as for `stream`."""
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
        """The results of English texts, in order. Memory stays bounded, however many there are.

        `split`: whether to cut texts into sentences; otherwise each text is one sentence.
        `on_error`: called with the place (from 0) and the error of a text that cannot be scored.
        That text then has a result without sentences, and the others go on. By default the error is
        raised, behind the results of earlier texts.

        The first text whose words the model mostly does not know, or which may not be English, is
        named by a LanguageWarning (`thinstack.text.language`). Under
        `warnings.simplefilter("error", LanguageWarning)` each such text is an error.

        Raises InputError for what is no text (None, NaN, a number), and for text whose bytes were
        read with the wrong encoding. These name the place of the text, from 0. Raises InputError
        also for what does not iterate over texts, such as a DataFrame or a dict, and for a source
        that the model does not have. Raises BundleError if the model fails.
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
        """What a model that was trained on pairs says of the texts `a` and `b`: a rating, or a
        class. Of two lists of equal length, a list of results.

        Each side is read as one sentence, as in training, however many it has. Raises InputError,
        naming the place of the pair (from 0) and its side, for what is no text and for a text
        without words; also for lists of different lengths, and if the model reads single texts.
        """
        reader = PairReader(self)
        if isinstance(a, str) and isinstance(b, str):
            return next(reader.results([(a, b)]))
        return list(reader.results(paired(a, b)))

    def predict(
        self, sentences: Sequence[Sequence[str]], *, source: Trees = "auto"
    ) -> list[Prediction]:
        """Predictions for sentences of words. Sources and errors are as for `trees_and_scores`."""
        scored = zip(sentences, self.trees_and_scores(sentences, source), strict=True)
        return [Prediction.of_words(words, result, self.view, self) for words, result in scored]

    def encode(
        self, texts: str | Iterable[str], *, sign: bool = False, on_error: OnError | None = None
    ) -> NDArray[np.float32]:
        """The vectors of texts, (n, D) of length 1, one row per text; of a single text, (D,).
        `Result.vector` describes them. Memory stays bounded, but for the rows.

        `sign`: whether to add a column of polarity, for (n, D + 1): sqrt(0.3) * s, where s is
        sign(p) * sqrt(|p|) for the polarity p. The inner product of two rows is then their cosine
        plus 0.3 * s1 * s2, so opposite opinions are less similar. Such rows are longer than 1.

        `on_error` is as `stream` has it. It is also called for a text without words, and the row of
        a text that it is called for is NaN.

        Raises InputError for a model without vectors; for `sign`, if its classes are not a scale of
        sentiment; for a text without words, with its place from 0; and as `stream` does.
        """
        return encode(self, texts, sign=sign, on_error=on_error)

    @overload
    def similarity(self, a: One, b: One) -> float: ...

    @overload
    def similarity(self, a: Any, b: Any) -> NDArray[np.float32]: ...

    def similarity(self, a: Any, b: Any) -> float | NDArray[np.float32]:
        """How similar two texts are: the cosine of their vectors, from -1 to 1. Of lists of n and m
        texts, the cosines (n, m); of a text and a list, (m,).

        In place of a text, you can give anything of this model that has a vector: a phrase, a
        sentence, a result, or rows of `encode` with D columns.

        Raises InputError as `encode` does, and for vectors of another size.
        """
        return similarity(self, a, b)

    def span_vectors(
        self, prediction: Prediction, spans: Iterable[tuple[int, int]]
    ) -> NDArray[np.float32]:
        """The vectors (k, D), of length 1, of k spans of words [start, end) of a prediction that
        this model made, as `vector_of` makes them. All take one call of the model. Raises
        InputError for a span that is not inside the sentence, and as `vector_of` does."""
        return span_vectors(prediction, spans, self)

    def why(self, prediction: Prediction) -> list[Contribution]:
        """How much each phrase contributes to the label of a prediction that this model made.
        Raises InputError as `thinstack.runtime.why.contributions` does."""
        return contributions(self, prediction)

    def predict_trees(self, trees: Sequence[Tree]) -> list[Prediction]:
        """Predictions for binary trees. A model of plain sentences reads only their words. Raises
        TreeError, naming the tree (from 0), for a tree that is not binary, and InputError for what
        does not iterate over trees, such as a single one."""
        source = self._trees.of_trees(trees)
        return self.predict([tree.words for tree in trees], source=source)


def _reopen(path: str, settings: dict[str, Any], digest: str) -> Predictor:
    """The predictor of a pickle."""
    try:
        bundle = open_bundle(path)
    except (BundleError, UnknownNameError) as error:
        raise BundleError(f"{error}; {_PICKLED}: put the bundle there, or {_AGAIN}") from None
    if digest != bundle.manifest.digest:
        problem = f"expected the bundle {digest:.12}, found {bundle.manifest.digest:.12}"
        raise BundleError(f"{bundle.path}: {problem}; {_PICKLED}, whose model is another: {_AGAIN}")
    return Predictor(bundle, **settings)
