"""A whole model as one ONNX file: indices and trees in, the scores of every node and of every tree
out.

The executors' loops and their schedule are part of the graph, written by hand; what a plugin wrote
(leaf, compose and output of the cell, scores of the task head, an embedding that does more than to
look words up) is exported by torch and put in its place.
"""

import json
from typing import Literal

import onnx

from thinstack._version import __version__
from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.errors import ExportError
from thinstack.export.onnx_embedding import Table, distinct, mean_of_pieces
from thinstack.export.onnx_encoder import Encoding, Words, encode, encode_roots, score_nodes
from thinstack.export.onnx_folding import fold_constants
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_int8 import Products, quantize_products
from thinstack.export.onnx_parts import export_embedding, export_head, inline
from thinstack.export.onnx_passes import END
from thinstack.export.onnx_schedule import (
    Forest,
    Schedule,
    forest_of_lengths,
    forest_of_transitions,
    schedule,
)
from thinstack.export.onnx_sentences import sentence_lengths, sentences
from thinstack.export.onnx_shift_reduce import shift_reduce
from thinstack.export.quantize import Quantize, dequantised
from thinstack.models import Model, SpinnModel, TreeModel
from thinstack.models.build import STRUCTURES

__all__ = ["IndexType", "Outputs", "export_int8", "export_onnx"]

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

IndexType = Literal["int32", "int64"]
Outputs = Literal["nodes", "roots"]
"""Scores of all nodes and of the roots among them, or of the roots alone."""

INDEX_TYPES: dict[IndexType, int] = {
    "int32": onnx.TensorProto.INT32,
    "int64": onnx.TensorProto.INT64,
}


def export_onnx(
    model: Model,
    config: ModelConfig,
    *,
    quantize: Quantize = "none",
    index_type: IndexType = "int32",
    outputs: Outputs = "nodes",
    vocabulary_digest: str,
) -> bytes:
    """Export a model; the user's module is left as it is.

    Inputs, of `index_type`, and outputs, scores in float32 and transitions of `index_type`, have
    the names, shapes and meaning that the model gives them; a model with a parser makes the trees
    itself where `transitions` are empty. (They are no input that may be left out: of an initializer
    among the inputs, runtimes make different things.) With `outputs` "roots" there are no
    `node_scores`, and only the last states are kept. Inputs are not validated in the graph: a
    negative id would wrap silently. The metadata tell what the file holds.

    Raises ExportError if the configuration is not the model's, the model has no such outputs, or a
    part cannot be exported (which, and why).
    """
    g, largest = _graph(model, config, quantize, index_type, outputs)
    products = quantize_products(g, largest) if quantize == "int8" else None
    return _file(g, config, quantize, outputs, vocabulary_digest, products)


def export_int8(
    model: Model,
    config: ModelConfig,
    *,
    index_type: IndexType = "int32",
    outputs: Outputs = "nodes",
    vocabulary_digest: str,
) -> tuple[bytes, bytes]:
    """What `export_onnx` gives for "int8-tables" and for "int8": one graph, before and after its
    products are rounded."""
    g, largest = _graph(model, config, "int8", index_type, outputs)
    plain = _file(g, config, "int8-tables", outputs, vocabulary_digest, None)
    return plain, _file(
        g, config, "int8", outputs, vocabulary_digest, quantize_products(g, largest)
    )


def _graph(
    model: Model, config: ModelConfig, quantize: Quantize, index_type: IndexType, outputs: Outputs
) -> tuple[Graph, dict[str, float]]:
    """The graph with products in float32, and the bounds of values that do not follow from it."""
    _check(model, config, outputs)
    stored = dequantised(model, quantize)
    g = Graph("thinstack", half=quantize != "none")
    inputs = _inputs(g, model, INDEX_TYPES[index_type])
    words = _words(g, model, stored, inputs, quantize)
    if isinstance(stored, SpinnModel):
        _score_sentences(g, stored, words.vectors, inputs, INDEX_TYPES[index_type], outputs)
    elif isinstance(stored, TreeModel):
        plan = schedule(
            g, _forest(g, inputs, words.vectors), 2 if "transitions" in inputs else stored.arity
        )
        if stored.head.reads == "pairs":
            _output_pairs(g, stored, encode_roots(g, stored.encoder, words, plan), plan.roots)
        elif stored.head.reads == "candidates":
            _score_candidates(g, stored, words, plan, inputs)
        elif outputs == "roots":
            _output_roots(g, stored, encode_roots(g, stored.encoder, words, plan))
        else:
            _score_nodes(g, stored, words, plan)
    else:
        raise ExportError(f"expected a TreeModel or a SpinnModel, found {type(model).__name__}")
    fold_constants(g)
    table = stored.embedding.table.detach()
    # The mean of the pieces of a word is no larger than they are.
    return g, {} if stored.embedding.lookup == "none" else {words.vectors: float(table.abs().max())}


def _file(
    g: Graph,
    config: ModelConfig,
    quantize: Quantize,
    outputs: Outputs,
    vocabulary_digest: str,
    products: Products | None,
) -> bytes:
    metadata = {
        "schema_version": str(SCHEMA_VERSION),
        "labels": json.dumps(config.labels, ensure_ascii=False),
        "embedding": config.embedding.kind,
        "trees": config.trees,
        "relations": json.dumps(config.relations, ensure_ascii=False),
        "cell": config.cell.name,
        "head": config.head.name,
        "tree_source": config.tree_source,
        "parses": json.dumps(config.parses),
        "vocabulary_digest": vocabulary_digest,
        "quantization": quantize,
        "outputs": outputs,
        "producer_version": __version__,
    }
    if products is not None:
        metadata["int8_products"] = f"{products.int8} of {products.all}"
    return g.model(metadata, producer_version=__version__)


def _check(model: Model, config: ModelConfig, outputs: Outputs) -> None:
    found = "words" if "token_ids" in model.embedding.index_names else "wordpieces"
    if found != config.embedding.kind:
        raise ExportError(
            f"the configuration says embedding {config.embedding.kind!r}, the model's is of {found}"
        )
    if model.head.classes != len(config.labels):
        raise ExportError(
            f"the configuration has {len(config.labels)} labels, the model {model.head.classes} "
            "classes"
        )
    if model.structure != STRUCTURES[config.trees]:
        raise ExportError(
            f"the configuration says trees {config.trees!r}, the model is told its trees as "
            f"{model.structure}"
        )
    if model.parses != config.parses:
        own = "makes trees of its own" if model.parses else "makes none"
        raise ExportError(
            f"the configuration says parses = {json.dumps(config.parses)}, the model {own}"
        )
    if outputs != "nodes" and "root_scores" not in model.output_names:
        raise ExportError(
            f"outputs = {outputs!r} is for models that score nodes; this one gives "
            f"{', '.join(model.output_names)}"
        )


def _inputs(g: Graph, model: Model, dtype: int) -> dict[str, str]:
    """Declare the model's inputs."""
    axis = {"piece_ids": "P", "lengths": "B"}
    words = "L" if model.words_at_leaves else "N"
    axis |= dict.fromkeys(("token_ids", "pieces_per_word"), words)
    axis["transitions"] = "given" if model.parses else "N"
    return {name: g.input(name, dtype, [axis.get(name, "N")]) for name in model.input_names}


def _words(
    g: Graph, model: Model, stored: Model, inputs: dict[str, str], quantize: Quantize
) -> Words:
    """Vectors of the words; `stored` is the model with its weights rounded as the file stores them.

    Where only leaves have words, a word that comes several times is computed once.
    """
    embedding = model.embedding
    if embedding.lookup == "none":
        indices = [g.op("Cast", inputs[name], to=INT64) for name in embedding.index_names]
        return Words(*inline(g, export_embedding(stored.embedding), indices))
    table = Table(g, embedding.table.detach().cpu().float().numpy(), quantize)
    if embedding.lookup != "rows":
        return Words(mean_of_pieces(g, table, inputs["piece_ids"], inputs["pieces_per_word"]))
    if isinstance(model, TreeModel) and model.words_at_leaves:
        ids, rows = distinct(g, inputs["token_ids"])
        return Words(table.rows(ids), rows)
    return Words(table.rows(inputs["token_ids"]))


def _forest(g: Graph, inputs: dict[str, str], words: str) -> Forest:
    if "transitions" in inputs:
        return forest_of_transitions(g, inputs["transitions"])
    if "lengths" in inputs:
        return forest_of_lengths(g, inputs["lengths"], words)
    given = {
        name: g.op("Cast", inputs[name], to=INT64)
        for name in ("parents", "slots", "kinds")
        if name in inputs
    }
    zeros = g.op("Sub", given["parents"], given["parents"])
    return Forest(given["parents"], given.get("slots", zeros), given.get("kinds", ""))


def _score_sentences(
    g: Graph, model: SpinnModel, words: str, inputs: dict[str, str], dtype: int, outputs: Outputs
) -> None:
    transitions = inputs["transitions"]
    lengths = inputs["lengths"] if model.parses else sentence_lengths(g, transitions)
    batch = sentences(g, lengths, transitions, words)
    encoding = shift_reduce(g, model.encoder, words, batch)
    if model.head.reads == "pairs" or outputs == "roots":
        roots = g.op("Gather", encoding.outputs, g.op("Gather", encoding.places, batch.roots))
        if model.head.reads == "pairs":
            _output_pairs(g, model, roots, batch.roots)
        else:
            _output_roots(g, model, roots)
    else:
        (scores,) = inline(
            g, export_head(model.head, model.encoder.hidden_size), [encoding.outputs]
        )
        _output_nodes(g, model, g.op("Gather", scores, encoding.places), batch.roots)
    if model.parses:
        g.output(g.op("Cast", encoding.transitions, to=dtype), "parse", dtype, ["N"])


def _score_nodes(g: Graph, model: TreeModel, words: Words, plan: Schedule) -> None:
    scores = g.op("Gather", score_nodes(g, model.encoder, model.head, words, plan), plan.stacked)
    _output_nodes(g, model, scores, plan.roots)


def _output_nodes(g: Graph, model: Model, scores: str, roots: str) -> None:
    """The scores of nodes (N, C) and of the roots (B,) among them."""
    g.output(scores, "node_scores", FLOAT, ["N", model.head.classes])
    g.output(g.op("Gather", scores, roots), "root_scores", FLOAT, ["B", model.head.classes])


def _output_roots(g: Graph, model: TreeModel | SpinnModel, outputs: str) -> None:
    """The scores of roots from their outputs (B, H)."""
    (scores,) = inline(g, export_head(model.head, model.encoder.hidden_size), [outputs])
    g.output(scores, "root_scores", FLOAT, ["B", model.head.classes])


def _output_pairs(g: Graph, model: TreeModel | SpinnModel, outputs: str, roots: str) -> None:
    """The scores of pairs from the outputs (B, H) of the roots (B,)."""
    width = model.encoder.hidden_size
    # Counted, for a dimension of -1 has no answer where there are no rows.
    pairs = g.op("Div", g.op("Shape", roots), g.vector(2))
    rows = g.op("Reshape", outputs, g.op("Concat", pairs, g.vector(2 * width), axis=0), allowzero=1)
    (scores,) = inline(g, export_head(model.head, 2 * width), [rows])
    g.output(scores, "pair_scores", FLOAT, ["B/2", model.head.classes])
    g.output(outputs, "sentence_vectors", FLOAT, ["B", width])


def _score_candidates(
    g: Graph, model: TreeModel, words: Words, plan: Schedule, inputs: dict[str, str]
) -> None:
    classes = model.head.classes
    rows = _rows(g, encode(g, model.encoder, words, plan), model, plan)
    (scores,) = inline(
        g, export_head(model.head, 2 * model.encoder.hidden_size + model.encoder.word_size), [rows]
    )
    leaves = g.op(
        "ConstantOfShape", g.op("Concat", g.op("Shape", plan.leaves), g.vector(classes), axis=0)
    )
    nodes = g.op("Gather", g.op("Concat", leaves, scores, axis=0), plan.stacked)
    labels = g.op("Gather", g.op("Cast", inputs["constituents"], to=INT64), plan.inner)
    own = g.op("GatherElements", scores, g.op("Unsqueeze", labels, g.vector(1)), axis=1)
    none = g.op("ConstantOfShape", g.op("Concat", g.op("Shape", plan.roots), g.vector(1), axis=0))
    trees = g.op("Unsqueeze", g.op("Gather", plan.trees, plan.inner), g.vector(1))
    g.output(nodes, "node_scores", FLOAT, ["N", classes])
    g.output(
        g.op("ScatterElements", none, trees, own, axis=0, reduction="add"),
        "tree_scores",
        FLOAT,
        ["B", 1],
    )


def _rows(g: Graph, encoding: Encoding, model: TreeModel, plan: Schedule) -> str:
    """Rows (I, 2H + W) of a head that reads candidates: the outputs of both children and the
    head-word vector."""
    children = g.op("Gather", encoding.stacked, g.op("Reshape", plan.child_rows, g.vector(-1)))
    shape = g.op(
        "Concat", g.op("Shape", plan.inner), g.vector(2 * model.encoder.hidden_size), axis=0
    )
    parts = [g.op("Reshape", children, shape, allowzero=1)]
    if encoding.words:
        parts.append(
            g.op("Slice", encoding.words, g.op("Shape", plan.leaves), g.vector(END), g.vector(0))
        )
    return g.op("Concat", *parts, axis=1)
