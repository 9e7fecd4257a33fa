"""A model over given trees of any kind: leaf embedding, encoder and task head."""

import torch
from torch import Tensor

from thinstack.core.depth_ordered import in_node_order
from thinstack.core.embedding import Embedding
from thinstack.core.encoder import Encoder, Encoding
from thinstack.core.head import TaskHead
from thinstack.core.schedule import (
    Schedule,
    child_rows,
    schedule_lengths,
    schedule_parents,
    schedule_transitions,
    tree_numbers,
)
from thinstack.models.model import Model, Structure, check_transitions, pair_rows

__all__ = ["TreeModel"]


class TreeModel(Model):
    """Encodes a forest of B trees over N nodes and L words, and scores nodes, trees, or pairs of
    trees.

    Inputs, int32 or int64, are named:

    - those of the embedding: `token_ids` (L,), or `piece_ids` (P,) and `pieces_per_word` (L,);
    - the trees: `transitions` (N,), 0 SHIFT and 1 REDUCE; or `parents` (N,), each node's position
      of its parent in the whole forest, -1 for a root, with `slots` (N,) for cells of a fixed arity
      above 1 (which child of its parent a node is, from 0) and `kinds` (N,) for cells that tell
      edge types apart (>= 1); or `lengths` (B,), the words of each sentence;
    - `constituents` (N,) for a head that reads candidates: the label of each inner node, from 0;
      each needs one.

    Words stand at the leaves, or at every node (dependency trees, sentences); then L = N.
    """

    def __init__(
        self,
        *,
        embedding: Embedding,
        encoder: Encoder,
        head: TaskHead,
        structure: Structure = "transitions",
    ):
        cells = [layer.up.cell for layer in encoder.stack()]
        super().__init__(
            embedding=embedding,
            head=head,
            structure=structure,
            words_at_leaves=encoder.words_at_leaves,
            arity=max(cell.arity for cell in cells),
            kinds=max(cell.kinds for cell in cells),
        )
        self.encoder = encoder
        if structure == "parents" and self.arity > 1:
            self.input_names.append("slots")
        if structure == "parents" and self.kinds > 1:
            self.input_names.append("kinds")
        if head.reads == "candidates":
            self.input_names.append("constituents")

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores as every `Model` gives them; for candidates `node_scores` (N, C), 0 at leaves, and
        `tree_scores` (B, 1), the sum over the constituents of each tree."""
        schedule = self.schedule(inputs)
        encoding = self.encode(inputs, schedule)
        if self.head.reads == "pairs":
            return {
                "pair_scores": self.head.scores(pair_rows(encoding.roots)),
                "sentence_vectors": encoding.roots,
            }
        if self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding, schedule))
            leaves = scores.new_zeros([schedule.leaves.shape[0], scores.shape[1]])
            nodes = in_node_order(torch.cat([leaves, scores]), schedule)
            trees = self.tree_scores(scores, inputs["constituents"], schedule)
            return {"node_scores": nodes, "tree_scores": trees}
        nodes = in_node_order(self.head.scores(encoding.stacked), schedule)
        return {"node_scores": nodes, "root_scores": self.head.scores(encoding.roots)}

    def logits(self, inputs: dict[str, Tensor]) -> Tensor:
        """What the task head's `loss` takes, see `Model`."""
        schedule = self.schedule(inputs)
        encoding = self.encode(inputs, schedule)
        if self.head.reads == "nodes":
            return in_node_order(self.head(encoding.stacked), schedule)
        if self.head.reads == "candidates":
            scores = self.head.scores(constituent_rows(encoding, schedule))
            return self.tree_scores(scores, inputs["constituents"], schedule).squeeze(1)
        logits: Tensor = self.head(
            encoding.roots if self.head.reads == "roots" else pair_rows(encoding.roots)
        )
        return logits

    def schedule(self, inputs: dict[str, Tensor]) -> Schedule:
        """The schedule of the forest that the inputs describe.

        Raises ValueError for transitions that make no trees, parents outside the forest or with a
        cycle, slots or kinds that the cell does not have, two children in one slot, and sentences
        without words.
        """
        if self.structure == "transitions":
            check_transitions(inputs["transitions"])
            return schedule_transitions(inputs["transitions"])
        if self.structure == "lengths":
            if bool((inputs["lengths"] < 1).any()):
                raise ValueError("lengths must be at least 1: leave out sentences without words")
            return schedule_lengths(inputs["lengths"])
        parents = inputs["parents"].long()
        check_range("parents", parents, -1, parents.shape[0] - 1)
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
        words = self.embed(inputs)
        expected = schedule.leaves.shape[0] if self.words_at_leaves else schedule.stacked.shape[0]
        if words.shape[0] != expected:
            raise ValueError(
                f"expected {expected} words, one for each node that has one, found {words.shape[0]}"
            )
        encoding: Encoding = self.encoder(words, schedule)
        return encoding

    def tree_scores(self, scores: Tensor, constituents: Tensor, schedule: Schedule) -> Tensor:
        """Score of each tree (B, 1): the sum over its inner nodes of the score (I, C) of the node's
        own label (N,)."""
        labels = constituents.long().index_select(0, schedule.inner)
        own = scores.gather(1, labels.unsqueeze(1))
        # Roots come last in their trees, for candidates are binary trees in transition order.
        tree = tree_numbers(schedule).index_select(0, schedule.inner)
        return scores.new_zeros([schedule.roots.shape[0], 1]).index_add(0, tree, own)


def check_range(name: str, values: Tensor, least: int, greatest: int) -> None:
    """Raise ValueError for values outside [least, greatest]."""
    if bool(((values < least) | (values > greatest)).any()):
        raise ValueError(
            f"{name} must be from {least} to {greatest}, found {int(values.min())} to "
            f"{int(values.max())}"
        )


def constituent_rows(encoding: Encoding, schedule: Schedule) -> Tensor:
    """Rows (I, 2H + W) for a head that reads candidates: the outputs of both children and the
    head-word vector."""
    children = encoding.stacked.index_select(0, child_rows(schedule).flatten())
    rows = children.view(schedule.inner.shape[0], 2 * encoding.stacked.shape[1])
    return torch.cat([rows, encoding.words[schedule.leaves.shape[0] :]], 1)
