"""A whole model as one ONNX file: indices and trees in, the scores of every node and of every tree out.

The executors' loops and their schedule are part of the graph, written by hand; what a plugin wrote (leaf, compose and output of
the cell, scores of the task head, an embedding that does more than to look words up) is exported by torch and put in its place.
"""

import json
from typing import Literal

import onnx

from thinstack._version import __version__
from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.embedding import Embedding
from thinstack.errors import ExportError
from thinstack.export.onnx_embedding import Table, mean_of_pieces
from thinstack.export.onnx_encoder import Encoding, encode, encode_roots, score_nodes
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_parts import export_embedding, export_head, inline
from thinstack.export.onnx_passes import END
from thinstack.export.onnx_schedule import Forest, Schedule, forest_of_lengths, forest_of_transitions, schedule
from thinstack.export.onnx_sentences import sentence_lengths, sentences
from thinstack.export.onnx_shift_reduce import shift_reduce
from thinstack.export.quantize import Quantize, dequantised
from thinstack.models import Model, SpinnModel, TreeModel
from thinstack.models.build import STRUCTURES

__all__ = ["IndexType", "export_onnx"]

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

IndexType = Literal["int32", "int64"]

INDEX_TYPES: dict[IndexType, int] = {"int32": onnx.TensorProto.INT32, "int64": onnx.TensorProto.INT64}


def export_onnx(
    model: Model,
    config: ModelConfig,
    *,
    quantize: Quantize = "none",
    index_type: IndexType = "int32",
    vocabulary_digest: str,
) -> bytes:
    """Export a model; the user's module is left as it is.

    Inputs, of `index_type`, and outputs, scores in float32 and transitions of `index_type`, have the names, shapes and meaning
    that the model gives them. The `transitions` of a model with a parser may be left out (onnxruntime has them among the
    `get_overridable_initializers`). Inputs are not validated in the graph: a negative id would wrap silently. The metadata tell
    what the file holds.

    Raises ExportError if the configuration is not the model's, or a part cannot be exported (which, and why).
    """
    _check(model, config)
    stored = dequantised(model, quantize)
    g = Graph("thinstack", half=quantize != "none")
    inputs = _inputs(g, model, INDEX_TYPES[index_type])
    words = _words(g, model.embedding, stored.embedding, inputs, quantize)
    if isinstance(stored, SpinnModel):
        _score_sentences(g, stored, words, inputs, INDEX_TYPES[index_type])
    elif isinstance(stored, TreeModel):
        plan = schedule(g, _forest(g, inputs), 2 if "transitions" in inputs else stored.arity)
        score = {"pairs": _score_pairs, "candidates": _score_candidates}.get(stored.head.reads, _score_nodes)
        score(g, stored, words, plan, inputs)
    else:
        raise ExportError(f"expected a TreeModel or a SpinnModel, found {type(model).__name__}")
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
        "producer_version": __version__,
    }
    return g.model(metadata, producer_version=__version__)


def _check(model: Model, config: ModelConfig) -> None:
    found = "words" if "token_ids" in model.embedding.index_names else "wordpieces"
    if found != config.embedding.kind:
        raise ExportError(f"the configuration says embedding {config.embedding.kind!r}, the model's is of {found}")
    if model.head.classes != len(config.labels):
        raise ExportError(f"the configuration has {len(config.labels)} labels, the model {model.head.classes} classes")
    if model.structure != STRUCTURES[config.trees]:
        raise ExportError(f"the configuration says trees {config.trees!r}, the model is told its trees as {model.structure}")
    if model.parses != config.parses:
        own = "makes trees of its own" if model.parses else "makes none"
        raise ExportError(f"the configuration says parses = {json.dumps(config.parses)}, the model {own}")
    if isinstance(model, SpinnModel) and model.encoder.beam > 1:
        raise ExportError(f"an ONNX file keeps one hypothesis of a tree, the model {model.encoder.beam}; set tracker.beam to 1")


def _inputs(g: Graph, model: Model, dtype: int) -> dict[str, str]:
    """Declare the model's inputs."""
    axis = {"piece_ids": "P", "lengths": "B"}
    words = "L" if model.words_at_leaves else "N"
    axis |= dict.fromkeys(("token_ids", "pieces_per_word"), words)
    required = [name for name in model.input_names if name != "transitions" or not model.parses]
    inputs = {name: g.input(name, dtype, [axis.get(name, "N")]) for name in required}
    return inputs | ({"transitions": g.optional_input("transitions", dtype, "given")} if model.parses else {})


def _words(g: Graph, embedding: Embedding, stored: Embedding, inputs: dict[str, str], quantize: Quantize) -> str:
    """Vectors (L, X) of the words; `stored` is the embedding with its weights rounded as the file stores them."""
    if embedding.lookup == "none":
        indices = [g.op("Cast", inputs[name], to=INT64) for name in embedding.index_names]
        (words,) = inline(g, export_embedding(stored), indices)
        return words
    table = Table(g, embedding.table.detach().cpu().float().numpy(), quantize)
    if embedding.lookup == "rows":
        return table.rows(inputs["token_ids"])
    return mean_of_pieces(g, table, inputs["piece_ids"], inputs["pieces_per_word"])


def _forest(g: Graph, inputs: dict[str, str]) -> Forest:
    if "transitions" in inputs:
        return forest_of_transitions(g, inputs["transitions"])
    if "lengths" in inputs:
        return forest_of_lengths(g, inputs["lengths"])
    given = {name: g.op("Cast", inputs[name], to=INT64) for name in ("parents", "slots", "kinds") if name in inputs}
    zeros = g.op("Sub", given["parents"], given["parents"])
    return Forest(given["parents"], given.get("slots", zeros), given.get("kinds", ""))


def _score_sentences(g: Graph, model: SpinnModel, words: str, inputs: dict[str, str], dtype: int) -> None:
    transitions = inputs["transitions"]
    batch = sentences(g, inputs["lengths"] if model.parses else sentence_lengths(g, transitions), transitions)
    encoding = shift_reduce(g, model.encoder, words, batch)
    if model.head.reads == "pairs":
        _output_pairs(g, model, g.op("Gather", encoding.outputs, g.op("Gather", encoding.places, batch.roots)), batch.roots)
    else:
        (scores,) = inline(g, export_head(model.head, model.encoder.hidden_size), [encoding.outputs])
        _output_nodes(g, model, g.op("Gather", scores, encoding.places), batch.roots)
    if model.parses:
        g.output(g.op("Cast", encoding.transitions, to=dtype), "parse", dtype, ["N"])


def _score_nodes(g: Graph, model: TreeModel, words: str, plan: Schedule, inputs: dict[str, str]) -> None:
    scores = g.op("Gather", score_nodes(g, model.encoder, model.head, words, plan), plan.stacked)
    _output_nodes(g, model, scores, plan.roots)


def _output_nodes(g: Graph, model: Model, scores: str, roots: str) -> None:
    """The scores of nodes (N, C) and of the roots (B,) among them."""
    g.output(scores, "node_scores", FLOAT, ["N", model.head.classes])
    g.output(g.op("Gather", scores, roots), "root_scores", FLOAT, ["B", model.head.classes])


def _score_pairs(g: Graph, model: TreeModel, words: str, plan: Schedule, inputs: dict[str, str]) -> None:
    _output_pairs(g, model, encode_roots(g, model.encoder, words, plan), plan.roots)


def _output_pairs(g: Graph, model: TreeModel | SpinnModel, outputs: str, roots: str) -> None:
    """The scores of pairs from the outputs (B, H) of the roots (B,)."""
    width = model.encoder.hidden_size
    # Counted, for a dimension of -1 has no answer where there are no rows.
    pairs = g.op("Div", g.op("Shape", roots), g.vector(2))
    rows = g.op("Reshape", outputs, g.op("Concat", pairs, g.vector(2 * width), axis=0), allowzero=1)
    (scores,) = inline(g, export_head(model.head, 2 * width), [rows])
    g.output(scores, "pair_scores", FLOAT, ["B/2", model.head.classes])
    g.output(outputs, "sentence_vectors", FLOAT, ["B", width])


def _score_candidates(g: Graph, model: TreeModel, words: str, plan: Schedule, inputs: dict[str, str]) -> None:
    classes = model.head.classes
    rows = _rows(g, encode(g, model.encoder, words, plan), model, plan)
    (scores,) = inline(g, export_head(model.head, 2 * model.encoder.hidden_size + model.encoder.word_size), [rows])
    leaves = g.op("ConstantOfShape", g.op("Concat", g.op("Shape", plan.leaves), g.vector(classes), axis=0))
    nodes = g.op("Gather", g.op("Concat", leaves, scores, axis=0), plan.stacked)
    labels = g.op("Gather", g.op("Cast", inputs["constituents"], to=INT64), plan.inner)
    own = g.op("GatherElements", scores, g.op("Unsqueeze", labels, g.vector(1)), axis=1)
    none = g.op("ConstantOfShape", g.op("Concat", g.op("Shape", plan.roots), g.vector(1), axis=0))
    trees = g.op("Unsqueeze", g.op("Gather", plan.trees, plan.inner), g.vector(1))
    g.output(nodes, "node_scores", FLOAT, ["N", classes])
    g.output(g.op("ScatterElements", none, trees, own, axis=0, reduction="add"), "tree_scores", FLOAT, ["B", 1])


def _rows(g: Graph, encoding: Encoding, model: TreeModel, plan: Schedule) -> str:
    """Rows (I, 2H + W) of a head that reads candidates: the outputs of both children and the head-word vector."""
    children = g.op("Gather", encoding.stacked, g.op("Reshape", plan.child_rows, g.vector(-1)))
    shape = g.op("Concat", g.op("Shape", plan.inner), g.vector(2 * model.encoder.hidden_size), axis=0)
    parts = [g.op("Reshape", children, shape, allowzero=1)]
    if encoding.words:
        parts.append(g.op("Slice", encoding.words, g.op("Shape", plan.leaves), g.vector(END), g.vector(0)))
    return g.op("Concat", *parts, axis=1)
