"""The layers of BERT (Devlin et al. 2019) and MPNet (Song et al. 2020), without padding."""

from typing import Final, Literal

import torch
from torch import Tensor, nn

from thinstack.core.cell import matrix, vector
from thinstack.core.embedding import drawn
from thinstack.core.fast import affine, gelu

ModelType = Literal["bert", "mpnet"]
"""The kind of an encoder, as in the transformers library."""


EPSILON: Final[dict[ModelType, float]] = {"bert": 1e-12, "mpnet": 1e-5}
"""The epsilon of layer norms."""
BUCKETS, EXACT, FARTHEST = 32, 8, 128
"""The buckets of `RelativeBias`: their number, the distances per side with a bucket each, and the
distance from which on all share one."""


class Linear(nn.Module):
    """y = x W + b, with W (in, out).

    Attributes:
        bound: (in,) an approximate upper bound of the absolute values in each column of x, 0 if
            unknown. Exports in 8 bits round x with it.
    """

    bound: Tensor

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.register_buffer("bound", torch.zeros(inputs))
        self.w = matrix(inputs, outputs)
        self.b = vector(outputs)

    def forward(self, rows: Tensor) -> Tensor:
        return affine(self.b, rows, self.w)


class RelativeBias(nn.Module):
    """Biases of attention by distance (Raffel et al. 2020, 2.1): a number for each head and bucket
    of distances, shared by all layers.

    On each side, distances below 8 have a bucket each. Farther buckets grow so that two of them
    double the distance, up to 128.
    """

    bucket: Tensor

    def __init__(self, heads: int):
        super().__init__()
        self.weight = nn.Parameter(drawn(BUCKETS, heads, std=0.02))
        self.register_buffer("bucket", _buckets(), persistent=False)

    def forward(self, places: int) -> Tensor:
        """Return biases (1, heads, places, places)."""
        place, farthest = torch.arange(places, device=self.bucket.device), len(self.bucket) // 2
        distance = (place.unsqueeze(0) - place.unsqueeze(1)).clamp(-farthest, farthest)
        by_distance = self.weight.index_select(0, self.bucket).t()
        bias = by_distance.index_select(1, (distance + farthest).flatten())
        return bias.view(1, self.weight.shape[1], places, places)


def _buckets() -> Tensor:
    """Return the buckets (257,) of the distances from -128 to 128."""
    distance = torch.arange(-FARTHEST, FARTHEST + 1)
    near, half = distance.abs(), BUCKETS // 2
    # By squares, which are exact, unlike logarithms.
    bounds = torch.tensor([EXACT**2 << k for k in range(1, half - EXACT)])
    bucket = near.clamp(max=EXACT) + (near.square().unsqueeze(1) >= bounds).sum(1)
    return bucket + half * (distance > 0)


class TransformerLayer(nn.Module):
    """Self-attention and a feed-forward network with residuals and layer norms (Vaswani et al.
    2017, sections 3.1-3.3):

        x := norm(x + O attention(Q x, K x, V x))
        x := norm(x + B gelu(A x))

    Only attention sees padding, because everything else works row by row.
    """

    def __init__(
        self, *, width: int, heads: int, feed_forward: int, dropout: float, epsilon: float
    ):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.query, self.key, self.value = (Linear(width, width) for _ in range(3))
        self.mix = Linear(width, width)
        self.wider, self.narrower = Linear(width, feed_forward), Linear(feed_forward, width)
        self.attended = nn.LayerNorm(width, epsilon)
        self.transformed = nn.LayerNorm(width, epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, rows: Tensor, grid: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Run the layer; `mask` (B, 1 or heads, 1 or T, T) is added to the attention scores, and
        the other arguments are as in `Transformer.forward`."""
        # Not torch's fused attention, whose backward pass is slow for short sentences.
        query = self._by_head(self.query(rows), grid) * self.scale
        key, value = self._by_head(self.key(rows), grid), self._by_head(self.value(rows), grid)
        weights = (query @ key.transpose(2, 3) + mask).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).flatten(0, 1).flatten(1)
        rows = self.attended(rows + self.dropout(self.mix(mixed.index_select(0, places))))
        hidden = gelu(self.wider(rows))
        normed: Tensor = self.transformed(rows + self.dropout(self.narrower(hidden)))
        return normed

    def _by_head(self, rows: Tensor, grid: Tensor) -> Tensor:
        """Return the rows as (B, heads, T, width / heads)."""
        padded = rows.index_select(0, grid.flatten())
        sizes = [grid.shape[0], grid.shape[1], self.heads, rows.shape[1] // self.heads]
        return padded.view(sizes).transpose(1, 2)


class Transformer(nn.Module):
    """A stack of layers that computes contextual vectors of the tokens of concatenated sentences.

    Args:
        width: width D of a token's vector.
        layers, heads: number of layers, and of attention heads of a layer.
        feed_forward: width inside the feed-forward network of a layer.
        positions: number of position vectors; later positions share the last one.
        dropout: dropout rate of the embedded tokens, and of the output of each half of a layer.
        model_type: the kind of encoder.
    """

    def __init__(
        self,
        *,
        width: int,
        layers: int,
        heads: int,
        feed_forward: int,
        positions: int,
        dropout: float,
        model_type: ModelType = "bert",
    ):
        super().__init__()
        epsilon = EPSILON[model_type]
        # The vectors of the positions include BERT's vector of the first token type.
        self.position = nn.Parameter(drawn(positions, width, std=0.02))
        self.norm, self.dropout = nn.LayerNorm(width, epsilon), nn.Dropout(dropout)
        self.relative = RelativeBias(heads) if model_type == "mpnet" else None
        sizes = {"width": width, "heads": heads, "feed_forward": feed_forward}
        self.layers = nn.ModuleList(
            TransformerLayer(**sizes, dropout=dropout, epsilon=epsilon) for _ in range(layers)
        )

    def forward(
        self, rows: Tensor, positions: Tensor, grid: Tensor, mask: Tensor, places: Tensor
    ) -> Tensor:
        """Return contextual vectors (M, D) of M tokens.

        Args:
            rows: (M, D) vectors of the tokens, from the table.
            positions: (M,) the index of each token in its sentence.
            grid: (B, T) the token at each place of each sentence; any of its tokens beyond its end.
            mask: (B, 1, 1, T) added to attention scores: 0 for a token, far below 0 for padding.
            places: (M,) the place of each token in the flat grid.
        """
        placed = self.position.index_select(0, positions.clamp(max=self.position.shape[0] - 1))
        states: Tensor = self.dropout(self.norm(rows + placed))
        if self.relative is not None:
            mask = mask + self.relative(grid.shape[1])
        for layer in self.layers:
            states = layer(states, grid, mask, places)
        return states
