"""`Predictor`: a bundle's ONNX model in onnxruntime. It needs numpy and an onnxruntime only."""

import json
import os
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from thinstack.bundles import Bundle, open_bundle
from thinstack.config import Device, TreeSource
from thinstack.core import Tree
from thinstack.data.tree_sources import TreeMaker, tree_maker
from thinstack.errors import BundleError, InputError, TreeError
from thinstack.integrations.batching import batches, check_lengths, joined_transitions
from thinstack.integrations.prediction import Prediction
from thinstack.integrations.session import open_session
from thinstack.manifest import MEND, ONNX_FILE

__all__ = ["Predictor"]

BATCH_NODES = 4096
"""Nodes of a batch at most (or one sentence)."""

_INPUTS = {"words": ["token_ids", "transitions"], "wordpieces": ["piece_ids", "pieces_per_word", "transitions"]}
_INDEX_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}

# Sessions of a parent process: their threads are not there after a fork, and taking such a session down waits for them.
_ORPHANS: list[Any] = []


class Predictor:
    """The scores that a bundle's model gives to sentences and all their phrases.

    May be shared by any number of threads; in a forked process it starts a session of its own. Pickled, it is the path
    of its bundle, which is opened and checked again.

    Attributes:
        bundle, config, vocabulary: what it was made from.
        labels: the C class names.
        device: "cpu" or "cuda", what it really runs on.
        threads: that one operator may take on the CPU, as asked for; None is as many as the process has cores.

    Raises BundleError if the bundle has no usable ONNX model, MissingExtraError without onnxruntime, DeviceError if
    `device` is "cuda" and CUDA does not work ("auto" then warns and takes the CPU), InputError unless 1 <= `threads` <= 256.
    """

    def __init__(self, bundle: Bundle, *, device: Device = "cpu", threads: int | None = None):
        self.bundle, self.config, self.labels = bundle, bundle.config, bundle.config.labels
        self.vocabulary = bundle.vocabulary()
        self._distances = bundle.distances()
        self.threads, self._requested = threads, device
        self._source = str(bundle.path / ONNX_FILE)
        self._model = bundle.read(ONNX_FILE)
        self.device: Literal["cpu", "cuda"]
        self._session: Any
        self._start()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopen, (str(self.bundle.path), self._requested, self.threads)

    def __repr__(self) -> str:
        return f"<Predictor of {self.bundle.path} on {self.device}: {', '.join(self.labels)}>"

    def node_scores(
        self, words: Sequence[Sequence[str]], transitions: Sequence[NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]:
        """Probabilities (2n-1, C) of the classes for every node of each sentence's tree, in transition order.

        `words`: the n >= 1 words of each sentence, in treebank conventions. `transitions`: (2n-1,) of each, 0 SHIFT, 1 REDUCE.
        Sentences run in batches of BATCH_NODES nodes; what comes out for one does not depend on the others.
        Raises InputError, naming the sentence (from 0), for one without words or whose transitions are no single tree.
        """
        if len(words) != len(transitions):
            raise InputError(f"{len(words)} sentences need as many trees, found {len(transitions)}")
        lengths = check_lengths(words)
        found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(words)
        for positions in batches(lengths, nodes=BATCH_NODES):
            places = positions.tolist()
            steps = joined_transitions([transitions[i] for i in places], lengths[positions], positions)
            scores = self._run(self._word_inputs([words[i] for i in places], places), steps)
            ends = np.cumsum(2 * lengths[positions] - 1).tolist()
            for place, start, end in zip(places, [0, *ends], ends, strict=False):
                found[place] = scores[start:end]
        return found

    def predict(self, sentences: Sequence[Sequence[str]], *, source: TreeSource = "auto") -> list[Prediction]:
        """Predictions over sentences of words (treebank conventions), whose trees are made as `source` says.

        "auto" is what the model was trained to get. Raises InputError as `node_scores` does.
        """
        check_lengths(sentences)
        return self._predictions(sentences, list(map(self.tree_maker(source), sentences)))

    def predict_trees(self, trees: Sequence[Tree]) -> list[Prediction]:
        """Predictions over the words and nodes of binary trees. Raises TreeError, naming the tree (from 0), for any other."""
        steps = []
        for position, tree in enumerate(trees):
            try:
                steps.append(tree.transitions)
            except TreeError as error:
                raise TreeError(f"tree {position}: {error}") from None
        return self._predictions([tree.words for tree in trees], steps)

    def tree_maker(self, source: TreeSource = "auto") -> TreeMaker:
        """The function from the n >= 1 words of a sentence to its transitions (2n-1,); "auto" is the model's own source."""
        return tree_maker(self.config.tree_source if source == "auto" else source, self._distances)

    def _predictions(self, words: Sequence[Sequence[str]], steps: Sequence[NDArray[np.int8]]) -> list[Prediction]:
        rows = self.node_scores(words, steps)
        return [Prediction.of_words(*parts, self.labels) for parts in zip(words, steps, rows, strict=True)]

    def _start(self) -> None:
        self._session, self.device = open_session(
            self._model, device=self._requested, threads=self.threads, source=self._source
        )
        found = {item.name: item.type for item in self._session.get_inputs()}
        outputs = [item.name for item in self._session.get_outputs()]
        if self.config.trees != "binary" or "node_scores" not in outputs:
            raise BundleError(
                f"{self._source}: expected a model that scores the nodes of binary trees; it reads {self.config.trees} trees "
                f"and gives {', '.join(outputs)}; run the file itself with onnxruntime"
            )
        expected = _INPUTS[self.config.embedding.kind]
        if sorted(found) != sorted(expected) or not set(found.values()) <= _INDEX_TYPES.keys():
            raise BundleError(f"{self._source}: expected the int32 or int64 inputs {', '.join(expected)}; found {found}")
        self._check_metadata(self._session.get_modelmeta().custom_metadata_map)
        self._types = {name: _INDEX_TYPES[kind] for name, kind in found.items()}
        self._process = os.getpid()

    def _check_metadata(self, metadata: dict[str, str]) -> None:
        """A vocabulary or labels that the model was not exported with would give ids beyond its table, or wrong names."""
        own = {
            "vocabulary_digest": self.vocabulary.digest(),
            "labels": json.dumps(self.labels, ensure_ascii=False),
            "embedding": self.config.embedding.kind,
        }
        for key, value in own.items():
            if metadata.get(key, value) != value:
                raise BundleError(
                    f"{self._source}: exported with {key} {metadata[key]:.80}, but the bundle has {value:.80}; {MEND}"
                )

    def _word_inputs(self, words: list[Sequence[str]], places: list[int]) -> dict[str, NDArray[np.int64]]:
        flat = list(chain.from_iterable(words))
        try:
            ids = self.vocabulary.ids(flat)
        except (TypeError, AttributeError):
            for place, sentence in zip(places, words, strict=True):
                for word in sentence:
                    if not isinstance(word, str):
                        raise InputError(f"sentence {place}: a word is a string, found {word!r:.80}") from None
            raise
        arrays = ids if isinstance(ids, tuple) else (ids,)
        return dict(zip(_INPUTS[self.config.embedding.kind], arrays, strict=False))

    def _run(self, inputs: dict[str, NDArray[np.int64]], steps: NDArray[np.integer]) -> NDArray[np.float32]:
        if os.getpid() != self._process:
            _ORPHANS.append(self._session)
            self._start()
        feeds = {name: array.astype(self._types[name], copy=False) for name, array in {**inputs, "transitions": steps}.items()}
        try:
            scores: NDArray[np.float32] = self._session.run(["node_scores"], feeds)[0]
        except Exception as error:  # onnxruntime's errors have no base class of their own
            raise BundleError(f"{self._source}: the model failed on {len(steps)} nodes: {error}") from None
        if scores.shape != (len(steps), len(self.labels)) or not np.isfinite(scores).all():
            raise BundleError(
                f"{self._source}: expected finite scores of {len(steps)} nodes and {len(self.labels)} labels; "
                f"found shape {scores.shape}, {int((~np.isfinite(scores)).sum())} not finite"
            )
        return scores


def _reopen(path: str, device: Device, threads: int | None) -> Predictor:
    return Predictor(open_bundle(path), device=device, threads=threads)
