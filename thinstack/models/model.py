"""What every model is: leaf embedding, encoder and task head. It and its exports take and give
tensors by the same names."""

from typing import Literal

import torch
from torch import Tensor, nn

from thinstack.core.embedding import Embedding
from thinstack.core.forest import Forest
from thinstack.core.head import TaskHead

__all__ = ["Model", "Structure", "check_transitions", "pair_rows"]

Structure = Literal["transitions", "parents", "lengths"]
"""How a model is told its trees: as transitions of binary trees, as parents of any trees, or as
lengths of plain sentences."""


class Model(nn.Module):
    """A model over trees.

    Attributes:
        structure: how it is told its trees.
        parses: whether it makes trees of its own where it is given none.
        words_at_leaves: whether only leaves have a word.
        arity: of its cells; kinds: number of edge types that they tell apart.
        input_names, output_names: of what `forward` takes and gives, in order.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        head: TaskHead,
        structure: Structure = "transitions",
        parses: bool = False,
        words_at_leaves: bool = True,
        arity: int = 2,
        kinds: int = 0,
    ):
        super().__init__()
        self.embedding, self.head = embedding, head
        self.structure: str = structure
        self.parses, self.words_at_leaves = parses, words_at_leaves
        self.arity, self.kinds = arity, kinds
        self.input_names = [*embedding.index_names, structure]
        outputs = {
            "pairs": ["pair_scores", "sentence_vectors"],
            "candidates": ["node_scores", "tree_scores"],
        }
        self.output_names = outputs.get(head.reads, ["node_scores", "root_scores"])

    def inputs(self, forest: Forest) -> dict[str, Tensor]:
        """The fields of a batch that the model reads, by name, on its device."""
        device = self.embedding.table.device
        return {
            name: torch.from_numpy(getattr(forest, name)).to(device) for name in self.input_names
        }

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores, as the task head's `scores` gives them, by name.

        - A head that reads nodes or roots: `node_scores` (N, C) in node order, `root_scores` (B,
          C).
        - Pairs: `pair_scores` (B / 2, C) of trees 2k and 2k + 1, `sentence_vectors` (B, H).
        """
        raise NotImplementedError("a Model must define forward")

    def embed(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors (L, X) of the words. Raises ValueError for pieces that do not fit their words,
        which an embedding would read as those of other words."""
        if "pieces_per_word" in self.input_names:
            counts, pieces = inputs["pieces_per_word"], inputs["piece_ids"].shape[0]
            if bool((counts < 1).any()) or int(counts.sum()) != pieces:
                raise ValueError(
                    f"pieces_per_word must be at least 1 each and {pieces} in all, as many as "
                    f"there are piece_ids; found a sum of {int(counts.sum())}"
                )
        words: Tensor = self.embedding(inputs)
        return words

    def logits(self, inputs: dict[str, Tensor]) -> Tensor:
        """What the task head's `loss` takes: unnormalised scores of nodes (N, C) in node order, of
        roots (B, C) or of pairs (B / 2, C), or the scores of trees (B,) that are candidates."""
        raise NotImplementedError("a Model must define logits")


def check_transitions(transitions: Tensor) -> None:
    """Raise ValueError unless transitions (N,) are those of whole binary trees."""
    # In torch, for TorchScript: `core.transitions.first_fault`, without saying where.
    depth = torch.cumsum(1 - 2 * transitions.long(), 0)
    if bool(((transitions != 0) & (transitions != 1) | (depth < 1)).any()):
        raise ValueError(
            "transitions must be 0 (SHIFT) or 1 (REDUCE), and each REDUCE needs two nodes on the "
            "stack"
        )


def pair_rows(roots: Tensor) -> Tensor:
    """Rows (B / 2, 2H) of trees 2k and 2k + 1 side by side. Raises ValueError for an odd number of
    trees."""
    if roots.shape[0] % 2 != 0:
        raise ValueError(f"expected pairs of trees, an even number, found {roots.shape[0]}")
    return roots.view(roots.shape[0] // 2, 2 * roots.shape[1])
