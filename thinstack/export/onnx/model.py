"""A whole model as one ONNX file, from word indices and trees to the scores of nodes and trees. The
loops of the executors and their schedule are written by hand, and torch exports the code of
plugins: a cell's leaf, compose and output, a head's scores, and embeddings that do more than look
words up."""

import json
from typing import Any, Literal, TypedDict, Unpack, cast

import onnx

from thinstack._version import __version__
from thinstack.bundle.gpu_file import HOST_NODES
from thinstack.core.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.head import TaskHead
from thinstack.core.lstm_gates import whole_products
from thinstack.core.model.model import Model
from thinstack.core.schedule import tree_numbers
from thinstack.errors import ExportError
from thinstack.export.onnx.encoder import Encoding, Words, embed, encode
from thinstack.export.onnx.folding import fold_constants
from thinstack.export.onnx.graph import Graph, checked
from thinstack.export.onnx.int8 import quantize_products
from thinstack.export.onnx.parts import SideBySide, export_head, inline
from thinstack.export.onnx.placement import place
from thinstack.export.onnx.value import Value
from thinstack.export.quantize import Quantize, dequantised, factor_bounds

FLOAT, INT32, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.INT64

IndexType = Literal["int32", "int64"]
Outputs = Literal["nodes", "roots"]
"""The scores in a file: of all nodes and of the roots, or of the roots only."""

Device = Literal["cpu", "gpu"]
"""The target of a file. For a GPU, steps are nested, weights are rounded as `quantize` specifies
but stored in float32, and the metadata list the nodes to run on the host."""


class Options(TypedDict, total=False):
    """Options of a file: storage of weights, type of integers, scores and target device."""

    quantize: Quantize
    index_type: IndexType
    outputs: Outputs
    device: Device


DEFAULTS: Options = {"quantize": "none", "index_type": "int32", "outputs": "nodes", "device": "cpu"}


def export_onnx(
    model: Model, config: ModelConfig, *, vocabulary_digest: str, **options: Unpack[Options]
) -> bytes:
    """Return a model, with the configuration that it was built from, as an ONNX file. The digest of
    its vocabulary is for the metadata; for other options, see `Options` and `DEFAULTS`.

    Inputs and outputs have the model's names and shapes. Inputs and transitions are of
    `index_type`, scores float32. With `outputs` "roots", there are no `node_scores`, and only the
    last states are kept. A model with a parser predicts the trees if `transitions` is empty;
    `breaks` are 0 for single sentences. These inputs are not optional, because runtimes disagree
    about inputs with an initializer. The graph does not validate its inputs: a negative id would
    silently count from the end.

    Raises ExportError if the model has no such outputs, or with the reason if a part cannot be
    exported.
    """
    return export_stages(model, config, vocabulary_digest=vocabulary_digest, **options)[-1]


def export_stages(
    model: Model, config: ModelConfig, *, vocabulary_digest: str, **options: Unpack[Options]
) -> list[bytes]:
    """Return a list that ends with the file of `export_onnx`. With `quantize` "int8", the file for
    "int8-tables" precedes it: the same graph before its products are rounded."""
    chosen = DEFAULTS | options
    classes = model.head.classes if model.head.gives == "scores" else 0
    if len(config.labels) != classes:
        raise ExportError(
            f"the configuration has {len(config.labels)} labels, the model {classes}; pass the "
            "configuration that the model was built from"
        )
    if chosen["outputs"] != "nodes" and model.of_roots not in model.output_names:
        raise ExportError(
            f"outputs = {chosen['outputs']!r} needs a model that scores nodes; this one returns "
            f"{', '.join(model.output_names)}; omit outputs"
        )
    quantize, dtype = chosen["quantize"], INT32 if chosen["index_type"] == "int32" else INT64
    stored = dequantised(model, quantize)
    for_gpu = chosen["device"] == "gpu"
    if for_gpu:  # no provider has all kernels for 8 bits
        quantize = "none"
    g = Graph("thinstack", half=quantize != "none", device=chosen["device"])
    inputs = _inputs(g, model, dtype)
    words = embed(g, model.embedding, stored.embedding, inputs, quantize)
    factors = factor_bounds(stored.embedding)
    with whole_products(chosen["quantize"] == "int8" and not factors):
        _score(g, stored, words, inputs, dtype, chosen["outputs"])
    fold_constants(g, apart=quantize == "int8")
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
        "outputs": chosen["outputs"],
        "reads": model.head.reads,
        "producer_version": __version__,
    }
    giver = model.head if model.vectors is None else model.vectors
    if giver.gives == "vectors":
        metadata["vector_size"] = str(giver.classes)
    if model.head.rates:
        metadata["rates"] = "true"
    if model.embedding.max_pieces:
        metadata["max_pieces"] = str(model.embedding.max_pieces)
    if for_gpu:
        placed = g.proto()
        return [checked(placed, metadata | {HOST_NODES: "\n".join(place(placed))})]
    if quantize != "int8":
        return [g.model(metadata)]
    plain = g.model(metadata | {"quantization": "int8-tables"})
    done, products = quantize_products(g, _bounds(stored, words), factors)
    return [plain, g.model(metadata | {"int8_products": f"{done} of {products}"})]


def _bounds(stored: Model, words: Words) -> dict[str, float]:
    """Return bounds of the vectors of words, because the mean of pieces does not exceed them."""
    if stored.embedding.lookup not in ("rows", "mean"):
        return {}
    largest = float(stored.embedding.table.detach().abs().max())
    return {vectors.name: largest for vectors in (words.vectors, words.distinct)}


def _inputs(g: Graph, model: Model, dtype: int) -> dict[str, Value]:
    words, steps = "L" if model.encoder.words_at_leaves else "N", "given" if model.parses else "N"
    axis = {"token_ids": words, "pieces_per_word": words, "piece_ids": "P", "transitions": steps}
    axis |= {"lengths": "S", "breaks": "S"} if "breaks" in model.input_names else {"lengths": "B"}
    return {name: g.input(name, dtype, [axis.get(name, "N")]) for name in model.input_names}


def _score(
    g: Graph, model: Model, words: Words, inputs: dict[str, Value], dtype: int, outputs: Outputs
) -> None:
    head, encoder = model.head, model.encoder
    if model.vectors is not None and head.reads != "pairs":
        head = SideBySide(head, model.vectors)
    roots_only = head.reads == "pairs" or outputs == "roots"
    of_nodes = None if roots_only or head.reads == "candidates" else head
    encoding = encode(g, encoder, words, inputs, head=of_nodes, roots_only=roots_only)
    if head.reads == "candidates":
        _output_candidates(g, model, encoding, inputs["constituents"])
    elif roots_only:
        _output_roots(g, model, head, encoding)
    else:
        scores = encoding.scores
        if scores is None:
            exported = export_head(head, encoder.hidden_size)
            (scores,) = inline(g, exported, [_there(encoding.stacked)])
        scores = scores.index_select(0, _there(encoding.places))
        roots = scores.index_select(0, encoding.root_nodes)
        _output_columns(g, model, {("node", "N"): scores, ("root", "B"): roots})
    if model.parses:
        parse = _there(encoding.transitions).op("Cast", to=dtype)
        g.output(parse, "parse", dtype, ["N"])


def _output_columns(g: Graph, model: Model, rows: dict[tuple[str, str], Value]) -> None:
    """Declare the outputs of the heads, concatenated in the rows of nodes and of roots."""
    start = 0
    for head in (model.head, model.vectors):
        if head is not None:
            for (name, axis), values in rows.items():
                mine = values if model.vectors is None else values.narrow(1, start, head.classes)
                g.output(mine, f"{name}_{head.gives}", FLOAT, [axis, head.classes])
            start += head.classes


def _there(value: Value | None) -> Value:
    """Return a value that the export of an encoder must contain."""
    if value is None:
        raise ExportError("a requested output is missing: fix the encoder's ONNX function `encode`")
    return value


def _output_roots(g: Graph, model: Model, head: TaskHead, encoding: Encoding) -> None:
    """Declare the scores of roots, or of pairs of them, from the outputs (B, H) of the roots."""
    width, classes = model.encoder.hidden_size, model.head.classes
    rows, trees = _there(encoding.roots), encoding.root_nodes.size(0)
    if head.reads != "pairs":
        (scores,) = inline(g, export_head(head, width), [rows])
        _output_columns(g, model, {("root", "B"): scores})
        return
    if model.vectors is not None:
        (rows,) = inline(g, export_head(model.vectors, width), [rows])
        width = model.vectors.classes
    # Not -1, which is undefined without rows.
    pairs = rows.view(trees // [2], 2 * width)
    if model.vectors is not None:
        pairs = pairs.op("Mul", model.pair_scale)
    (scores,) = inline(g, export_head(model.head, 2 * width), [pairs])
    g.output(scores, "pair_scores", FLOAT, ["B/2", classes])
    g.output(rows, "sentence_vectors", FLOAT, ["B", width])


def _output_candidates(g: Graph, model: Model, encoding: Encoding, labels: Value) -> None:
    """Declare the scores of nodes, and of trees as in `core.model.model.tree_scores`."""
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
    of_label = labels.long().index_select(0, inner).unsqueeze(1)
    label_scores = scores.op("GatherElements", of_label, axis=1)
    roots = encoding.root_nodes
    tree = cast(Any, tree_numbers)(places, roots).index_select(0, inner)
    totals = g.zeros(roots.size(0), 1).scatter_add(0, tree.unsqueeze(1), label_scores)
    g.output(nodes, "node_scores", FLOAT, ["N", classes])
    g.output(totals, "tree_scores", FLOAT, ["B", 1])
