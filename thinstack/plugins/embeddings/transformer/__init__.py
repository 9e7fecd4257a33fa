"""A leaf embedding of words in context, by a transformer."""

from typing import Annotated, Final, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from thinstack.core.config.base import Count, Rate
from thinstack.core.embedding import Embedding, FineTuning, drawn
from thinstack.core.schedule import arange, moved
from thinstack.errors import ConfigError
from thinstack.plugins.embeddings.transformer.layers import ModelType, Transformer

FAR_BELOW = -1e9
"""The mask of padding, added to attention scores; its exponential is 0."""

FINE_TUNING: Final = FineTuning(
    texts=20_000,
    epochs=(3, 12),
    training={
        "batch_size": 16,
        "rule": "adamw",
        "learning_rate": 1e-3,
        "encoder_learning_rate": 1e-4,
        "vector_learning_rate": 1e-4,
        "vector_rule": "adagrad",
        "weight_decay": 0.01,
        "warm_up": 0.1,
        "clip": 5.0,
        "precision": "auto",
        "average": 0.0,
    },
    own_classes={"learning_rate": 2e-4, "encoder_learning_rate": 3e-5},
    quantize="int8",
)


class Tokens(NamedTuple):
    """The pieces of B sentences, each between two special tokens: M = P + 2B."""

    ids: Tensor  # (M,) entries of the vocabulary
    positions: Tensor  # (M,) the index of each token in its sentence
    sentence: Tensor  # (M,) the index of its sentence
    starts: Tensor  # (B,) the first token of each sentence
    ends: Tensor  # (B,) the last token of each sentence
    pieces: Tensor  # (P,) the token of each piece
    word: Tensor  # (P,) the word of each piece


class TransformerEmbedding(Embedding):
    """A word is the mean of the outputs of its pieces, from a BERT (Devlin et al. 2019) or MPNet
    (Song et al. 2020) that reads the whole sentence between two special pieces.

    Optionally appends context-free vectors: the mean of the word's rows in the encoder's own table
    (`rows`), in a separate one (`static`), or both.

    If `data.encoder` names a pretrained encoder, the sizes must match it; fewer `layers` mean its
    lowest ones.

    Args:
        entries: V, the number of entries of the vocabulary.
        size: X, the width of the encoder, twice with `rows`, plus `static`.
        dropout: dropout rate of the context-free vectors.
        layers, heads, feed_forward, positions: sizes of the encoder, see `Transformer`.
        encoder_dropout: dropout rate inside the encoder.
        rows: whether to append the mean of the normalized rows that the encoder reads.
        static: number of columns of the separate table, which `data.vectors` fills.
        first, last: ids of the pieces before and after a sentence: `[CLS]` and `[SEP]` of BERT,
            `<s>` and `</s>` of MPNet.
        model_type: the kind of encoder, as in its `config.json`.
        narrowed: whether `feed_forward` may be less than a pretrained encoder's. Each layer then
            keeps the units with the largest weights.

    Raises ConfigError for sizes that do not match.
    """

    name = "transformer.v1"
    summary = "mean of a word's pieces in context, by BERT or MPNet"
    vocabulary = "wordpieces"
    onnx = "thinstack.plugins.embeddings.transformer.onnx"
    pretrained = "thinstack.plugins.embeddings.transformer.pretrained"
    fine_tuning = FINE_TUNING
    undecayed = ("encoder.position", "encoder.relative.weight")
    plans = True

    def __init__(
        self,
        *,
        entries: int,
        size: int,
        dropout: float = 0.0,
        layers: Count = 6,
        heads: Count = 12,
        feed_forward: Count = 1536,
        positions: Count = 512,
        encoder_dropout: Rate = 0.1,
        rows: bool = False,
        static: Annotated[int, Field(ge=0)] = 0,
        first: Annotated[int, Field(ge=0)] = 101,
        last: Annotated[int, Field(ge=0)] = 102,
        model_type: ModelType = "bert",
        narrowed: bool = False,
    ):
        width = (size - static) // (1 + rows)
        if width < heads or width % heads or width * (1 + rows) + static != size:
            twice = "twice " if rows else ""
            raise ConfigError(
                f"transformer.v1: expected size = {twice}the encoder's width + static, with a "
                f"width divisible by {heads} heads; found size = {size}, static = {static}"
            )
        names = ["piece_ids", "pieces_per_word", "lengths"]
        super().__init__(
            table_size=(entries, width), size=size, index_names=names, lookup="context"
        )
        self.max_pieces = positions - 2
        self.first, self.last, self.far_below = int(first), int(last), FAR_BELOW
        self.rows, beside = rows, drawn(entries, static, std=0.05)
        self.static = nn.Parameter(beside) if static else None
        self.dropout = nn.Dropout(dropout)
        self.encoder = Transformer(
            width=width,
            layers=layers,
            heads=heads,
            feed_forward=feed_forward,
            positions=positions,
            dropout=encoder_dropout,
            model_type=model_type,
        )

    def layers_above(self) -> dict[str, int]:
        layers, inside = len(self.encoder.layers), "encoder.layers."
        names = [name for name, _ in self.named_parameters() if name.startswith("encoder.")]
        return {
            name: layers - 1 - int(name.split(".")[2]) if name.startswith(inside) else layers
            for name in names
        }

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return vectors (L, X) of words, from `piece_ids` (P,), `pieces_per_word` (L,) and
        `lengths` (B,), the words of each sentence; the latter two are at least 1."""
        pieces, counts = inputs["piece_ids"].long(), inputs["pieces_per_word"].long()
        tokens = tokens_of(pieces, counts, inputs["lengths"].long(), self.first, self.last)
        extents = tokens.ends - tokens.starts + 1
        # On the host, because the number of tokens depends on values.
        longest = int(extents.max()) if extents.shape[0] > 0 else 1
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            tokens = moved(tokens, self.table)
            counts = counts.to(self.table.device, non_blocking=True)
        grid, inside = grid_of(tokens, arange(longest, counts.device))
        mask = torch.where(inside, 0.0, self.far_below).unsqueeze(1).unsqueeze(1)
        places = tokens.sentence * longest + tokens.positions
        rows = functional.embedding(tokens.ids, self.table, sparse=True)
        states = self.encoder(rows, tokens.positions, grid, mask, places)
        vectors = [_mean_by_word(states.index_select(0, tokens.pieces), tokens.word, counts)]
        if self.rows:
            normed = functional.layer_norm(rows.index_select(0, tokens.pieces), [rows.shape[1]])
            vectors.append(self.dropout(_mean_by_word(normed, tokens.word, counts)))
        if self.static is not None:
            static = self.static.index_select(0, tokens.ids.index_select(0, tokens.pieces))
            vectors.append(self.dropout(_mean_by_word(static, tokens.word, counts)))
        return torch.cat(vectors, 1)


def tokens_of(pieces: Tensor, counts: Tensor, lengths: Tensor, first: int, last: int) -> Tokens:
    """Return the tokens of B sentences.

    Args:
        pieces: (P,) entries of the vocabulary.
        counts: (L,) the number of pieces of each word.
        lengths: (B,) the number of words of each sentence.
        first, last: entries of the tokens to insert before and after a sentence.
    """
    sentences, ends_of_words = lengths.size(0), torch.cumsum(counts, 0)
    ends_of_pieces = ends_of_words.index_select(0, torch.cumsum(lengths, 0) - 1)
    ends = ends_of_pieces + 2 * arange(sentences, pieces.device) + 1
    starts = torch.cat([torch.zeros_like(ends)[:1], ends[:-1] + 1])
    unmarked = pieces.new_zeros([pieces.size(0) + 2 * sentences])
    marked = unmarked.index_fill(0, starts, 1)
    sentence = torch.cumsum(marked, 0) - 1
    row = arange(pieces.size(0) + 2 * sentences, pieces.device)
    inner = row.masked_select(marked.index_fill(0, ends, 1) < 1)
    around = unmarked.index_fill(0, starts, first).index_fill(0, ends, last)
    starts_of_words = torch.zeros_like(pieces).index_fill(0, ends_of_words - counts, 1)
    return Tokens(
        ids=around.index_copy(0, inner, pieces),
        positions=row - starts.index_select(0, sentence),
        sentence=sentence,
        starts=starts,
        ends=ends,
        pieces=inner,
        word=torch.cumsum(starts_of_words, 0) - 1,
    )


def grid_of(tokens: Tokens, time: Tensor) -> tuple[Tensor, Tensor]:
    """Return the token at each place of each sentence (B, T), the last one beyond its end, and
    whether the place is inside the sentence (B, T). `time`: (T,) from 0 to the greatest length."""
    ends = tokens.ends.unsqueeze(1)
    row = tokens.starts.unsqueeze(1) + time
    return torch.minimum(row, ends), row <= ends


def _mean_by_word(rows: Tensor, word: Tensor, counts: Tensor) -> Tensor:
    total = rows.new_zeros([counts.shape[0], rows.shape[1]]).index_add(0, word, rows)
    return total / counts.unsqueeze(1)
