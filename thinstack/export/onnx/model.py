"""A whole model as one ONNX file: indices and trees in, the scores of every node and of every tree
out.

The executors' loops and their schedule are part of the graph, written by hand; what a plugin wrote
(leaf, compose and output of the cell, scores of the task head, an embedding that does more than to
look words up) is exported by torch and put in its place.
"""

import json
from typing import Any, Literal, TypedDict, Unpack

import onnx

from thinstack._version import __version__
from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.schedule import tree_numbers
from thinstack.errors import ExportError
from thinstack.export.onnx.embedding import Table, distinct, mean_of_pieces, written_words
from thinstack.export.onnx.encoder import Encoding, Words, encode
from thinstack.export.onnx.folding import fold_constants
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.int8 import quantize_products
from thinstack.export.onnx.parts import export_embedding, export_head, inline
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, dequantised, factor_bounds
from thinstack.models import Model
from thinstack.models.build import STRUCTURES

__all__ = [
    "DEFAULTS",
    "IndexType",
    "Options",
    "Outputs",
    "export_onnx",
    "export_stages",
    "metadata_of",
]

FLOAT, INT32, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.INT64

IndexType = Literal["int32", "int64"]
Outputs = Literal["nodes", "roots"]
"""Scores of all nodes and of the roots among them, or of the roots alone."""


class Options(TypedDict, total=False):
    """What of a file may be chosen: how it stores weights, of what type whole numbers are, and
    which scores it gives."""

    quantize: Quantize
    index_type: IndexType
    outputs: Outputs


DEFAULTS: Options = {"quantize": "none", "index_type": "int32", "outputs": "nodes"}


def export_onnx(
    model: Model, config: ModelConfig, *, vocabulary_digest: str, **options: Unpack[Options]
) -> bytes:
    """Export a model; the user's module is left as it is. `options` are those of `DEFAULTS` where
    they are not given.

    Inputs, of `index_type`, and outputs, scores in float32 and transitions of `index_type`, have
    the names, shapes and meaning that the model gives them; a model with a parser makes the trees
    itself where `transitions` are empty. (They are no input that may be left out: of an initializer
    among the inputs, runtimes make different things.) With `outputs` "roots" there are no
    `node_scores`, and only the last states are kept. Inputs are not validated in the graph: a
    negative id would wrap silently. The metadata tell what the file holds.

    Raises ExportError if the configuration is not the model's, the model has no such outputs, or a
    part cannot be exported (which, and why).
    """
    return export_stages(model, config, vocabulary_digest=vocabulary_digest, **options)[-1]


def export_stages(
    model: Model, config: ModelConfig, *, vocabulary_digest: str, **options: Unpack[Options]
) -> list[bytes]:
    """What `export_onnx` gives, and for "int8" before that what it gives for "int8-tables": one
    graph, before and after its products are rounded."""
    chosen = DEFAULTS | options
    _check(model, config, chosen["outputs"])
    quantize, dtype = chosen["quantize"], INT32 if chosen["index_type"] == "int32" else INT64
    stored = dequantised(model, quantize)
    g = Graph("thinstack", half=quantize != "none")
    inputs = _inputs(g, model, dtype)
    words = _words(g, model, stored, inputs, quantize)
    _score(g, stored, words, inputs, dtype, chosen["outputs"])
    fold_constants(g)
    metadata = metadata_of(config) | {
        "vocabulary_digest": vocabulary_digest,
        "quantization": quantize,
        "outputs": chosen["outputs"],
        "reads": model.head.reads,
        "producer_version": __version__,
    }
    if model.embedding.max_pieces:
        metadata["max_pieces"] = str(model.embedding.max_pieces)
    if quantize != "int8":
        return [g.model(metadata)]
    plain = g.model(metadata | {"quantization": "int8-tables"})
    done, products = quantize_products(g, _bounds(stored, words), factor_bounds(stored.embedding))
    return [plain, g.model(metadata | {"int8_products": f"{done} of {products}"})]


def _bounds(stored: Model, words: Words) -> dict[str, float]:
    """What no vector of words exceeds: the mean of a word's pieces is no larger than they are."""
    if stored.embedding.lookup not in ("rows", "mean"):
        return {}
    largest = float(stored.embedding.table.detach().abs().max())
    return {vectors.name: largest for vectors in (words.vectors, words.distinct)}


def metadata_of(config: ModelConfig) -> dict[str, str]:
    """What the metadata of a file tell of its configuration."""
    return {
        "schema_version": str(SCHEMA_VERSION),
        "labels": json.dumps(config.labels, ensure_ascii=False),
        "embedding": config.embedding.kind,
        "trees": config.trees,
        "relations": json.dumps(config.relations, ensure_ascii=False),
        "cell": config.cell.name,
        "head": config.head.name,
        "tree_source": config.tree_source,
        "parses": json.dumps(config.parses),
    }


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
    if model.encoder.structure != STRUCTURES[config.trees]:
        raise ExportError(
            f"the configuration says trees {config.trees!r}, the model is told its trees as "
            f"{model.encoder.structure}"
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


def _inputs(g: Graph, model: Model, dtype: int) -> dict[str, Value]:
    """Declare the model's inputs."""
    words, steps = "L" if model.encoder.words_at_leaves else "N", "given" if model.parses else "N"
    axis = {"token_ids": words, "pieces_per_word": words, "piece_ids": "P", "lengths": "B"}
    axis["transitions"] = steps
    return {name: g.input(name, dtype, [axis.get(name, "N")]) for name in model.input_names}


def _words(
    g: Graph, model: Model, stored: Model, inputs: dict[str, Value], quantize: Quantize
) -> Words:
    """Vectors of the words; `stored` is the model with its weights rounded as the file stores
    them."""
    embedding = model.embedding
    if embedding.lookup == "context":
        return written_words(g, stored.embedding, inputs, quantize)
    if embedding.lookup == "none":
        indices = [inputs[name].long() for name in embedding.index_names]
        (vectors,) = inline(g, export_embedding(stored.embedding), indices)
        return Words(vectors, vectors)
    table = Table(g, embedding.table.detach().cpu().float().numpy(), quantize)
    if embedding.lookup != "rows":
        return mean_of_pieces(table, inputs["piece_ids"], inputs["pieces_per_word"])
    ids, _, rows = distinct(inputs["token_ids"].long())
    return Words(table.rows(inputs["token_ids"]), table.rows(ids), rows)


def _score(
    g: Graph, model: Model, words: Words, inputs: dict[str, Value], dtype: int, outputs: Outputs
) -> None:
    """Encode, and declare the outputs."""
    head, encoder = model.head, model.encoder
    if head.reads == "candidates":
        encoding = encode(g, encoder, words, inputs)
        _output_candidates(g, model, encoding, inputs["constituents"])
    elif head.reads == "pairs" or outputs == "roots":
        encoding = encode(g, encoder, words, inputs, roots_only=True)
        _output_roots(g, model, _there(encoding.roots), encoding.root_nodes.size(0))
    else:
        encoding = encode(g, encoder, words, inputs, head=head)
        scores = encoding.scores
        if scores is None:
            exported = export_head(head, encoder.hidden_size)
            (scores,) = inline(g, exported, [_there(encoding.stacked)])
        scores = scores.index_select(0, _there(encoding.places))
        g.output(scores, "node_scores", FLOAT, ["N", head.classes])
        roots = scores.index_select(0, encoding.root_nodes)
        g.output(roots, "root_scores", FLOAT, ["B", head.classes])
    if model.parses:
        parse = _there(encoding.transitions).op("Cast", to=dtype)
        g.output(parse, "parse", dtype, ["N"])


def _there(value: Value | None) -> Any:
    """What an encoder's export must have given."""
    if value is None:
        raise ExportError("the encoder's export left out something that it was asked for")
    return value


def _output_roots(g: Graph, model: Model, rows: Value, trees: Value) -> None:
    """The scores of roots, or of pairs of them, from the outputs (B, H) of the roots."""
    width, classes = model.encoder.hidden_size, model.head.classes
    if model.head.reads != "pairs":
        (scores,) = inline(g, export_head(model.head, width), [rows])
        g.output(scores, "root_scores", FLOAT, ["B", classes])
        return
    # Counted, for a dimension of -1 has no answer where there are no rows.
    pairs = rows.view(trees // [2], 2 * width)
    (scores,) = inline(g, export_head(model.head, 2 * width), [pairs])
    g.output(scores, "pair_scores", FLOAT, ["B/2", classes])
    g.output(rows, "sentence_vectors", FLOAT, ["B", width])


def _output_candidates(g: Graph, model: Model, encoding: Encoding, labels: Value) -> None:
    """The scores of nodes, and of trees as `models.model.tree_scores` has them."""
    classes, width = model.head.classes, 2 * model.encoder.hidden_size
    places, inner = _there(encoding.places), _there(encoding.inner)
    children = places.take(_there(encoding.children) - 1)
    rows = _there(encoding.stacked).index_select(0, children).view(inner.size(0), width)
    if encoding.words is not None:
        read = encoding.words.index_select(0, places.index_select(0, inner))
        rows = Value.cat([rows, read], 1)
    head = export_head(model.head, width + model.encoder.word_size)
    (scores,) = inline(g, head, [rows])
    across = inner.unsqueeze(1).op("Expand", scores.op("Shape"))
    nodes = g.zeros(places.size(0), classes).scatter(0, across, scores)
    own = scores.op("GatherElements", labels.long().index_select(0, inner).unsqueeze(1), axis=1)
    roots: Any = encoding.root_nodes
    tree: Any = tree_numbers(places, roots).index_select(0, inner)
    totals = g.zeros(roots.size(0), 1).scatter_add(0, tree.unsqueeze(1), own)
    g.output(nodes, "node_scores", FLOAT, ["N", classes])
    g.output(totals, "tree_scores", FLOAT, ["B", 1])
