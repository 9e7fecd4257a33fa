"""A model: leaf embedding, encoder and task head, with the signature that its exports have."""

from torch import Tensor, nn

from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import in_node_order
from thinstack.core.encoder import BottomUp, Encoding
from thinstack.core.head import TaskHead
from thinstack.core.schedule import Schedule, schedule_transitions
from thinstack.models.embedding import WordEmbedding, WordpieceEmbedding

__all__ = ["TreeModel", "WordModel", "WordpieceModel"]


class TreeModel(nn.Module):
    """What word and wordpiece models share: an encoder over binary trees and a task head that reads single nodes."""

    def __init__(self, *, embedding: WordEmbedding | WordpieceEmbedding, cell: Cell, head: TaskHead):
        super().__init__()
        self.embedding = embedding
        self.encoder = BottomUp(cell)
        self.head = head

    def encode(self, words: Tensor, schedule: Schedule) -> Encoding:
        """Encode a forest from the inputs (L, X) of its words."""
        encoding: Encoding = self.encoder(words, schedule)
        return encoding

    def node_logits(self, words: Tensor, transitions: Tensor) -> Tensor:
        """Unnormalised scores (N, C) of all nodes, in transition order, from word inputs (L, X) and transitions (N,)."""
        schedule = schedule_transitions(transitions)
        logits: Tensor = self.head(self.encode(words, schedule).stacked)
        return in_node_order(logits, schedule)

    def scores(self, words: Tensor, transitions: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all nodes (N, C), in transition order, and of the roots (B, C)."""
        schedule = schedule_transitions(transitions)
        encoding = self.encode(words, schedule)
        return in_node_order(self.head.scores(encoding.stacked), schedule), self.head.scores(encoding.roots)

    def embed(self, inputs: list[Tensor]) -> Tensor:
        """Word inputs (L, X) from the model's own index inputs, in the order of its signature."""
        raise NotImplementedError("a TreeModel must define embed")


class WordModel(TreeModel):
    """A model over a table of words."""

    def forward(self, token_ids: Tensor, transitions: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all nodes (N, C) and of the roots (B, C) from word ids (L,) and transitions (N,) of B binary trees."""
        return self.scores(self.embedding(token_ids), transitions)

    def embed(self, inputs: list[Tensor]) -> Tensor:
        """Word inputs (L, X) from [token_ids (L,)]."""
        words: Tensor = self.embedding(inputs[0])
        return words


class WordpieceModel(TreeModel):
    """A model over a table of wordpieces."""

    def forward(self, piece_ids: Tensor, pieces_per_word: Tensor, transitions: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of all nodes (N, C) and of the roots (B, C) from piece ids (P,), pieces per word (L,) and transitions (N,)."""
        return self.scores(self.embedding(piece_ids, pieces_per_word), transitions)

    def embed(self, inputs: list[Tensor]) -> Tensor:
        """Word inputs (L, X) from [piece_ids (P,), pieces_per_word (L,)]."""
        words: Tensor = self.embedding(inputs[0], inputs[1])
        return words
