"""The inputs and outputs of a bundle's ONNX file, and their validation."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.bundle.manifest import MEND
from thinstack.core.config import ModelConfig
from thinstack.core.forest import WORD_FIELDS
from thinstack.core.transitions import REDUCE, first_fault, is_tree, nodes_over
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import BundleError

PARSE_OUTPUT = "parse"
"""The output with the model's own parses; "transitions" is an input."""

INDEX_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}
"""Input dtypes by onnxruntime's type names."""

# The tree types of supported models, and the inputs that carry them (a parser has both).
_TREES = {"binary": ["transitions"], "sequence": ["lengths"]}

_PROBABLE = frozenset(
    {"node_classifier.v1", "root_classifier.v1", "similarity.v1", "entailment.v1"}
)
"""Task heads whose scores are class probabilities; scores of third-party heads may be anything."""

_FLOAT32 = np.dtype(np.float32)
_ROUNDING = 1e-3  # tolerance for a sum of float32 probabilities, far above the rounding error
_FEW = 128  # below this many nodes, plain Python checks a tree faster than numpy


class Interface(NamedTuple):
    """The inputs and outputs of a model.

    Attributes:
        types: {input name: dtype}.
        outputs: the names of the outputs with scores and vectors, as far as they exist.
        width: the number of columns of a vector; 0 for a model without vectors.
        phrases: whether phrases have scores or vectors; otherwise only whole sentences do.
        most_pieces: the maximum word pieces per sentence; None without a limit.
        probable: whether the scores are class probabilities.
        joins: whether the model composes its parses of sentences into one tree per text, controlled
            by the input `breaks`, and scores phrases.
        reads_pairs, rates_pairs: whether the model reads pairs of texts, and rates them.
    """

    types: dict[str, Any]
    outputs: list[str]
    width: int
    phrases: bool
    most_pieces: int | None
    probable: bool
    joins: bool
    reads_pairs: bool
    rates_pairs: bool


def interface_of(
    session: Any, config: ModelConfig, vocabulary: Vocabulary, source: str
) -> Interface:
    """Return the interface of a session's model. Raises BundleError, naming the file `source`, if a
    predictor cannot run the model, or if it does not match the configuration and the vocabulary."""
    inputs: dict[str, str] = session.inputs
    outputs: list[str] = session.outputs
    metadata: dict[str, str] = session.metadata
    reads = metadata.get("reads")
    phrases = config.trees != "sequence" and reads not in ("roots", "pairs")
    rows = "node" if phrases else "root"
    scores, vectors = f"{rows}_scores", f"{rows}_vectors"
    expected_outputs = [scores] * bool(config.labels) + [vectors] * config.gives_vectors
    if reads == "pairs":
        expected_outputs = ["pair_scores"]
    if config.trees not in _TREES or not {*outputs} >= {*expected_outputs}:
        raise BundleError(
            f"{source}: expected a binary-tree or plain-sentence model with the outputs "
            f"{' and '.join(expected_outputs)}; it reads {config.trees} trees and has "
            f"{', '.join(outputs)}; run it directly with onnxruntime"
        )
    trees = ["lengths", "transitions"] if config.parses else _TREES[config.trees]
    expected = [*WORD_FIELDS[config.embedding.kind], *trees]
    if texts := config.aggregation == "tree":
        expected.insert(-1, "breaks")
    # This input is for words in context; a parser uses its lengths for trees.
    if "lengths" in inputs and "lengths" not in trees and PARSE_OUTPUT not in outputs:
        expected.append("lengths")
    if sorted(inputs) != sorted(expected) or not set(inputs.values()) <= INDEX_TYPES.keys():
        wanted = f"the int32 or int64 inputs {', '.join(expected)}"
        raise BundleError(f"{source}: expected {wanted}; found {inputs}")
    if config.parses and PARSE_OUTPUT not in outputs:
        raise BundleError(
            f"{source}: the configuration declares a parser, but the model has no output "
            f"{PARSE_OUTPUT}, only {', '.join(outputs)}; {MEND}"
        )
    _check_metadata(metadata, config, vocabulary, source)
    types = {name: INDEX_TYPES[kind] for name, kind in inputs.items()}
    most = _number(metadata, "max_pieces", source)
    if most is not None and config.embedding.kind != "wordpieces":
        wrong = f"max_pieces needs a word-piece model, found '{most}'"
        raise BundleError(f"{source}: {wrong}; {MEND}")
    probable = config.head.name in _PROBABLE
    width = _number(metadata, "vector_size", source) or 0
    if bool(width) != config.gives_vectors:
        raise BundleError(f"{source}: expected vector_size, for {vectors}, found {width}; {MEND}")
    kind = texts and phrases, reads == "pairs", "rates" in metadata
    return Interface(types, expected_outputs, width, phrases, most, probable, *kind)


class Batch(NamedTuple):
    """A batch of S sentences in T trees.

    Attributes:
        fields: the input arrays by name.
        lengths: (S,) the number of words of each sentence.
        places: (S,) the index of each sentence, for messages.
        sizes: (T,) the number of nodes of each tree.
        tops: the transitions over the sentences of each tree; empty if each sentence is a tree.
    """

    fields: Mapping[str, NDArray[np.integer]]
    lengths: Sequence[int]
    places: Sequence[int]
    sizes: Sequence[int]
    tops: Sequence[NDArray[np.integer]] = ()

    @property
    def nodes(self) -> int:
        """The number of nodes in all trees."""
        return sum(self.sizes)


def _number(metadata: dict[str, str], key: str, source: str) -> int | None:
    """Return a positive number from the metadata, or None if it is absent."""
    if (number := metadata.get(key)) is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
        raise BundleError(f"{source}: expected a number for {key}, found {number!r:.40}; {MEND}")
    return int(number)


def _check_metadata(
    metadata: dict[str, str], config: ModelConfig, vocabulary: Vocabulary, source: str
) -> None:
    """Check that vocabulary and labels match the file; otherwise ids or names would be wrong."""
    expected = {
        "vocabulary_digest": vocabulary.digest(),
        "labels": json.dumps(config.labels, ensure_ascii=False),
        "embedding": config.embedding.kind,
        "parses": json.dumps(config.parses),
    }
    for key, value in expected.items():
        if metadata.get(key, value) != value:
            problem = f"{key} {metadata[key]:.80}, but the bundle has {value:.80}"
            raise BundleError(f"{source}: exported with {problem}; {MEND}")


def check_rows(
    rows: NDArray[np.floating], shape: tuple[int, int], output: str, source: str, *, probable: bool
) -> None:
    """Raise BundleError unless the scores or vectors of a model are finite and have this shape. If
    `probable`, they must also be probabilities, so that each row sums to 1."""
    if not isinstance(rows, np.ndarray) or rows.dtype != _FLOAT32:
        kind = getattr(rows, "dtype", type(rows).__name__)
        raise BundleError(f"{source}: expected {output} as float32, found {kind}; {MEND}")
    if rows.shape != shape or not np.isfinite(rows).all():
        number, columns = shape
        expected = f"finite {output} of {number} rows and {columns} columns"
        infinite = (~np.isfinite(rows)).sum()
        problem = f"expected {expected}; found shape {rows.shape}, {infinite} not finite"
        raise BundleError(f"{source}: {problem}")
    if not (probable and rows.size):
        return
    sums = rows.sum(axis=1, dtype=np.float64)
    if rows.min() < 0 or max(rows.max(), sums.max()) > 1 + _ROUNDING or sums.min() < 1 - _ROUNDING:
        worst = sums[np.abs(sums - 1).argmax()]
        raise BundleError(
            f"{source}: expected probabilities from 0 to 1 that sum to 1 in each row; found "
            f"{output} from {rows.min():.3g} to {rows.max():.3g} and a sum of {worst:.3g}; "
            f"{MEND}"
        )


def check_parse(steps: NDArray[np.integer], batch: Batch, source: str) -> None:
    """Raise BundleError unless the model's transitions are valid trees over the sentences of a
    batch."""
    nodes = batch.nodes
    if steps.shape != (nodes,) or steps.dtype.kind not in "iu":
        wrong = f"expected {nodes} transitions, found shape {steps.shape} of {steps.dtype}"
        raise BundleError(f"{source}: {wrong}")
    if len(batch.lengths) == 1 and nodes <= _FEW and is_tree(steps.tolist()):
        return
    sizes = 2 * np.array(batch.lengths) - 1
    if batch.tops:
        top = np.concatenate(batch.tops)
        joints = nodes_over(top, sizes)[top == REDUCE]
        if not (steps[joints] == REDUCE).all():
            raise BundleError(f"{source}: the model's parse crosses sentence boundaries")
        steps = np.delete(steps, joints)
    if fault := first_fault(steps, sizes):
        problem = (
            f"the model's parse of sentence {batch.places[fault[0]]} is not a tree: {fault[1]}"
        )
        raise BundleError(f"{source}: {problem}")
