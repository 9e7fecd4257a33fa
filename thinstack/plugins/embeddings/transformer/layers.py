"""The layers of BERT (Devlin et al. 2019) and MPNet (Song et al. 2020), over sentences without
padding."""

from typing import Final, Literal, NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.cell import matrix, vector
from thinstack.core.embedding import drawn
from thinstack.core.fast import affine, gelu

__all__ = ["ARCHITECTURES", "Architecture", "Linear", "ModelType", "RelativeBias", "Transformer"]

ModelType = Literal["bert", "mpnet"]
"""A kind of encoder, as transformers calls it."""


class Architecture(NamedTuple):
    """What tells the kinds of encoders apart.

    Attributes:
        epsilon: added to the variance where vectors are normalised.
        relative: whether attention has a `RelativeBias`.
    """

    epsilon: float
    relative: bool


ARCHITECTURES: Final[dict[ModelType, Architecture]] = {
    "bert": Architecture(epsilon=1e-12, relative=False),
    "mpnet": Architecture(epsilon=1e-5, relative=True),
}
BUCKETS, EXACT, FARTHEST = 32, 8, 128
"""Of distances in `RelativeBias`: their number, how many distances to a side have their own, and
from where on all distances share one."""


class Linear(nn.Module):
    """y = x W + b, with W (in, out).

    Attributes:
        bound: (in,), which the absolute values of each column of x seldom exceed; 0 if that is not
            known. Exports in 8 bits round x by it.
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
    """What attention adds for the distance from the place that reads to the place that is read
    (Raffel et al. 2020, 2.1): a number for each head and bucket of distances, the same in all
    layers.

    To each side, distances below 8 have buckets of their own. Beyond, a bucket reaches so far that
    two buckets double the distance, up to 128.
    """

    bucket: Tensor

    def __init__(self, heads: int):
        super().__init__()
        self.weight = nn.Parameter(drawn(BUCKETS, heads, std=0.02))
        self.register_buffer("bucket", _buckets(), persistent=False)

    def forward(self, places: int) -> Tensor:
        """(1, heads, places, places)."""
        place, farthest = torch.arange(places, device=self.bucket.device), len(self.bucket) // 2
        distance = (place.unsqueeze(0) - place.unsqueeze(1)).clamp(-farthest, farthest)
        by_distance = self.weight.index_select(0, self.bucket).t()
        bias = by_distance.index_select(1, (distance + farthest).flatten())
        return bias.view(1, self.weight.shape[1], places, places)


def _buckets() -> Tensor:
    """(257,) the buckets of the distances from -128 to 128."""
    distance = torch.arange(-FARTHEST, FARTHEST + 1)
    near, half = distance.abs(), BUCKETS // 2
    # Squares are whole numbers, while logarithms differ in their last digit.
    bounds = torch.tensor([EXACT**2 << k for k in range(1, half - EXACT)])
    bucket = near.clamp(max=EXACT) + (near.square().unsqueeze(1) >= bounds).sum(1)
    return bucket + half * (distance > 0)


class TransformerLayer(nn.Module):
    """Self-attention and a feed-forward net, each added to what it reads and normalised (Vaswani et
    al. 2017, sections 3.1-3.3):

        x := norm(x + O attention(Q x, K x, V x))
        x := norm(x + B gelu(A x))

    Everything but attention goes row by row, so only attention sees padding.
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
        """`mask` (B, 1 or heads, 1 or T, T) is added to the scores of attention. The others are as
        in `Transformer.forward`."""
        # Written out: torch's fused attention is slow going back through short sentences.
        query = self._by_head(self.query(rows), grid) * self.scale
        key, value = self._by_head(self.key(rows), grid), self._by_head(self.value(rows), grid)
        weights = (query @ key.transpose(2, 3) + mask).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).flatten(0, 1).flatten(1)
        rows = self.attended(rows + self.dropout(self.mix(mixed.index_select(0, places))))
        hidden = gelu(self.wider(rows))
        normed: Tensor = self.transformed(rows + self.dropout(self.narrower(hidden)))
        return normed

    def _by_head(self, rows: Tensor, grid: Tensor) -> Tensor:
        """(B, heads, T, width / heads)."""
        padded = rows.index_select(0, grid.flatten())
        sizes = [grid.shape[0], grid.shape[1], self.heads, rows.shape[1] // self.heads]
        return padded.view(sizes).transpose(1, 2)


class Transformer(nn.Module):
    """A stack of layers that gives the tokens of B sentences, one after the other, vectors in their
    context.

    Args:
        width: D of a token's vector.
        layers: number of layers.
        heads: number of attention heads of a layer.
        feed_forward: width inside the feed-forward net of a layer.
        positions: number of places that have a vector of their own. Later places in a sentence take
            the vector of the last one.
        dropout: applied to the embedded tokens and to what each half of a layer adds.
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
        epsilon, relative = ARCHITECTURES[model_type]
        # The vectors of the positions include BERT's vector of the first token type.
        self.position = nn.Parameter(drawn(positions, width, std=0.02))
        self.norm, self.dropout = nn.LayerNorm(width, epsilon), nn.Dropout(dropout)
        self.relative = RelativeBias(heads) if relative else None
        sizes = {"width": width, "heads": heads, "feed_forward": feed_forward}
        self.layers = nn.ModuleList(
            TransformerLayer(**sizes, dropout=dropout, epsilon=epsilon) for _ in range(layers)
        )

    def forward(
        self, rows: Tensor, positions: Tensor, grid: Tensor, mask: Tensor, places: Tensor
    ) -> Tensor:
        """Contextual vectors (M, D) of M tokens.

        Args:
            rows: (M, D) vectors of the tokens, from the table.
            positions: (M,) the place of each token in its sentence, from 0.
            grid: (B, T) the number of the token at each place of each sentence. Beyond the end of a
                sentence it is any token of that sentence.
            mask: (B, 1, 1, T) what is added to the attention to each place: 0 for a token, a number
                far below 0 for padding.
            places: (M,) the place of each token in the flat grid.
        """
        placed = self.position.index_select(0, positions.clamp(max=self.position.shape[0] - 1))
        states: Tensor = self.dropout(self.norm(rows + placed))
        if self.relative is not None:
            mask = mask + self.relative(grid.shape[1])
        for layer in self.layers:
            states = layer(states, grid, mask, places)
        return states
