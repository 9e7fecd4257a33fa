"""The class of every model: a leaf embedding, an encoder and a task head."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder, Encoding
from thinstack.core.forest import Forest
from thinstack.core.head import TaskHead
from thinstack.core.schedule import tree_numbers


class Joint(NamedTuple):
    """The parts of SPINN's joint objective, (7) of Bowman et al. 2016. `logits`, the input of the
    task head's `loss`, are unnormalized scores of nodes (N, C) in node order, of roots (B, C) or of
    pairs (B / 2, C), or the scores of candidate trees (B,)."""

    logits: Tensor
    choices: Tensor  # the input of the encoder's `judge`, as in an `Encoding`
    free: Tensor


class Model(nn.Module):
    """A module that encodes a forest of B trees over N nodes and L words, and scores nodes, trees,
    or pairs of trees.

    Inputs, int32 or int64, are the fields of a `Forest` for the embedding and the encoder, and
    `constituents` for a head that reads candidates. A model that parses predicts the trees if
    `transitions` is empty or missing; otherwise, you may omit `lengths`. Without `breaks`, every
    sentence is a tree. If every node has a word (dependency trees, sentences), L = N.

    Inputs are on the host even if the model is on a GPU, which then composes without waiting. For
    TorchScript on a GPU, they must be on the device.

    Attributes:
        head: the task head.
        vectors: a second head of nodes, which returns vectors in addition to the scores of `head`,
            or None. A `head` of pairs reads its vectors of the roots.
        pair_scale: factor of the inputs of a head of pairs: vectors get the length sqrt(D), so that
            their columns are about as large as outputs of roots.
        parses: whether the model predicts the trees if you do not pass any.
        oracle: the encoder's oracle, None if it does not parse.
        input_names, output_names: the names of the inputs and outputs of `forward`, in order.
        class_sets: (S, C) the weight of each class in each of S user labels (`set_matrix`), to
            which training and evaluation sum the scores of the classes, or None.
    """

    class_sets: Tensor | None = None

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Encoder,
        head: TaskHead,
        vectors: TaskHead | None = None,
    ):
        super().__init__()
        self.embedding, self.head, self.encoder = embedding, head, encoder
        self.vectors = vectors
        self.pair_scale = 1.0 if vectors is None else math.sqrt(vectors.classes)
        self.parses = encoder.parses
        self.oracle = encoder.oracle if encoder.parses else None
        self.input_names = list(dict.fromkeys([*embedding.index_names, *encoder.input_names]))
        outputs = {
            "pairs": ["pair_scores", "sentence_vectors"],
            "candidates": ["node_scores", "tree_scores"],
        }
        nodes, roots = f"node_{head.gives}", f"root_{head.gives}"
        self.of_nodes, self.of_roots = nodes, roots
        self.output_names = outputs.get(head.reads, [nodes, roots])
        if vectors is not None and head.reads != "pairs":
            self.output_names = [*self.output_names, "node_vectors", "root_vectors"]
        if head.reads == "candidates":
            self.input_names.append("constituents")
        if self.parses:
            self.output_names = [*self.output_names, "parse"]

    def inputs(self, forest: Forest) -> dict[str, Tensor]:
        """Return the fields of a batch that the model reads, by name, on the host."""
        fields = forest.inputs(self.input_names)
        return {name: torch.from_numpy(values) for name, values in fields.items()}

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the task head's `scores` by name.

        - For a head that reads nodes or roots: `node_scores` (N, C) in node order, `root_scores`
          (B, C). If it returns vectors, `node_vectors` (N, D) and `root_vectors` (B, D); a second
          head `vectors` adds these to the scores.
        - For pairs: `pair_scores` (B / 2, C) of trees 2k and 2k + 1, `sentence_vectors` (B, H) or,
          with a head `vectors`, (B, D).
        - For candidates: `node_scores` (N, C), 0 at leaves, and `tree_scores` (B, 1), the sum over
          the constituents of each tree.
        - For a model that parses also `parse` (N,), the predicted transitions.

        Raises ValueError for inconsistent inputs.
        """
        encoding = self.encode(inputs, False)
        outputs: dict[str, Tensor] = {}
        if self.head.reads == "pairs":
            sides = self._sides(encoding.roots)
            outputs["pair_scores"] = self.head.scores(pair_rows(sides) * self.pair_scale)
            outputs["sentence_vectors"] = sides
        elif self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding))
            nodes = scores.new_zeros([encoding.places.shape[0], scores.shape[1]])
            outputs["node_scores"] = nodes.index_copy(0, encoding.inner, scores)
            outputs["tree_scores"] = tree_scores(scores, inputs["constituents"], encoding)
        else:
            scores = self.head.scores(encoding.stacked)
            outputs[self.of_nodes] = scores.index_select(0, encoding.places)
            outputs[self.of_roots] = self.head.scores(encoding.roots)
            if self.vectors is not None:
                vectors = self.vectors.scores(encoding.stacked)
                outputs["node_vectors"] = vectors.index_select(0, encoding.places)
                outputs["root_vectors"] = self.vectors.scores(encoding.roots)
        if self.parses:
            outputs["parse"] = encoding.transitions
        return outputs

    def encode(self, inputs: dict[str, Tensor], track: bool) -> Encoding:
        """Encode the forest. `track`: whether to return the scores of transitions."""
        return self.encoder.encode(self.embed(inputs), inputs, track)

    def choose_trees(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return `parse` (N,) of `forward`. Raises ValueError for inconsistent inputs."""
        return self.encoder.choose_trees(self.embed(inputs), inputs)

    def embed(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return the vectors (L, X) of the words. Raises ValueError for pieces that do not match
        their words, or words that do not match their sentences."""
        if "pieces_per_word" in self.input_names:
            counts, pieces = inputs["pieces_per_word"], inputs["piece_ids"].shape[0]
            if bool((counts < 1).any()) or int(counts.sum()) != pieces:
                raise ValueError(
                    f"pieces_per_word must each be at least 1 and add up to {pieces}, the number "
                    f"of piece_ids; found a sum of {int(counts.sum())}"
                )
            if "lengths" in self.embedding.index_names:
                lengths = inputs["lengths"]
                if bool((lengths < 1).any()) or int(lengths.sum()) != counts.shape[0]:
                    raise ValueError(
                        f"lengths must each be at least 1 and add up to {counts.shape[0]}, the "
                        f"number of words; found a sum of {int(lengths.sum())}"
                    )
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            names = [] if self.embedding.plans else self.embedding.index_names
            device = self.embedding.table.device
            inputs = inputs | {name: inputs[name].to(device, non_blocking=True) for name in names}
        words: Tensor = self.embedding(inputs)
        return words

    def joint(self, inputs: dict[str, Tensor], track: bool = True) -> Joint:
        """Return the parts of the joint objective for input trees, with `choices` if `track`."""
        encoding = self.encode(inputs, track)
        if self.head.reads == "nodes":
            logits = self.head(encoding.stacked).index_select(0, encoding.places)
        elif self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding))
            logits = tree_scores(scores, inputs["constituents"], encoding).squeeze(1)
        elif self.head.reads == "pairs":
            logits = self.head(pair_rows(self._sides(encoding.roots)) * self.pair_scale)
        else:
            logits = self.head(encoding.roots)
        return Joint(logits, encoding.choices, encoding.free)

    def _sides(self, roots: Tensor) -> Tensor:
        """Return what a head of pairs reads of each tree: the output of its root, or its vector."""
        return roots if self.vectors is None else self.vectors.scores(roots)


def pair_rows(roots: Tensor) -> Tensor:
    """Concatenate trees 2k and 2k + 1 into rows (B / 2, 2H). Raises ValueError if B is odd."""
    if roots.shape[0] % 2 != 0:
        raise ValueError(f"expected an even number of trees (pairs), found {roots.shape[0]}")
    return roots.view(roots.shape[0] // 2, 2 * roots.shape[1])


def constituent_rows(encoding: Encoding) -> Tensor:
    """Return rows (I, 2H + W) of candidates: the outputs of both children and the head word."""
    places, inner = encoding.places, encoding.inner
    children = encoding.stacked.index_select(0, places.take(encoding.children - 1).flatten())
    rows = children.view(inner.shape[0], 2 * encoding.stacked.shape[1])
    return torch.cat([rows, encoding.words.index_select(0, places.index_select(0, inner))], 1)


def tree_scores(scores: Tensor, constituents: Tensor, encoding: Encoding) -> Tensor:
    """Return the score of each tree (B, 1): the sum over its inner nodes of the score (I, C) of the
    node's label (N,). The root is the last node of its tree."""
    labels = constituents.to(scores.device, non_blocking=True).long()
    of_label = scores.gather(1, labels.index_select(0, encoding.inner).unsqueeze(1))
    tree = tree_numbers(encoding.places, encoding.root_nodes).index_select(0, encoding.inner)
    return scores.new_zeros([encoding.root_nodes.shape[0], 1]).index_add(0, tree, of_label)
