"""An encoder with a parser in an ONNX graph, as in `thinstack.core.model.parsing_encoder` and
`thinstack.core.distance_trees`."""

from typing import Any, Final, cast

import numpy as np
import onnx

from thinstack.core.distance_trees import (
    BinaryTrees,
    descend,
    gap_keys,
    most_words,
    trees_of_nearest,
    two_sided,
    widen,
)
from thinstack.core.head import TaskHead
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.core.parser import Parser
from thinstack.core.schedule import parents_of_transitions
from thinstack.export.onnx import encoder as encoders
from thinstack.export.onnx.encoder import Encoding, Words, writer_of
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_parser, inline
from thinstack.export.onnx.plan import depths_of, last_words
from thinstack.export.onnx.value import Value

WIDTHS: Final = (1, 2, 4, 8, 16)
"""Windows of keys that stand in the graph. Up to twice as many words as the last need no others."""

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
    """The encoding over given trees, or over the trees that the parser makes, see
    `thinstack.export.onnx.encoder.encode`."""
    steps, vectors = inputs["transitions"], words.vectors
    # An empty batch has nothing to parse: onnxruntime's LSTM would end the process.
    own, given = Graph("own_trees", outer=g), Graph("given_trees", outer=g)
    lengths: Any = inputs["lengths"].within(own).long()
    breaks: Any = inputs["breaks"].within(own).long() if encoder.joins else lengths.zeros_like()
    condition = is_unparsed(steps, vectors)
    if g.device == "cpu":
        scored = distances(own, encoder.parser, vectors.within(own), lengths)
    else:
        scored = _distances_on_gpu(g, encoder.parser, vectors, inputs["lengths"], condition)
        scored = scored.within(own).as_vector()
    scored = scored.shaped_as(Value.arange(vectors.size(0)))
    _give(own, trees_of_distances(own, scored, lengths, breaks))
    told: Any = steps.within(given).long()
    # The branch asks for the size, so that what is made of it belongs to the branch.
    told.like = told.as_vector(steps.size(0).within(given))
    parents, _ = parents_of_transitions(told)
    _give(given, (told, depths_of(parents), last_words(told)))
    chosen = [value.as_vector() for value in g.choose(condition, own, given)]
    for value in chosen[1:]:
        value.shaped_as(chosen[0])
    trees = dict(zip(BinaryTrees._fields, chosen, strict=True))
    found = encoders.encode(g, encoder.encoder, words, trees, head=head, roots_only=roots_only)
    return found._replace(transitions=trees["transitions"])


def _distances_on_gpu(
    g: Graph, parser: Parser, vectors: Value, lengths: Value, condition: Value
) -> Value:
    """The distances (L,), or none (0,) if nothing is to be parsed. They are a branch of their own:
    the trees are made on the host."""
    own, none = Graph("own_distances", outer=g), Graph("no_distances", outer=g)
    scored = distances(own, parser, vectors.within(own), lengths.within(own).long())
    own.output(scored, "distances", FLOAT, ["L"])
    none.output(none.constant(np.zeros(0, np.float32)), "distances", FLOAT, ["none"])
    return g.choose(condition, own, none)[0]


def is_unparsed(transitions: Value, words: Value) -> Value:
    """Whether there are words (L, ...) and no transitions (N,) over them, as a scalar. It is false
    for an empty batch."""
    # Of given trees there are no fewer transitions than words.
    return (transitions.size(0) < words.size(0)).squeeze(0)


def distances(g: Graph, parser: Parser, words: Value, lengths: Value) -> Value:
    """Distances (L,) of the gap after each word, from words (L, X), L >= 1, and lengths (S,).

    They are written by the module that the parser names, by its function of the same name and
    arguments. If it names no module, torch exports the parser. Raises ExportError if they cannot be
    exported.
    """
    if not parser.onnx:
        return inline(g, export_parser(parser), [words, lengths])[0]
    written = writer_of(parser, "distances")
    found: Value = written(g, parser, words, lengths)
    return found


def _give(g: Graph, trees: Any) -> None:
    for value, name in zip(trees, BinaryTrees._fields, strict=True):
        g.output(value, name, INT64, ["N"])


def trees_of_distances(g: Graph, distances: Any, lengths: Any, breaks: Any) -> BinaryTrees:
    """The trees that cut every span at its greatest gap, from distances (L,), lengths (S,) and
    breaks (S,), see `thinstack.core.distance_trees`."""
    keys: Any = gap_keys(distances, lengths, breaks)
    line, bounds = (cast(Value, each) for each in two_sided(keys))
    position: Any = Value.arange(line.size(0))
    maxima = [cast(Any, line)]
    for width in WIDTHS[:-1]:
        maxima.append(cast(Any, widen(maxima[-1], position, width)))
    nearest: Any = (position - 1).clamp(0)
    few, many = Graph("few_words", outer=g), Graph("many_words", outer=g)
    few.output(nearest, "nearest", INT64, ["K"])
    words: Any = most_words(keys.within(many), lengths.within(many), breaks.within(many))
    longest = words.op("ReduceMax", keepdims=0)
    start = nearest.within(many), maxima[-1].within(many)
    far = _from_afar(many, *start, position.within(many), bounds.within(many), longest)
    many.output(far, "nearest", INT64, ["K"])
    any_far = (keys.size(0) > 2 * WIDTHS[-1]).squeeze(0)
    (nearest,) = g.choose(any_far, many, few)
    for width, window in zip(WIDTHS[::-1], maxima[::-1], strict=True):
        nearest = descend(nearest, cast(Any, bounds), window, width)
    return trees_of_nearest(nearest.shaped_as(position), cast(Any, line), keys)


def _from_afar(
    g: Graph, nearest: Value, maxima: Value, position: Any, bounds: Any, longest: Any
) -> Value:
    """The candidates for the nearest keys that reach their bounds, moved by windows that are wider
    than the last of `WIDTHS`, from the `maxima` of that width."""
    body = g.body("widen_windows")
    narrow: Any = body.input("maxima", INT64, ["K"])
    width: Any = body.input("width", INT64, [])
    wider: Any = widen(narrow, position, width)
    doubled = width * 2
    body.output(wider, "wider", INT64, ["K"])
    body.output(doubled, "doubled", INT64, [])
    body.output(wider, "window", INT64, ["K"])
    start = [maxima, g.constant(WIDTHS[-1])]
    half: Any = (longest + 1) // 2
    _, widest, windows = g.loop(body, 62, start, going=doubled < half)

    body = g.body("nearest_greater")
    before: Any = body.input("nearest", INT64, ["K"])
    width = body.input("width", INT64, [])
    count: Any = windows.size(0).squeeze(0)
    window: Any = windows.index_select(0, count - 1 - body.step)
    nearer: Any = descend(before, bounds, window, width)
    body.output(nearer, "nearer", INT64, ["K"])
    body.output(width // 2, "halved", INT64, [])
    return g.loop(body, count, [nearest, widest])[0]
