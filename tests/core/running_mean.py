"""A third party's encoder, in torch and ONNX: a word's vector is the mean of the words of its
sentence up to it."""

from typing import Any

import torch
from torch import Tensor, nn

from thinstack.core.encoder import Encoder, Encoding, plain_encoding
from thinstack.export.onnx import encoder as onnx_encoder
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value


class RunningMean(Encoder):
    """tanh(W m), where m is the mean of the sentence's words up to each one."""

    name = "running_mean.v1"
    summary = "the mean of the word vectors so far"
    onnx = "core.running_mean"

    def __init__(self, *, input_size: int, hidden_size: int, scale: float = 1):
        super().__init__(hidden_size=hidden_size, structure="lengths", words_at_leaves=False)
        self.weight = nn.Parameter(scale * torch.randn(input_size, hidden_size))

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        means, roots = running_means(words, inputs["lengths"].long().to(words.device))
        stacked = torch.tanh(means @ self.weight)
        places = torch.arange(words.shape[0], device=words.device)
        return plain_encoding(stacked, places, stacked.index_select(0, roots))


def running_means(words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Means (L, X) and positions of the roots (B,), of tensors and of values of ONNX alike."""
    ends, position = torch.cumsum(lengths, 0), torch.arange(words.size(0), device=words.device)
    starts = ends - lengths
    first = torch.zeros_like(position).index_fill(0, starts, 1)
    start = starts.index_select(0, torch.cumsum(first, 0) - 1)
    sums, later = torch.cumsum(words, 0), start > 0
    before = sums.index_select(0, torch.where(later, start - 1, start))
    total = sums - before * later.float().unsqueeze(1)
    return total / (position - start + 1).float().unsqueeze(1), ends - 1


def encode(
    g: Graph, encoder: RunningMean, words: onnx_encoder.Words, inputs: dict[str, Value], **_: Any
) -> onnx_encoder.Encoding:
    means, roots = running_means(words.vectors, inputs["lengths"].long())
    weight = g.weight(encoder.weight.detach().numpy(), "encoder.weight")
    stacked = means.op("MatMul", weight).tanh()
    return onnx_encoder.Encoding(
        root_nodes=roots,
        places=Value.arange(stacked.size(0)),
        stacked=stacked,
        roots=stacked.index_select(0, roots),
    )
