"""`Predictor`: runs a bundle's ONNX model. It needs only numpy and onnxruntime."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.bundle.opening import installed_name
from thinstack.bundle.origin import is_isolated
from thinstack.core import Forest, Tree
from thinstack.core.config import Device, TreeSource
from thinstack.errors import BundleError, InputError, UnknownNameError
from thinstack.runtime.ending import watch_end
from thinstack.runtime.interface import PARSE_OUTPUT, check_parse, check_scores, interface_of
from thinstack.runtime.long_sentences import MAX_WORDS, Limits, cuts_of, joined, parts_of
from thinstack.runtime.pool import Pool
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored
from thinstack.runtime.session import open_session
from thinstack.runtime.stream import OnError, Reader, check_texts
from thinstack.runtime.views import View
from thinstack.runtime.why import Contribution, contributions
from thinstack.text.batching import (
    BATCH_NODES,
    BATCH_PIECES,
    BATCH_WORDS,
    batches,
    character_counts,
    check_words,
    lengths_of,
    listed,
    piece_counts,
)
from thinstack.text.given_trees import GivenTrees, TreeMaker
from thinstack.text.given_trees import Trees as Trees

# Sessions kept after a fork: destroying one would join threads that the child lacks.
_PARENT_SESSIONS: list[Any] = []

_PICKLED = "the predictor comes from a pickle, which holds only the name or path of its bundle"
_AGAIN = "load the model, and pickle that"


class Predictor:
    """A model that scores texts, their sentences, and their phrases if it has learnt to.

    Call it: `model(text)`, `model([text, ...])`, or `model.stream(texts)` for any number of them.

    Any number of threads may share a predictor, and its copies are itself. When the program ends,
    it stops those that still score, if they are daemons. What a signal handler of the program
    raises goes through. A forked process starts its own session. A pickle holds only the absolute
    path of the bundle, or the name of an installed one. When it is loaded, the bundle is opened and
    checked again, and must be the same.

    Attributes:
        bundle, config, vocabulary: what the predictor was made from.
        labels: the C class names, as the view shows them.
        view: which classes are shown, and how probable a label must be.
        phrases: whether phrases have scores. They have none if the task head reads only roots, or
            if the model reads plain sentences.
        device: "cpu" or "cuda", the device that the model really runs on.
        threads: how many threads share the batches of a call on the CPU; None means one per core.
            Each operator runs on one thread.
        max_words: the longest sentence that is read as a whole. A longer one is cut
            (`thinstack.runtime.long_sentences`), unless its tree is given.
        isolated: whether the model runs in processes of its own, with limits of memory and time
            (`thinstack.runtime.isolation.isolated`). Given None, it does unless it is your own
            (`thinstack.bundle.origin`). `allow_operators` names operators that an isolated model
            may have beside those that `check_onnx` lets pass.

    Raises BundleError if the bundle has no usable ONNX model; MissingExtraError without
    onnxruntime; DeviceError if `device` is "cuda" and CUDA does not work ("auto" then warns and
    uses the CPU); InputError unless 1 <= `threads` <= 256 and 2 <= `max_words`, and as
    `View.choose` does for `classes` and `abstain`.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: Device = "cpu",
        threads: int | None = None,
        classes: int | None = None,
        abstain: float | None = None,
        max_words: int = MAX_WORDS,
        isolated: bool | None = None,
        allow_operators: Collection[str] = (),
    ):
        self._settings = {
            "device": device,
            "threads": threads,
            "classes": classes,
            "abstain": abstain,
            "max_words": max_words,
            "isolated": isolated,
            "allow_operators": tuple(allow_operators),
        }
        if not isinstance(max_words, int) or max_words < 2:
            raise InputError(f"max_words is {max_words!r}; expected a whole number, at least 2")
        self.max_words = max_words
        self.bundle, self.config = bundle, bundle.config
        sets = self.config.class_sets, self.config.class_weights
        self.view = View.choose(self.config.labels, classes, abstain, *sets)
        self.labels = self.view.labels
        self.vocabulary = bundle.vocabulary()
        self._trees = GivenTrees(self.config, bundle.distances())
        self.threads, self._requested = threads, device
        self._allowed = tuple(allow_operators)
        self.isolated = is_isolated(bundle, isolated, self._allowed)
        self._source = str(bundle.path / ONNX_FILE)
        self._model = bundle.read(ONNX_FILE)
        self.device: Literal["cpu", "cuda"]
        self._session: Any
        self._parses = self.config.parses
        asked = Pool(threads)
        self._start()
        self.pool = asked if self.device == "cpu" else Pool(1)

    def __reduce__(self) -> tuple[object, ...]:
        name = installed_name(self.bundle.path) or str(self.bundle.path)
        return _reopen, (name, self._settings, self.bundle.manifest.digest)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<Predictor of {self.bundle.path} on {self.device}: {', '.join(self.labels)}>"

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
            reader = Reader.of(self, source, split=split, on_error=on_error)
            return next(reader.results([texts]))
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

        Raises InputError for what is no text (None, NaN, a number), and for text whose bytes were
        read with the wrong encoding. These name the place of the text, from 0. Raises InputError
        also for what does not iterate over texts, such as a DataFrame or a dict, and for a source
        that the model does not have. Raises BundleError if the model fails.
        """
        check_texts(texts)
        return Reader.of(self, source, split=split, on_error=on_error).results(texts)

    def node_scores(
        self, words: Sequence[Sequence[str]], transitions: Sequence[NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]:
        """The scores of `trees_and_scores`."""
        return [found.scores for found in self.trees_and_scores(words, transitions)]

    def trees_and_scores(
        self, words: Sequence[Sequence[str]], trees: Trees = "auto"
    ) -> list[Scored]:
        """The tree of each sentence, and the probabilities of the classes for every node in
        transition order, or only for the sentence.

        `words`: the n >= 1 words of each sentence, in treebank conventions. `trees`: their trees,
        or where the trees come from. "auto" means whatever the model was trained on, and "self" the
        parse that the model makes as it scores. A model of plain sentences takes only "auto", and
        makes no tree. A sentence of more than `max_words` words is scored in parts, unless its tree
        is given.

        Sentences run in batches of `BATCH_NODES` nodes. The other sentences of a batch change a
        score only by rounding. That may change a parse if SHIFT and REDUCE score almost the same.

        Raises InputError for a source that the model does not have. It names the sentence (from 0)
        if that has no words or its transitions are not a single tree. Raises BundleError if the
        model fails, or if its parses are not trees.
        """
        words = listed(words)
        lengths = lengths_of(words)
        limits = Limits(self.max_words, self._most_pieces, self.vocabulary)
        if cuts := cuts_of(words, lengths, limits, given=not isinstance(trees, str)):
            parts, owners = parts_of(words, cuts)
            scored = self._scored(parts, lengths_of(parts), trees, owners)
            scored = joined(scored, owners, cuts, phrases=self.phrases)
        else:
            scored = self._scored(words, lengths, trees)
        # Views are of whole sentences: where a class is left out, the mean of parts is not theirs.
        return scored if self.view.places is None else list(map(self.view.shown, scored))

    def _scored(
        self,
        words: Sequence[Sequence[str]],
        lengths: NDArray[np.int64],
        trees: Trees,
        owners: Sequence[int] | None = None,
    ) -> list[Scored]:
        """`trees_and_scores` of the model's own classes, without cutting. `owners`: the sentence
        that each is a part of, for messages."""
        if os.getpid() != self._process:
            _PARENT_SESSIONS.append(self._session)
            self._start()
        steps = self._trees.of_sentences(words, trees, self._parse)
        widths = None if self._most_pieces is None else piece_counts(words, self.vocabulary)
        most = {"nodes": BATCH_NODES[self.device], "pieces": BATCH_PIECES[self.device]}
        most |= {"characters": BATCH_WORDS[self.device], "threads": self.pool.threads}
        cut = batches(lengths, steps, widths=widths, counts=character_counts(words), **most)

        def run(positions: NDArray[np.int64], transitions: NDArray[np.int64]) -> list[Scored]:
            places = positions.tolist()
            names = places if owners is None else [owners[place] for place in places]
            fields = self._word_fields([words[i] for i in places], names)
            sizes = 2 * lengths[positions] - 1
            forest = Forest(
                sizes=sizes, lengths=lengths[positions], transitions=transitions, **fields
            )
            return self._apart(self._run(forest, names), sizes)

        order, results = [], list[Scored]()
        jobs = [(positions, transitions) for positions, transitions in cut]
        for (positions, _), scored in zip(jobs, self.pool.map(run, jobs), strict=True):
            order.extend(positions.tolist())
            results.extend(scored)
        return [results[place] for place in np.argsort(order).tolist()]

    def _apart(self, batch: Scored, sizes: NDArray[np.int64]) -> list[Scored]:
        """The results of a batch by sentence."""
        ends = np.cumsum(sizes).tolist()
        rows = ends if self.phrases else range(1, len(ends) + 1)
        cuts = zip([0, *ends], ends, [0, *rows], rows, strict=False)
        return [
            Scored(batch.transitions[start:end], batch.scores[first:last])
            for start, end, first, last in cuts
        ]

    def predict(
        self, sentences: Sequence[Sequence[str]], *, source: Trees = "auto"
    ) -> list[Prediction]:
        """Predictions for sentences of words. Sources and errors are as for `trees_and_scores`."""
        scored = zip(sentences, self.trees_and_scores(sentences, source), strict=True)
        return [Prediction.of_words(words, each, self.view, self) for words, each in scored]

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

    def tree_maker(self, source: TreeSource = "auto") -> TreeMaker:
        """The function that makes the trees of a source. For a model of plain sentences it makes
        empty transitions. Raises InputError for a source that the model lacks."""
        return self._trees.maker(source, self._parse)

    def _parse(self, words: Sequence[str]) -> NDArray[np.int8]:
        return self.trees_and_scores([words], "self")[0].transitions

    def _start(self) -> None:
        self._session, self.device = open_session(
            self._model,
            device=self._requested,
            source=self._source,
            isolated=self.isolated,
            allow_operators=self._allowed,
        )
        interface = interface_of(self._session, self.config, self.vocabulary, self._source)
        self._types, self._output, self.phrases, self._most_pieces, self._probable = interface
        self._process = os.getpid()
        watch_end()

    def _word_fields(self, words: Sequence[Sequence[str]], places: Sequence[int]) -> dict[str, Any]:
        try:
            return self.vocabulary.fields(list(chain.from_iterable(words)))
        except (TypeError, AttributeError):
            for place, sentence in zip(places, words, strict=True):
                check_words(sentence, place)
            raise

    def _run(self, forest: Forest, places: list[int]) -> Scored:
        """The scores of a batch and its trees, which the model makes if there are none."""
        nodes = int(forest.sizes.sum())
        rows = nodes if self.phrases else len(places)
        feeds = {
            name: getattr(forest, name).astype(kind, copy=False)
            for name, kind in self._types.items()
        }
        parses = self._parses and not forest.transitions.size
        try:
            scores, *parse = self._session.run([self._output, PARSE_OUTPUT][: 1 + parses], feeds)
        except BundleError as error:
            problem = f"the model failed on {nodes} nodes: {error}"
            raise BundleError(f"{self._source}: {problem}") from None
        shape = rows, len(self.config.labels)
        check_scores(scores, shape, self._output, self._source, probable=self._probable)
        if not parses:
            return Scored(forest.transitions.astype(np.int8), scores)
        check_parse(parse[0], forest, places, self._source)
        return Scored(parse[0].astype(np.int8), scores)


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
