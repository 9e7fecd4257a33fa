"""The embedding `transformer.v1` in an ONNX graph."""

from typing import Any, cast

import numpy as np
import onnx
import torch

from thinstack.export.onnx.encoder import TABLE, Table, Words, mean_by_word, words_of
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_module, inline
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize
from thinstack.plugins.embeddings.transformer import (
    FAR_BELOW,
    TransformerEmbedding,
    grid_of,
    tokens_of,
)
from thinstack.plugins.embeddings.transformer.layers import Transformer

STATIC = TABLE.replace("table", "static")
EPSILON = 1e-5  # of torch's layer_norm


def words(
    g: Graph, embedding: TransformerEmbedding, inputs: dict[str, Value], quantize: Quantize
) -> Words:
    """Write the vectors of words in context, as in `TransformerEmbedding.forward`."""
    pieces, counts, lengths = (inputs[name].long() for name in embedding.index_names)
    tokens = cast(Any, tokens_of)(pieces, counts, lengths, embedding.first, embedding.last)
    extents: Value = tokens.ends - tokens.starts + 1
    longest = extents.largest(1)
    grid, inside = cast(Any, grid_of)(tokens, Value.arange(longest))
    mask = inside.op("Where", 0.0, FAR_BELOW).unsqueeze(1).unsqueeze(1)
    table = Table(g, embedding.table.detach().numpy(), quantize)
    rows, places = table.rows(tokens.ids), tokens.sentence * longest + tokens.positions
    read = [rows, tokens.positions, grid, mask, places]
    width = embedding.table.shape[1]
    (states,) = inline(g, _exported(embedding.encoder, width), read)

    beside = [states]
    if embedding.rows:
        ones = np.ones(width, np.float32)
        beside.append(rows.op("LayerNormalization", ones, axis=-1, epsilon=EPSILON))
    if embedding.static is not None:
        static = Table(g, embedding.static.detach().numpy(), quantize, STATIC)
        beside.append(static.rows(tokens.ids))
    _, owner = words_of(pieces, counts)
    vectors = Value.cat(beside, 1).index_select(0, tokens.pieces)
    means = mean_by_word(vectors, embedding.size, owner, counts)
    return Words(means, means)


def _exported(encoder: Transformer, width: int) -> onnx.GraphProto:
    tokens, batch, time = 7, 2, 5
    examples = [
        torch.rand(tokens, width),
        torch.arange(tokens),
        torch.zeros(batch, time, dtype=torch.long),
        torch.zeros(batch, 1, 1, time),
        torch.zeros(tokens, dtype=torch.long),
    ]
    flat, grid = {0: "tokens"}, {0: "sentences", 1: "time"}
    mask = {0: "sentences", 3: "time"}
    return export_module(encoder, "encoder", examples, [flat, flat, grid, mask, flat])
