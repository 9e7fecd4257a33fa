"""Bundles whose models can be checked by hand: a phrase's scores come from its last word and from
whether it is one word. A model may parse; its tree is one that no fixed source makes."""

import random

import numpy as np
import spacy
from onnx import TensorProto, checker, helper, numpy_helper, parser

from thinstack.bundle import write_bundle
from thinstack.core.config import ModelConfig
from thinstack.data.words.ptb import escape

LABELS = ("bad", "so-so", "good")
WORDS = ("good", "awful", ".", "film", "-LRB-")
PIECES = ("[UNK]", "film", "##s", "good", "bad", "##ly")
IDS_OF_PIECES = {"film": [1], "films": [1, 2], "good": [3], "goods": [3, 2], "badly": [4, 5]}
KNOWN = {"words": WORDS, "wordpieces": tuple(IDS_OF_PIECES)}
"""Words of the vocabulary of each kind."""

# Values that sums keep exactly. Row 0 is any other word's.
TABLE = np.array([[0, 1, 0], [0, 0, 3], [3, 0, 0], [0, 0.5, 0], [0, 2, 0], [1, 0, 1]], np.float32)
PHRASE = np.array([0, 0, 0.25], np.float32)

OUTPUTS = {
    "capped": "parse = Identity(taken)",
    "shifts": "parse = Sub(taken, taken)",
    "long": "parse = Concat<axis=0>(taken, end_step)",
    "floats": "parse = Cast<to=1>(taken)",
    "backwards": "parse = Slice(taken, last_at, least, first_at, last_at)",
    "misnamed": "trees = Identity(taken)",
}
"""Parsers by the output that they give: a good one, and others whose output is only SHIFTs, one too
many, of the wrong type, from end to start, misnamed."""


def own_parse(words):
    """Transitions of the tree that a model with a parser makes: all words but the last joined from
    the right, and the last one to that, (((a (b c)) d)."""
    return [0] if words == 1 else [0] * (words - 1) + [1] * (words - 2) + [0, 1]


def random_tree(words, rng, reduces=0.5):
    """Transitions of a random binary tree: while both are possible, SHIFT or REDUCE by a coin."""
    steps, stack, left = [], 0, words
    while left or stack > 1:
        reduce = stack > 1 and (not left or rng.random() < reduces)
        steps.append(int(reduce))
        stack, left = (stack - 1, left) if reduce else (stack + 1, left - 1)
    return np.array(steps, np.int8)


def random_sentences(kind, count):
    """Sentences of known words, and random trees over them."""
    rng = random.Random(0)
    lengths = [rng.choice([1, 2, 3, 8, 30]) for _ in range(count)]
    words = [rng.choices(KNOWN[kind], k=length) for length in lengths]
    return words, [random_tree(length, rng) for length in lengths]


def expected_rows(kind, words, transitions):
    """The scores (2L - 1, 3) of one sentence of known words."""
    rows, last = [], -1
    for step in transitions:
        last += step == 0
        ids = [WORDS.index(words[last]) + 1] if kind == "words" else IDS_OF_PIECES[words[last]]
        powers = np.exp(TABLE[ids].astype(float).sum(axis=0) + step * PHRASE)
        rows.append(powers / powers.sum())
    return np.array(rows)


def expected(last_word, words=1, table=TABLE):
    """The scores of a phrase of so many words that ends in this word."""
    row = WORDS.index(escape(last_word)) + 1 if escape(last_word) in WORDS else 0
    powers = np.exp(table[row].astype(float) + (PHRASE if words > 1 else 0))
    return dict(zip(LABELS, (powers / powers.sum()).tolist(), strict=True))


def best(scores):
    return max(scores, key=lambda label: scores[label])


def mean_of(*sentences):
    """The mean over sentences of several words, given by their last word and their weight."""
    total = sum(weight for _, weight in sentences)
    return {
        label: sum(expected(word, 2)[label] * weight for word, weight in sentences) / total
        for label in LABELS
    }


def pipeline(bundle, *before, component="tree_sentiment", **settings):
    """A sentencizer, other components that run the model, and the component with these settings."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for other in before:
        nlp.add_pipe(other, config={"model": str(bundle), "threads": 1})
    nlp.add_pipe(component, config={"model": str(bundle), "threads": 1, **settings})
    return nlp


def write_last_word_bundle(
    path,
    kind="words",
    *,
    tree_source=None,
    table=TABLE,
    parser=None,
    onnx=None,
    labels=LABELS,
    words=WORDS,
    more=None,
):
    """`parser`: the model parses, as `OUTPUTS` says, and that is its tree source unless another is
    named. `onnx`: another model in place of the one that fits. `words`: its vocabulary, if that is
    of words. `more`: other files."""
    config = {
        "labels": labels,
        "embedding": {"kind": kind, "size": 3},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 3},
        "head": {"name": "node_classifier.v1"},
        "tree_source": tree_source or ("self" if parser else "balanced"),
        "encoder": {"tracker": {"size": 1}} if parser else {},
    }
    entries = words if kind == "words" else PIECES
    files = {
        "vocabulary.txt": "".join(f"{entry}\n" for entry in entries).encode(),
        "onnx/model.onnx": last_word_model(kind, table=table, parser=parser)
        if onnx is None
        else onnx,
        "README.md": b"A card.",
    }
    return write_bundle(path, files | (more or {}), config=ModelConfig.parse(config, source="test"))


_WORDS = "values = Gather(table, token_ids)"
_PIECES = """
    piece_values = Gather(table, piece_ids)
    sums = CumSum(piece_values, zero)
    padded = Concat<axis=0>(no_row, sums)
    per_word = Cast<to=7>(pieces_per_word)
    ends = CumSum(per_word, zero)
    starts = Sub(ends, per_word)
    upto = Gather(padded, ends)
    before = Gather(padded, starts)
    values = Sub(upto, before)"""
_PARSER = """
    n = Cast<to=7>(lengths)
    n_twice = Add(n, n)
    sizes = Sub(n_twice, one)
    sentence_ends = CumSum(sizes, zero)
    sentence_starts = Sub(sentence_ends, sizes)
    total = ReduceSum<keepdims=0>(sizes)
    place = Range(zero, total, one)
    column = Unsqueeze(place, columns)
    is_behind = GreaterOrEqual(column, sentence_ends)
    behind = Cast<to=7>(is_behind)
    sentence = ReduceSum<keepdims=0>(behind, columns)
    words = Gather(n, sentence)
    first = Gather(sentence_starts, sentence)
    step = Sub(place, first)
    before_last = Sub(words, one)
    late = GreaterOrEqual(step, before_last)
    size = Add(before_last, words)
    before_root = Sub(size, one)
    last_shift = Sub(before_root, one)
    shifts_last = Equal(step, last_shift)
    not_last = Not(shifts_last)
    several = Greater(words, one)
    late_other = And(late, not_last)
    reduces = And(late_other, several)
    own = Cast<to={index}>(reduces)
    shape = Shape(transitions)
    given = ReduceSum<keepdims=0>(shape)
    parses = Equal(given, zero)
    taken = If (parses) <
        then_branch = a () => ({kind}[m] made) {{ made = Identity(own) }},
        else_branch = b () => ({kind}[m] kept) {{ kept = Identity(transitions) }}>
    {output}"""
_SCORES = """
    steps = Cast<to=7>({steps})
    shift = Sub(one, steps)
    shifted = CumSum(shift, zero)
    last = Sub(shifted, one)
    of_word = Gather(values, last)
    reduce = Cast<to=1>({steps})
    reduce_column = Unsqueeze(reduce, columns)
    of_phrase = Mul(reduce_column, phrase)
    logits = Add(of_word, of_phrase)
    node_scores = Softmax<axis=1>(logits)"""


def last_word_model(
    kind="words", index=TensorProto.INT32, *, table=TABLE, phrase=PHRASE, metadata=None, parser=None
):
    """The model: softmax of the last word's row of the table (the sum of its pieces' rows), to
    which `phrase` is added where there are several words. Its inputs are of type `index`."""
    name = {TensorProto.INT32: "int32", TensorProto.INT64: "int64"}[index]
    inputs = ["token_ids"] if kind == "words" else ["piece_ids", "pieces_per_word"]
    outputs = [f"float[N, {len(phrase)}] node_scores"]
    nodes = [_WORDS if kind == "words" else _PIECES]
    if parser:
        inputs.append("lengths")
        output = OUTPUTS[parser]
        outputs.append(f"{'float' if parser == 'floats' else name}[M] {output.split()[0]}")
        nodes.append(_PARSER.format(index=index, kind=name, output=output))
    nodes.append(_SCORES.format(steps="taken" if parser else "transitions"))
    declared = ", ".join(f"{name}[n{i}] {x}" for i, x in enumerate([*inputs, "transitions"]))
    return _made(
        f"g ({declared}) => ({', '.join(outputs)}) {{{''.join(nodes)}}}", table, phrase, metadata
    )


def _made(graph, table, phrase, metadata):
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {graph}')
    whole = np.int64 if "int64[n0]" in graph else np.int32
    constants = {
        "table": table,
        "phrase": phrase[None],
        "no_row": np.zeros((1, len(phrase)), np.float32),
        "zero": np.array(0),
        "one": np.array(1),
        "columns": np.array([1]),
        "end_step": np.ones(1, whole),
        "first_at": np.array([0]),
        "last_at": np.array([-1]),
        "least": np.array([-(2**31)]),
    }
    used = {name for node in proto.graph.node for name in node.input}
    for name in used & constants.keys():
        proto.graph.initializer.append(numpy_helper.from_array(constants[name], name))
    helper.set_model_props(proto, metadata or {})
    checker.check_model(proto)
    return proto.SerializeToString()
