"""A whole model as one ONNX file: indices and transitions in, the scores of every node and of every tree out.

The depth-ordered executor's loop and its schedule are part of the graph, written here by hand; what a plugin wrote (leaf,
compose and output of the cell, scores of the task head) is exported by torch and put in its place.
"""

import json
from typing import Literal

import numpy as np
import onnx

from thinstack._version import __version__
from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.cell import Cell
from thinstack.errors import ExportError
from thinstack.export.onnx_embedding import Table, mean_of_pieces
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_parts import Parts, export_parts, inline
from thinstack.export.onnx_schedule import Schedule, forest_of_transitions, schedule
from thinstack.export.quantize import Quantize, dequantised
from thinstack.models import TreeModel, WordModel, WordpieceModel
from thinstack.models.build import misfit

__all__ = ["IndexType", "export_onnx"]

FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL

IndexType = Literal["int32", "int64"]

INDEX_TYPES: dict[IndexType, int] = {"int32": onnx.TensorProto.INT32, "int64": onnx.TensorProto.INT64}


def export_onnx(
    model: TreeModel,
    config: ModelConfig,
    *,
    quantize: Quantize = "none",
    index_type: IndexType = "int32",
    vocabulary_digest: str,
) -> bytes:
    """Export a model of binary trees; the user's module is left as it is.

    Inputs, of `index_type`: `token_ids` (L,), or `piece_ids` (P,) and `pieces_per_word` (L,); `transitions` (N,), 0 SHIFT and
    1 REDUCE, of B trees one after the other. Outputs, float32: `node_scores` (N, C) in transition order and `root_scores`
    (B, C), as the task head's `scores` gives them. Inputs are not validated in the graph: a negative id would wrap silently.
    The metadata tell what the file holds.

    Raises ExportError if the configuration is not the model's, or a part cannot be exported (which, and why).
    """
    _check(model, config)
    stored = dequantised(model, quantize)
    cell = stored.encoder.executor.cell
    parts = export_parts(cell, stored.head)
    g = Graph("thinstack", half=quantize != "none")
    words, transitions = _inputs(g, model, quantize, INDEX_TYPES[index_type])
    plan = schedule(g, forest_of_transitions(g, transitions), cell.arity)
    stacked = _depth_ordered(g, cell, parts, g.op("Gather", words, plan.leaf_words), plan, stored.head.classes)
    node_scores = g.op("Gather", stacked, plan.stacked)
    g.output(node_scores, "node_scores", FLOAT, ["N", stored.head.classes])
    g.output(g.op("Gather", node_scores, plan.roots), "root_scores", FLOAT, ["B", stored.head.classes])
    metadata = {
        "schema_version": str(SCHEMA_VERSION),
        "labels": json.dumps(config.labels, ensure_ascii=False),
        "embedding": config.embedding.kind,
        "cell": config.cell.name,
        "head": config.head.name,
        "tree_source": config.tree_source,
        "vocabulary_digest": vocabulary_digest,
        "quantization": quantize,
        "producer_version": __version__,
    }
    return g.model(metadata, producer_version=__version__)


def _check(model: TreeModel, config: ModelConfig) -> None:
    cell = model.encoder.executor.cell
    expected = {"words": WordModel, "wordpieces": WordpieceModel}[config.embedding.kind]
    if not isinstance(model, expected):
        raise ExportError(f"the configuration says embedding {config.embedding.kind!r}, the model is a {type(model).__name__}")
    if model.head.classes != len(config.labels):
        raise ExportError(f"the configuration has {len(config.labels)} labels, the model {model.head.classes} classes")
    if problem := misfit(cell):
        raise ExportError(problem)


def _inputs(g: Graph, model: TreeModel, quantize: Quantize, dtype: int) -> tuple[str, str]:
    """Declare the inputs: word vectors (L, X) in node order, transitions (N,)."""
    table = Table(g, model.embedding.table.detach().cpu().float().numpy(), quantize)
    if isinstance(model, WordModel):
        words = table.rows(g.input("token_ids", dtype, ["L"]))
    else:
        words = mean_of_pieces(g, table, g.input("piece_ids", dtype, ["P"]), g.input("pieces_per_word", dtype, ["L"]))
    return words, g.input("transitions", dtype, ["N"])


def _depth_ordered(g: Graph, cell: Cell, parts: Parts, inputs: str, plan: Schedule, classes: int) -> str:
    """Scores (N, C) of all nodes in stacked order, from the leaves' inputs (L, X) in stacked order."""
    widths = cell.state_sizes
    leaves = inline(g, parts.leaf, [inputs])
    inner_inputs = g.op("ConstantOfShape", g.op("Concat", g.op("Shape", plan.inner), g.vector(cell.inner_size), axis=0))
    body = g.subgraph("compose_one_depth")
    step = body.input("step", INT64, [])
    go_on = body.input("go_on", BOOL, [])
    previous = [body.input(f"previous_{k}", FLOAT, [f"rows_{k}", width]) for k, width in enumerate(widths)]
    collected = body.input("scores", FLOAT, ["done", classes])

    bounds = body.ops("Split", body.op("Gather", plan.bounds, step), outputs=6, axis=0, num_outputs=6)
    below, here, level = bounds[0:2], bounds[2:4], bounds[4:6]
    none = body.constant(np.zeros(0, np.int64))
    pool = [body.op("Slice", part, *below, body.vector(0)) for part in leaves]
    if cell.arity:
        rows = body.op("Slice", plan.children, *here, body.vector(0))
        for k, width in enumerate(widths):
            absent = body.constant(np.zeros((1, width), np.float32))
            pool[k] = body.op("Gather", body.op("Concat", absent, previous[k], pool[k], axis=0), rows)
        owner, kind = none, body.op("Min", rows, body.scalar(1))
    else:
        pool = [body.op("Concat", previous[k], part, axis=0) for k, part in enumerate(pool)]
        owner = body.op("Slice", plan.owners, *level, body.vector(0))
        kind = body.op("ConstantOfShape", body.op("Shape", owner), value=onnx.helper.make_tensor("value", INT64, [1], [1]))
    state = inline(body, parts.compose, [body.op("Slice", inner_inputs, *here, body.vector(0)), owner, kind, *pool])
    (scores,) = inline(body, parts.scores, state)
    body.output(go_on, "go_on_next", BOOL, [])
    for k, width in enumerate(widths):
        body.output(state[k], f"state_{k}", FLOAT, [f"n_{k}", width])
    body.output(body.op("Concat", collected, scores, axis=0), "scores_next", FLOAT, ["done_next", classes])

    start = [g.constant(np.zeros((0, width), np.float32)) for width in widths]
    leaf_scores = inline(g, parts.scores, leaves)
    true = g.constant(np.array(True))
    outputs = len(widths) + 1
    return g.ops("Loop", plan.steps, true, *start, *leaf_scores, outputs=outputs, body=body.build())[-1]
