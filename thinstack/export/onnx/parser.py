"""An encoder with a parser in an ONNX graph, as in `thinstack.core.distance_trees`."""

from typing import Any, Final

import onnx
import torch

from thinstack.core import distance_trees
from thinstack.core.distance_trees import BinaryTrees
from thinstack.core.head import TaskHead
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.core.parser import Parser
from thinstack.export.onnx import encoder as encoders
from thinstack.export.onnx.encoder import Encoding, Words, writer_of
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_module, inline
from thinstack.export.onnx.plan import Trees, trees_of
from thinstack.export.onnx.value import Value

core: Final[Any] = distance_trees
"""Its functions of tensors also take values."""

WIDTHS: Final = (1, 2, 4, 8, 16)
"""Windows of keys in the graph. Up to twice as many words as the last need no others."""

OWN_TREES: Final = "own_trees"  # the graph in which a parser predicts trees

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def encode(
    g: Graph,
    encoder: ParsingEncoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """Write the encoding over input trees or the parser's, as `encoder.encode`."""
    steps, vectors = inputs["transitions"], words.vectors
    # An empty batch must not reach onnxruntime's LSTM, which would crash the process.
    parsed, stated = Graph(OWN_TREES, outer=g), Graph("given_trees", outer=g)
    lengths = inputs["lengths"].within(parsed).long()
    breaks = inputs["breaks"].within(parsed).long() if encoder.joins else lengths.zeros_like()
    condition = is_unparsed(steps, vectors)
    if g.device == "cpu":
        scored = distances(parsed, encoder.parser, vectors.within(parsed), lengths)
    else:
        scored = _distances_on_gpu(g, encoder.parser, vectors, inputs["lengths"], condition)
        scored = scored.within(parsed).as_vector()
    scored = scored.shaped_as(Value.arange(vectors.size(0)))
    _output_trees(parsed, trees_of_distances(parsed, scored, lengths, breaks))
    transitions = steps.within(stated).long()
    # The size is computed in the branch, so that nodes over it belong to the branch.
    transitions.like = transitions.as_vector(steps.size(0).within(stated))
    _output_trees(stated, trees_of(transitions))
    chosen = [value.as_vector() for value in g.choose(condition, parsed, stated)]
    for value in chosen[1:]:
        value.shaped_as(chosen[0])
    trees = dict(zip(BinaryTrees._fields, chosen, strict=True))
    encoding = encoders.encode(g, encoder.encoder, words, trees, head=head, roots_only=roots_only)
    return encoding._replace(transitions=trees["transitions"])


def _distances_on_gpu(
    g: Graph, parser: Parser, vectors: Value, lengths: Value, condition: Value
) -> Value:
    """Return the distances (L,), or (0,), in a separate branch: the host builds the trees."""
    parsed, none = Graph("own_distances", outer=g), Graph("no_distances", outer=g)
    scored = distances(parsed, parser, vectors.within(parsed), lengths.within(parsed).long())
    parsed.output(scored, "distances", FLOAT, ["L"])
    none.output(none.zeros(0), "distances", FLOAT, ["none"])
    return g.choose(condition, parsed, none)[0]


def is_unparsed(transitions: Value, words: Value) -> Value:
    """Return whether there are words but no transitions, a scalar; false for an empty batch."""
    # Input trees have at least as many transitions as words.
    return (transitions.size(0) < words.size(0)).squeeze(0)


def distances(g: Graph, parser: Parser, words: Value, lengths: Value) -> Value:
    """Write the distances (L,) of gaps, from words (L, X), L >= 1, and lengths (S,), by the module
    that the parser names, or else by torch. Raises ExportError if that is impossible."""
    if not parser.onnx:
        examples = [torch.rand(5, parser.input_size), torch.tensor([2, 3])]
        exported = export_module(parser, "parser", examples, [{0: "words"}, {0: "sentences"}])
        return inline(g, exported, [words, lengths])[0]
    gaps: Value = writer_of(parser, "distances")(g, parser, words, lengths)
    return gaps


def _output_trees(g: Graph, trees: Trees) -> None:
    for value, name in zip(trees, BinaryTrees._fields, strict=True):
        g.output(value, name, INT64, ["N"])


def trees_of_distances(g: Graph, distances: Value, lengths: Value, breaks: Value) -> Trees:
    """Build the trees that split every span at its greatest gap, as in `core`."""
    keys = core.gap_keys(distances, lengths, breaks)
    line, bounds = core.two_sided(keys)
    position = Value.arange(line.size(0))
    maxima = [line]
    for width in WIDTHS[:-1]:
        maxima.append(core.widen(maxima[-1], position, width))
    nearest: Value = (position - 1).clamp(0)
    few, many = Graph("few_words", outer=g), Graph("many_words", outer=g)
    few.output(nearest, "nearest", INT64, ["K"])
    words: Value = core.most_words(keys.within(many), lengths.within(many), breaks.within(many))
    longest = words.op("ReduceMax", keepdims=0)
    start = nearest.within(many), maxima[-1].within(many)
    far = _from_afar(many, *start, position.within(many), bounds.within(many), longest)
    many.output(far, "nearest", INT64, ["K"])
    any_far = (keys.size(0) > 2 * WIDTHS[-1]).squeeze(0)
    (nearest,) = g.choose(any_far, many, few)
    for width, window in zip(WIDTHS[::-1], maxima[::-1], strict=True):
        nearest = core.descend(nearest, bounds, window, width)
    trees: Trees = core.trees_of_nearest(nearest.shaped_as(position), line, keys)
    return trees


def _from_afar(
    g: Graph, nearest: Value, maxima: Value, position: Value, bounds: Value, longest: Value
) -> Value:
    """Move the candidates for the nearest keys that reach their bounds by windows wider than the
    last of `WIDTHS`, from the `maxima` of that width."""
    body = g.body("widen_windows")
    narrow = body.input("maxima", INT64, ["K"])
    width = body.input("width", INT64, [])
    wider = core.widen(narrow, position, width)
    doubled = width * 2
    body.output(wider, "wider", INT64, ["K"])
    body.output(doubled, "doubled", INT64, [])
    body.output(wider, "window", INT64, ["K"])
    start = [maxima, g.constant(WIDTHS[-1])]
    half = (longest + 1) // 2
    _, widest, windows = g.loop(body, 62, start, going=doubled < half)

    body = g.body("nearest_greater")
    before = body.input("nearest", INT64, ["K"])
    width = body.input("width", INT64, [])
    count = windows.size(0).squeeze(0)
    window = windows.index_select(0, count - 1 - body.step)
    nearer = core.descend(before, bounds, window, width)
    body.output(nearer, "nearer", INT64, ["K"])
    body.output(width // 2, "halved", INT64, [])
    return g.loop(body, count, [nearest, widest])[0]
