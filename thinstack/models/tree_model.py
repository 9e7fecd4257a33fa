"""A model: leaf embedding, encoder and task head. It and its exports take and give tensors by the same names."""

from typing import Literal

import torch
from torch import Tensor, nn

from thinstack.core.depth_ordered import in_node_order
from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder, Encoding
from thinstack.core.head import TaskHead
from thinstack.core.schedule import Schedule, child_rows, root_rows, schedule_lengths, schedule_parents, schedule_transitions

__all__ = ["Structure", "TreeModel"]

Structure = Literal["transitions", "parents", "lengths"]
"""How a model is told its trees: as transitions of binary trees, as parents of any trees, or as lengths of plain sentences."""


class TreeModel(nn.Module):
    """Encodes a forest of B trees over N nodes and L words, and scores nodes, trees, or pairs of trees.

    Inputs, int32 or int64, are named:

    - those of the embedding: `token_ids` (L,), or `piece_ids` (P,) and `pieces_per_word` (L,);
    - the trees: `transitions` (N,), 0 SHIFT and 1 REDUCE; or `parents` (N,), each node's position of its parent in the whole
      forest, -1 for a root, with `slots` (N,) for cells of a fixed arity above 1 (which child of its parent a node is, from 0)
      and `kinds` (N,) for cells that tell edge types apart (>= 1); or `lengths` (B,), the words of each sentence;
    - `constituents` (N,) for a head that reads candidates: the label of each inner node, from 0; each needs one.

    Words stand at the leaves, or at every node (dependency trees, sentences); then L = N.

    Attributes:
        structure: how it is told its trees.
        input_names: names of its inputs, in order.
        arity: of its cells; kinds: number of edge types that they tell apart.
        output_names: of what `forward` gives, in order.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Encoder,
        head: TaskHead,
        structure: Structure = "transitions",
    ):
        super().__init__()
        self.embedding, self.encoder, self.head = embedding, encoder, head
        self.structure: str = structure
        cells = [layer.up.cell for layer in encoder.stack()]
        self.arity, self.kinds = max(cell.arity for cell in cells), max(cell.kinds for cell in cells)
        self.input_names = [*embedding.index_names, structure]
        if structure == "parents" and self.arity > 1:
            self.input_names.append("slots")
        if structure == "parents" and self.kinds > 1:
            self.input_names.append("kinds")
        if head.reads == "candidates":
            self.input_names.append("constituents")
        outputs = {"pairs": ["pair_scores", "sentence_vectors"], "candidates": ["node_scores", "tree_scores"]}
        self.output_names = outputs.get(head.reads, ["node_scores", "root_scores"])

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores, as the task head's `scores` gives them.

        - A head that reads nodes or roots: `node_scores` (N, C) in node order, `root_scores` (B, C).
        - Pairs: `pair_scores` (B / 2, C) of trees 2k and 2k + 1, `sentence_vectors` (B, H).
        - Candidates: `node_scores` (N, C), 0 at leaves; `tree_scores` (B, 1), the sum over the constituents of each tree.
        """
        schedule = self.schedule(inputs)
        encoding = self.encode(inputs, schedule)
        if self.head.reads == "pairs":
            return {"pair_scores": self.head.scores(pair_rows(encoding.roots)), "sentence_vectors": encoding.roots}
        if self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding, schedule))
            leaves = scores.new_zeros([schedule.leaves.shape[0], scores.shape[1]])
            nodes = in_node_order(torch.cat([leaves, scores]), schedule)
            return {"node_scores": nodes, "tree_scores": self.tree_scores(scores, inputs["constituents"], schedule)}
        nodes = in_node_order(self.head.scores(encoding.stacked), schedule)
        return {"node_scores": nodes, "root_scores": self.head.scores(encoding.roots)}

    def logits(self, inputs: dict[str, Tensor]) -> Tensor:
        """What the task head's `loss` takes: unnormalised scores of nodes (N, C) in node order, of roots (B, C) or of pairs
        (B / 2, C), or the scores of trees (B,) that are candidates."""
        schedule = self.schedule(inputs)
        encoding = self.encode(inputs, schedule)
        if self.head.reads == "nodes":
            return in_node_order(self.head(encoding.stacked), schedule)
        if self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding, schedule))
            return self.tree_scores(scores, inputs["constituents"], schedule).squeeze(1)
        logits: Tensor = self.head(encoding.roots if self.head.reads == "roots" else pair_rows(encoding.roots))
        return logits

    def schedule(self, inputs: dict[str, Tensor]) -> Schedule:
        """The schedule of the forest that the inputs describe.

        Raises ValueError for parents with a cycle, slots or kinds that the cell does not have, two children in one slot, and
        for sentences without words.
        """
        if self.structure == "transitions":
            return schedule_transitions(inputs["transitions"])
        if self.structure == "lengths":
            if bool((inputs["lengths"] < 1).any()):
                raise ValueError("lengths must be at least 1: leave out sentences without words")
            return schedule_lengths(inputs["lengths"])
        parents = inputs["parents"].long()
        slots, kinds = torch.zeros_like(parents), torch.ones_like(parents)
        if "slots" in self.input_names:
            slots = inputs["slots"].long()
            check_range("slots", slots, 0, self.arity - 1)
            taken = (parents * self.arity + slots)[parents >= 0]
            if torch.unique(taken).shape[0] < taken.shape[0]:
                raise ValueError("slots put two children of a node in one place")
        if "kinds" in self.input_names:
            kinds = inputs["kinds"].long()
            check_range("kinds", kinds, 1, self.kinds)
        return schedule_parents(parents, slots, kinds, self.arity)

    def encode(self, inputs: dict[str, Tensor], schedule: Schedule) -> Encoding:
        """Encode the forest. Raises ValueError for another number of words than its nodes have."""
        words = self.embedding(inputs)
        expected = schedule.leaves.shape[0] if self.encoder.words_at_leaves else schedule.stacked.shape[0]
        if words.shape[0] != expected:
            raise ValueError(f"expected {expected} words, one for each node that has one, found {words.shape[0]}")
        encoding: Encoding = self.encoder(words, schedule)
        return encoding

    def tree_scores(self, scores: Tensor, constituents: Tensor, schedule: Schedule) -> Tensor:
        """Score of each tree (B, 1): the sum over its inner nodes of the score (I, C) of the node's own label (N,)."""
        labels = constituents.long().index_select(0, schedule.inner)
        own = scores.gather(1, labels.unsqueeze(1))
        roots = torch.cat([schedule.leaves, schedule.inner]).index_select(0, root_rows(schedule))
        # Roots come last in their trees, for candidates are binary trees in transition order.
        tree = torch.searchsorted(roots, schedule.inner)
        return scores.new_zeros([roots.shape[0], 1]).index_add(0, tree, own)


def check_range(name: str, values: Tensor, least: int, greatest: int) -> None:
    """Raise ValueError for values outside [least, greatest]."""
    if bool(((values < least) | (values > greatest)).any()):
        raise ValueError(f"{name} must be from {least} to {greatest}, found {int(values.min())} to {int(values.max())}")


def pair_rows(roots: Tensor) -> Tensor:
    """Rows (B / 2, 2H) of trees 2k and 2k + 1 side by side. Raises ValueError for an odd number of trees."""
    if roots.shape[0] % 2 != 0:
        raise ValueError(f"expected pairs of trees, an even number, found {roots.shape[0]}")
    return roots.view(roots.shape[0] // 2, 2 * roots.shape[1])


def constituent_rows(encoding: Encoding, schedule: Schedule) -> Tensor:
    """Rows (I, 2H + W) for a head that reads candidates: the outputs of both children and the head-word vector."""
    children = encoding.stacked.index_select(0, child_rows(schedule).flatten())
    inner = schedule.inner.shape[0]
    return torch.cat([children.view(inner, 2 * encoding.stacked.shape[1]), encoding.words[schedule.leaves.shape[0] :]], 1)
