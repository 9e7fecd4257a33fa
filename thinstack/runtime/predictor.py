"""`Predictor`: a bundle's ONNX model in onnxruntime. It needs numpy and an onnxruntime only."""

import json
import os
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import MEND, ONNX_FILE
from thinstack.config import Device, TreeSource
from thinstack.core import Forest, Tree
from thinstack.core.forest import WORD_FIELDS
from thinstack.core.transitions import first_fault
from thinstack.data.tree_sources import TreeMaker, tree_maker
from thinstack.errors import BundleError, InputError, TreeError
from thinstack.runtime.batching import BATCH_NODES, batches, check_words, lengths_of, piece_counts
from thinstack.runtime.long_sentences import MAX_WORDS, Limits, cuts_of, joined, parts_of
from thinstack.runtime.prediction import Prediction, Scored
from thinstack.runtime.session import open_session
from thinstack.runtime.why import Contribution, contributions

__all__ = ["Predictor", "Scored", "Trees"]

Trees = TreeSource | Sequence[NDArray[np.integer]]
"""The trees of sentences: where they come from, or the transitions (2n-1,) of each, 0 SHIFT and 1
REDUCE."""

PARSE_OUTPUT = "parse"
"""The output of the trees that a model makes; not "transitions", which is an input."""

_INDEX_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}

# The trees of models that it runs, and the inputs that tell them (one that parses: both).
_TREES = {"binary": ["transitions"], "sequence": ["lengths"]}

# What the head of a bundle reads whose ONNX file does not tell, as none before this did.
_READS = {"root_classifier.v1": "roots"}

# Sessions of a parent process, kept alive: their end would wait for threads that a fork has not.
_ORPHANS: list[Any] = []


class Predictor:
    """The scores that a bundle's model gives to sentences and, where phrases were trained, to all
    their phrases.

    May be shared by any number of threads; a forked process starts its own session. Pickled, it is
    the path of its bundle, which is opened and checked again.

    Attributes:
        bundle, config, vocabulary: what it was made from.
        labels: the C class names.
        phrases: whether it scores phrases, or, with a task head that reads roots and of plain
            sentences, sentences alone.
        device: "cpu" or "cuda", what it really runs on.
        threads: of one operator on the CPU; None is as many as the process has cores.
        max_words: of a sentence that is read as a whole; a longer one is cut
            (`thinstack.runtime.long_sentences`), unless its tree is given.

    Raises BundleError if the bundle has no usable ONNX model, MissingExtraError without
    onnxruntime, DeviceError if `device` is "cuda" and CUDA does not work ("auto" then warns and
    takes the CPU), InputError unless 1 <= `threads` <= 256 and 2 <= `max_words`.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: Device = "cpu",
        threads: int | None = None,
        max_words: int = MAX_WORDS,
    ):
        if not isinstance(max_words, int) or max_words < 2:
            raise InputError(f"max_words is {max_words!r}; expected a whole number, at least 2")
        self.max_words = max_words
        self.bundle, self.config, self.labels = bundle, bundle.config, bundle.config.labels
        self.vocabulary = bundle.vocabulary()
        self._distances = bundle.distances()
        self.threads, self._requested = threads, device
        self._source = str(bundle.path / ONNX_FILE)
        self._model = bundle.read(ONNX_FILE)
        self.device: Literal["cpu", "cuda"]
        self._session: Any
        self._parses, self._has_trees = self.config.parses, self.config.trees != "sequence"
        self._start()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopen, (str(self.bundle.path), self._requested, self.threads, self.max_words)

    def __repr__(self) -> str:
        return f"<Predictor of {self.bundle.path} on {self.device}: {', '.join(self.labels)}>"

    def node_scores(
        self, words: Sequence[Sequence[str]], transitions: Sequence[NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]:
        """The scores of `trees_and_scores`."""
        return [found.scores for found in self.trees_and_scores(words, transitions)]

    def trees_and_scores(
        self, words: Sequence[Sequence[str]], trees: Trees = "auto"
    ) -> list[Scored]:
        """The tree of each sentence and the probabilities of the classes for every node, in
        transition order, or for the sentence alone.

        `words`: the n >= 1 words of each sentence, in treebank conventions. `trees`: their trees,
        or where these come from: "auto" is what the model was trained for, "self" the parse that
        the model makes as it scores. Sentences run in batches of `BATCH_NODES` nodes; the others in
        its batch change a sentence's scores by rounding only, which could tip a parse where SHIFT
        and REDUCE score alike. A model of plain sentences takes "auto" alone, and makes no tree.
        A sentence of more than `max_words` words is scored in parts, unless its tree is given.
        Raises InputError for a source that the model does not have, and,
        naming the sentence (from 0), for one without words or whose transitions are no single tree;
        BundleError if the model fails, or its parses are no trees.
        """
        lengths = lengths_of(words)
        limits = Limits(self.max_words, self._most_pieces, self.vocabulary)
        if cuts := cuts_of(words, lengths, limits, given=not isinstance(trees, str)):
            parts, owners = parts_of(words, cuts)
            scored = self._scored(parts, lengths_of(parts), trees, owners)
            return joined(scored, owners, cuts, phrases=self.phrases)
        return self._scored(words, lengths, trees)

    def _scored(
        self,
        words: Sequence[Sequence[str]],
        lengths: NDArray[np.int64],
        trees: Trees,
        owners: Sequence[int] | None = None,
    ) -> list[Scored]:
        """`trees_and_scores` without cutting. `owners`: the sentence that each is a part of, for
        messages."""
        steps = self._given(words, trees)
        found: dict[int, Scored] = {}
        widths = None if self._most_pieces is None else piece_counts(words, self.vocabulary)
        most = BATCH_NODES[self.device]
        for positions, transitions in batches(lengths, steps, nodes=most, widths=widths):
            places, sizes = positions.tolist(), 2 * lengths[positions] - 1
            names = places if owners is None else [owners[place] for place in places]
            fields = self._word_fields([words[i] for i in places], names)
            forest = Forest(
                sizes=sizes, lengths=lengths[positions], transitions=transitions, **fields
            )
            batch, ends = self._run(forest, names), np.cumsum(sizes).tolist()
            rows = ends if self.phrases else range(1, len(places) + 1)
            cuts = zip(places, [0, *ends], ends, [0, *rows], rows, strict=False)
            for place, start, end, first, last in cuts:
                found[place] = Scored(batch.transitions[start:end], batch.scores[first:last])
        return [found[place] for place in range(len(words))]

    def predict(
        self, sentences: Sequence[Sequence[str]], *, source: Trees = "auto"
    ) -> list[Prediction]:
        """Predictions over sentences of words. Sources and errors are those of
        `trees_and_scores`."""
        found = zip(sentences, self.trees_and_scores(sentences, source), strict=True)
        return [
            Prediction.of_words(words, *each[:2], self.labels, parts=each.parts, predictor=self)
            for words, each in found
        ]

    def why(self, prediction: Prediction) -> list[Contribution]:
        """What each phrase contributes to the label of a prediction, which this model made. Raises
        InputError as `thinstack.runtime.why.contributions`."""
        return contributions(self, prediction)

    def predict_trees(self, trees: Sequence[Tree]) -> list[Prediction]:
        """Predictions over binary trees; a model of plain sentences reads their words. Raises
        TreeError, naming the tree (from 0), for others."""
        if not self._has_trees:
            return self.predict([tree.words for tree in trees])
        steps = []
        for position, tree in enumerate(trees):
            try:
                steps.append(tree.transitions)
            except TreeError as error:
                raise TreeError(f"tree {position}: {error}") from None
        return self.predict([tree.words for tree in trees], source=steps)

    def tree_maker(self, source: TreeSource = "auto") -> TreeMaker:
        """What makes the trees of a source (of plain sentences no steps at all). Raises InputError
        for one that the model lacks."""
        if not self._has_trees:
            self._check_no_trees(source)
            return lambda words: np.zeros(0, np.int8)

        def parser(words: Sequence[str]) -> NDArray[np.int8]:
            return self.trees_and_scores([words], "self")[0].transitions

        return tree_maker(self._resolved(source), self._distances, parser if self._parses else None)

    def _resolved(self, source: TreeSource) -> str:
        return self.config.tree_source if source == "auto" else source

    def _given(
        self, words: Sequence[Sequence[str]], trees: Trees
    ) -> Sequence[NDArray[np.integer]] | None:
        """The trees that the model is given, or None where it makes its own or has none."""
        if not self._has_trees:
            self._check_no_trees(trees)
            return None
        if not isinstance(trees, str):
            if len(words) != len(trees):
                raise InputError(f"{len(words)} sentences need as many trees, found {len(trees)}")
            return trees
        if self._parses and self._resolved(trees) == "self":
            return None
        return list(map(self.tree_maker(trees), words))

    def _check_no_trees(self, trees: Trees) -> None:
        if not isinstance(trees, str) or trees != "auto":
            found = repr(trees) if isinstance(trees, str) else "transitions"
            raise InputError(
                f"this model reads plain sentences and takes no trees, found {found}; leave the "
                "tree source out, or say auto"
            )

    def _start(self) -> None:
        self._session, self.device = open_session(
            self._model, device=self._requested, threads=self.threads, source=self._source
        )
        found = {item.name: item.type for item in self._session.get_inputs()}
        outputs = [item.name for item in self._session.get_outputs()]
        metadata = self._session.get_modelmeta().custom_metadata_map
        reads = metadata.get("reads", _READS.get(self.config.head.name))
        self.phrases = self._has_trees and reads != "roots"
        self._output = "node_scores" if self.phrases else "root_scores"
        if self.config.trees not in _TREES or self._output not in outputs:
            raise BundleError(
                f"{self._source}: expected a model of binary trees or of plain sentences that gives"
                f" {self._output}; it reads {self.config.trees} trees and gives "
                f"{', '.join(outputs)}; run the file itself with onnxruntime"
            )
        trees = ["lengths", "transitions"] if self._parses else _TREES[self.config.trees]
        expected = [*WORD_FIELDS[self.config.embedding.kind], *trees]
        if "lengths" in found and "lengths" not in trees and self.config.embedding.name:
            expected.append("lengths")  # for words in their context
        if sorted(found) != sorted(expected) or not set(found.values()) <= _INDEX_TYPES.keys():
            wanted = f"the int32 or int64 inputs {', '.join(expected)}"
            raise BundleError(f"{self._source}: expected {wanted}; found {found}")
        if self._parses and PARSE_OUTPUT not in outputs:
            raise BundleError(
                f"{self._source}: the configuration says that the model parses, but it gives no "
                f"{PARSE_OUTPUT}, only {', '.join(outputs)}; {MEND}"
            )
        self._check_metadata(metadata)
        most_pieces = metadata.get("max_pieces")
        self._most_pieces = int(most_pieces) if most_pieces is not None else None
        self._types = {name: _INDEX_TYPES[kind] for name, kind in found.items()}
        self._process = os.getpid()

    def _check_metadata(self, metadata: dict[str, str]) -> None:
        """With another vocabulary or other labels, ids or names would be wrong."""
        own = {
            "vocabulary_digest": self.vocabulary.digest(),
            "labels": json.dumps(self.labels, ensure_ascii=False),
            "embedding": self.config.embedding.kind,
            "parses": json.dumps(self._parses),
        }
        for key, value in own.items():
            if metadata.get(key, value) != value:
                found = f"{key} {metadata[key]:.80}, but the bundle has {value:.80}"
                raise BundleError(f"{self._source}: exported with {found}; {MEND}")

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
        if os.getpid() != self._process:
            _ORPHANS.append(self._session)
            self._start()
        feeds = {
            name: getattr(forest, name).astype(kind, copy=False)
            for name, kind in self._types.items()
        }
        parses = self._parses and not forest.transitions.size
        try:
            scores, *parse = self._session.run([self._output, PARSE_OUTPUT][: 1 + parses], feeds)
        except Exception as error:  # onnxruntime's errors have no base class of their own
            problem = f"the model failed on {nodes} nodes: {error}"
            raise BundleError(f"{self._source}: {problem}") from None
        if scores.shape != (rows, len(self.labels)) or not np.isfinite(scores).all():
            expected = f"finite {self._output} of {rows} rows and {len(self.labels)} labels"
            infinite = (~np.isfinite(scores)).sum()
            problem = f"expected {expected}; found shape {scores.shape}, {infinite} not finite"
            raise BundleError(f"{self._source}: {problem}")
        if not parses:
            return Scored(forest.transitions.astype(np.int8), scores)
        (steps,) = parse
        if steps.shape != (nodes,) or not np.issubdtype(steps.dtype, np.integer):
            wrong = f"expected {nodes} transitions, found shape {steps.shape} of {steps.dtype}"
            raise BundleError(f"{self._source}: {wrong}")
        if fault := first_fault(steps, forest.sizes):
            problem = f"the model's own parse is no tree: sentence {places[fault[0]]}: {fault[1]}"
            raise BundleError(f"{self._source}: {problem}")
        return Scored(steps.astype(np.int8), scores)


def _reopen(path: str, device: Device, threads: int | None, max_words: int) -> Predictor:
    return Predictor(open_bundle(path), device=device, threads=threads, max_words=max_words)
