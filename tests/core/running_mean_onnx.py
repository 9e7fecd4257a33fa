"""`running_mean` in an ONNX graph."""

from typing import Any

from core.running_mean import RunningMean, running_means

from thinstack.export.onnx.encoder import Encoding, Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.value import Value


def encode(
    g: Graph, encoder: RunningMean, words: Words, inputs: dict[str, Value], **_: Any
) -> Encoding:
    means, roots = running_means(words.vectors, inputs["lengths"].long())
    weight = g.weight(encoder.weight.detach().numpy(), "encoder.weight")
    stacked = means.op("MatMul", weight).tanh()
    return Encoding(
        root_nodes=roots,
        places=Value.arange(stacked.size(0)),
        stacked=stacked,
        roots=stacked.index_select(0, roots),
    )
