"""`Scorer`: run a bundle's ONNX model on tokenized sentences. It needs only numpy and
onnxruntime."""

import os
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import Bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.bundle.origin import is_isolated
from thinstack.core.config import Aggregation, Device, TreeSource
from thinstack.errors import BundleError, InputError, shown
from thinstack.runtime.devices import RunningDevice, pays
from thinstack.runtime.ending import watch_end
from thinstack.runtime.interface import PARSE_OUTPUT, Batch, check_parse, check_rows, interface_of
from thinstack.runtime.pool import Pool
from thinstack.runtime.scored import Scored, ScoredText
from thinstack.runtime.session import open_session
from thinstack.runtime.units import MAX_WORDS, Limits, Units, top_of
from thinstack.runtime.views import View
from thinstack.text.batching import (
    BATCH_NODES,
    BATCH_PIECES,
    BATCH_WORDS,
    Size,
    batches,
    check_words,
    listed,
)
from thinstack.text.given_trees import GivenTrees, TreeMaker, Trees
from thinstack.text.language import Language

# Sessions kept after a fork: destroying one would join threads that do not exist in the child.
_PARENT_SESSIONS: list[Any] = []

_ONE = Pool(1)

Row = TypeVar("Row")

_forks = [0]
"""The number of forks up to this process. `os.getpid()` would cost as much as a small batch."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(_forks.pop() + 1))


class Scorer:
    """The base of `Predictor`, which documents the attributes. It scores sentences of words."""

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: Device = "cpu",
        threads: int | None = None,
        classes: int | None = None,
        abstain: float | None = None,
        max_words: int = MAX_WORDS,
        aggregation: Aggregation | None = None,
        isolated: bool | None = None,
        allow_operators: Collection[str] = (),
    ):
        self._settings: dict[str, Any] = {
            "device": device,
            "threads": threads,
            "classes": classes,
            "abstain": abstain,
            "max_words": max_words,
            "aggregation": aggregation,
            "isolated": isolated,
            "allow_operators": tuple(allow_operators),
        }
        if not isinstance(max_words, int | np.integer) or max_words < 2:
            raise InputError(f"max_words is {max_words!r}; expected a whole number, at least 2")
        self.max_words = max_words
        self.bundle, self.config = bundle, bundle.config
        sets = self.config.class_sets, self.config.class_weights
        self.view = View.choose(self.config.labels, classes, abstain, *sets)
        self.labels = self.view.labels
        self.vocabulary = bundle.vocabulary()
        self._trees = GivenTrees(self.config)
        self.threads, self._requested = threads, device
        self._allowed = tuple(allow_operators)
        self.isolated = is_isolated(bundle, isolated, self._allowed)
        self._source = str(bundle.path / ONNX_FILE)
        self._model = bundle.read(ONNX_FILE)
        self._gpu = b"" if device == "cpu" else bundle.for_gpu()
        self._session: Any
        self._parses = self.config.parses
        self._pool = Pool(threads)
        self._start()
        self.aggregation = _aggregation(aggregation, joins=self._joins)

    @property
    def device(self) -> RunningDevice:
        """The device that the model actually runs on."""
        device: RunningDevice = self._session.device
        return device

    @property
    def pool(self) -> Pool:
        """The threads that share the batches of a call; a GPU runs them one by one."""
        return self._pool if self.device == "cpu" else _ONE

    def check_reads_texts(self) -> None:
        """Raise InputError for a model trained on pairs."""
        if self.reads_pairs:
            raise InputError(
                "this model reads pairs of texts, found single texts: call model.pairs(a, b), "
                "or run thinstack predict --pair A B"
            )

    @cached_property
    def language(self) -> Language:
        """The vocabulary check that flags texts that may not be English."""
        return Language(self.vocabulary)

    def node_scores(
        self, words: Sequence[Sequence[str]], transitions: Sequence[NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]:
        """Return only the scores of `trees_and_scores`."""
        return [scored.scores for scored in self.trees_and_scores(words, transitions)]

    def trees_and_scores(
        self, words: Sequence[Sequence[str]], trees: Trees = "auto"
    ) -> list[Scored]:
        """Return the tree of each sentence, and the class probabilities of every node in transition
        order, or of the sentence only.

        `words`: the n >= 1 words of each sentence, in treebank conventions. `trees`: their trees,
        or the source of the trees. "auto" means whatever the model was trained on, and "self" the
        model's own parse. A model of plain sentences accepts only "auto" and returns no tree. A
        sentence of more than `max_words` words is scored in parts, unless you pass its tree.

        Sentences run in batches of `BATCH_NODES` nodes. Other sentences in the batch change a score
        only by rounding, which may change a parse if SHIFT and REDUCE score almost the same.

        Raises InputError for a source that the model does not support and, with the index (from 0),
        for a sentence without words or whose transitions are not a single tree. Raises BundleError
        if the model fails, or if its parses are not trees.
        """
        words = listed(words)
        return [text.sentences[0] for text in self._scored(words, [1] * len(words), trees)]

    def score_texts(
        self, texts: Sequence[Sequence[Sequence[str]]], trees: Trees = "auto"
    ) -> list[ScoredText]:
        """Return the scored sentences of each text, and the tree over them if the model reads texts
        as trees (`aggregation`).

        `texts`: the sentences of each text, as in `trees_and_scores`; a text may have none.
        `trees`: as there, for all sentences in turn. Sentences get the same scores as alone, unless
        the model has a top-down pass. Errors are as there, with indices over the sentences of all
        texts.
        """
        words, counts = list(chain.from_iterable(texts)), [*map(len, texts)]
        if self.aggregation == "tree":
            return self._scored(listed(words), counts, trees)
        rows = iter(self.trees_and_scores(words, trees))
        return [ScoredText(list(islice(rows, count))) for count in counts]

    def _scored(
        self, words: Sequence[Sequence[str]], counts: Sequence[int], trees: Trees
    ) -> list[ScoredText]:
        """Score texts with these numbers of sentences (`counts`)."""
        self.check_reads_texts()
        with_trees = not isinstance(trees, str)
        limits = Limits(self.max_words, self._most_pieces, self.vocabulary, with_trees)
        units = Units(words, counts, limits, joins=self._joins)
        steps = self._trees.of_sentences(units.words, trees, self._parse)
        over = None if steps is None else units.transitions(steps)

        def run(places: list[int], transitions: NDArray[np.int64]) -> list[Scored]:
            batch = self._batch_of(units, places, transitions)
            return self._run(batch).apart(batch.sizes, phrases=self.phrases)

        scored = self._in_batches(run, units.sizes, over)
        texts = units.texts(scored, phrases=self.phrases)
        if self.width:
            texts = [text.map(lambda scored: scored.with_vectors(self.width)) for text in texts]
        # Apply views to whole sentences: if a class is left out, the mean of parts would differ.
        return texts if self.view.places is None else [text.map(self.view.shown) for text in texts]

    def _in_batches(
        self,
        run: Callable[[list[int], NDArray[np.int64]], list[Row]],
        sizes: Sequence[Size],
        trees: Sequence[NDArray[np.integer]] | None,
    ) -> list[Row]:
        """Run batches of indices, and return the rows in the order of the indices."""
        if self._process != _forks[0]:
            _PARENT_SESSIONS.append(self._session)
            self._start()
        few = self._requested == "auto" and not pays(sum(size.words for size in sizes))
        device, pool = ("cpu", self._pool) if few else (self.device, self.pool)
        most = {"nodes": BATCH_NODES[device], "pieces": BATCH_PIECES[device]}
        most |= {"characters": BATCH_WORDS[device], "threads": pool.threads}
        jobs = list(batches(sizes, trees, **most))
        results = chain.from_iterable(pool.map(run, jobs))
        order = chain.from_iterable(positions for positions, _ in jobs)
        scored = dict(zip(order, results, strict=True))
        return [scored[place] for place in range(len(scored))]

    def _batch_of(
        self, units: Units, places: Sequence[int], transitions: NDArray[np.integer]
    ) -> Batch:
        """Return the batch of the units at these indices."""
        chosen = [units.items[place] for place in places]
        inside = [part for unit in chosen for part in unit.parts]
        owners = [units.owners[part] for part in inside]
        words = [units.words[part] for part in inside]
        try:
            fields: dict[str, Any] = self.vocabulary.fields([*chain.from_iterable(words)])
        except (TypeError, AttributeError):
            for sentence, owner in zip(words, owners, strict=True):
                check_words(sentence, owner)
            raise
        lengths = [units.lengths[part] for part in inside]
        fields |= {"lengths": np.array(lengths), "transitions": transitions}
        sizes = [2 * units.sizes[place].words - 1 for place in places]
        tops, breaks = zip(*[top_of(unit.counts) for unit in chosen], strict=True)
        if "breaks" in self._types:
            fields["breaks"] = np.concatenate(breaks)
        return Batch(fields, lengths, owners, sizes, tops if len(inside) > len(chosen) else ())

    def tree_maker(self, source: TreeSource = "auto") -> TreeMaker:
        """Return the function that builds the trees of a source; for a model of plain sentences, it
        returns empty transitions. Raises InputError for a source that the model does not
        support."""
        return self._trees.maker(source, self._parse)

    def _parse(self, words: Sequence[str]) -> NDArray[np.int8]:
        return self.trees_and_scores([words], "self")[0].transitions

    def _start(self) -> None:
        self._session = open_session(
            self._model,
            device=self._requested,
            source=self._source,
            isolated=self.isolated,
            allow_operators=self._allowed,
            gpu=self._gpu,
            trusted=self._settings["isolated"] is None and not self.isolated,
        )
        interface = interface_of(self._session, self.config, self.vocabulary, self._source)
        self._types, self._outputs, self.width, self.phrases = interface[:4]
        self._most_pieces, self._probable, self._joins = interface[4:7]
        self.reads_pairs, self.rates_pairs = interface[7:]
        self._process = _forks[0]
        watch_end()

    def _run(self, batch: Batch) -> Scored:
        """Run a batch, and return its scores and trees, which are the model's parses by default."""
        fields, nodes = batch.fields, batch.nodes
        rows = nodes if self.phrases else len(batch.sizes) // (1 + self.reads_pairs)
        feeds = {name: fields[name].astype(kind, copy=False) for name, kind in self._types.items()}
        parses = self._parses and not fields["transitions"].size
        try:
            outputs = self._session.run(self._outputs + [PARSE_OUTPUT] * parses, feeds)
        except BundleError as error:
            problem = f"the model failed on {nodes} nodes: {error}"
            raise BundleError(f"{self._source}: {problem}") from None
        steps = outputs.pop() if parses else fields["transitions"]
        for values, name in zip(outputs, self._outputs, strict=True):
            scores = name.endswith("scores")
            shape = rows, len(self.config.labels) if scores else self.width
            check_rows(values, shape, name, self._source, probable=scores and self._probable)
        if parses:
            check_parse(steps, batch, self._source)
        joint = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=1)
        return Scored(steps.astype(np.int8), joint)


def _aggregation(asked: str | None, *, joins: bool) -> Aggregation:
    """Return the aggregation `asked` for, by default "tree" if the model composes sentences
    (`joins`). Raises InputError for "tree" if it does not, and for unknown values."""
    if asked not in (None, *get_args(Aggregation)):
        raise InputError(f"aggregation: expected tree or mean, found {shown(asked)}")
    if asked == "tree" and not joins:
        raise InputError(
            "aggregation: this model was not trained to read a text as one tree (its "
            "configuration lacks aggregation = 'tree'), or it does not score phrases; choose "
            "mean, or omit aggregation"
        )
    return "tree" if joins and asked != "mean" else "mean"
