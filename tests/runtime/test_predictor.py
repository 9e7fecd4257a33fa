"""The torch-free predictor, on small models whose answers plain Python knows."""

import hashlib
import os
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from command_line import python
from last_word_model import (
    KNOWN,
    TABLE,
    WORDS,
    expected_rows,
    last_word_model,
    own_parse,
    random_sentences,
    write_last_word_bundle,
)
from onnx import TensorProto, load_model_from_string

from thinstack import Tree
from thinstack.bundle import write_bundle
from thinstack.core import transitions
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import BundleError, InputError, TreeError
from thinstack.runtime import scorer as module
from thinstack.runtime.predictor import Predictor

INT32, INT64 = TensorProto.INT32, TensorProto.INT64
LEAF = np.zeros(1, np.int8)


def predictor_of(path, kind="words", *, threads=1, **options):
    return Predictor(write_last_word_bundle(path / "model", kind, **options), threads=threads)


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.parametrize("parser", [None, "capped"])
@pytest.mark.parametrize(("index", "nodes"), [(INT32, 1), (INT32, 40), (INT64, 40), (INT64, 8192)])
def test_trees_and_scores_are_the_models_in_input_order(
    tmp_path, kind, parser, index, nodes, monkeypatch
):
    monkeypatch.setitem(module.BATCH_NODES, "cpu", nodes)
    model = last_word_model(kind, index, parser=parser)
    predictor = predictor_of(tmp_path, kind, onnx=model, parser=parser)
    words, trees = random_sentences(kind, 50)
    own = [own_parse(len(sentence)) for sentence in words] if parser else []
    given = [(trees, trees)] + [(source, own) for source in ("auto", "self") if parser]
    given += [
        (shape, [getattr(transitions, shape)(len(sentence)) for sentence in words])
        for shape in ("balanced", "left", "right")
    ]
    for source, wanted in given:
        found = predictor.trees_and_scores(words, source)
        for (steps, scores, *_), sentence, tree in zip(found, words, wanted, strict=True):
            assert (steps.dtype, scores.dtype) == (np.int8, np.float32)
            assert steps.tolist() == list(tree)
            np.testing.assert_allclose(scores, expected_rows(kind, sentence, tree), atol=1e-6)


def test_no_sentences_give_no_scores(predictor):
    assert predictor.node_scores([], []) == []
    assert predictor.predict([]) == []
    assert predictor.predict_trees([]) == []


def test_predict_trees_keeps_the_trees(predictor):
    trees = [from_brackets("(1 (0 (0 awful) (0 film)) (1 good))"), from_brackets("(1 awful)")]
    first, second = predictor.predict_trees(trees)
    assert (first.transitions.tolist(), second.transitions.tolist()) == ([0, 0, 1, 0, 1], [0])
    rows = expected_rows("words", ["awful", "film", "good"], [0, 0, 1, 0, 1])
    np.testing.assert_allclose(first.node_scores, rows, atol=1e-6)
    np.testing.assert_allclose(second.node_scores, rows[:1], atol=1e-6)


def test_one_session_serves_many_threads(predictor):
    words, trees = random_sentences("words", 60)
    alone = predictor.node_scores(words, trees)

    def work(seed):
        generator, same = random.Random(seed), 0
        for _ in range(60):
            order = generator.sample(range(60), 2)
            found = predictor.node_scores([words[i] for i in order], [trees[i] for i in order])
            same += all(map(np.array_equal, found, (alone[i] for i in order)))
        return same

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(16))) == [60] * 16


def test_threads_share_the_batches_of_a_call(tmp_path, monkeypatch):
    words, trees = random_sentences("words", 400)
    expected_scores = predictor_of(tmp_path / "one", threads=1).node_scores(words, trees)
    predictor = predictor_of(tmp_path / "three", threads=3)
    run, met, sizes = Predictor._run, Barrier(3), list[int]()

    def watch(self, batch):
        sizes.append(len(batch.places))
        if len(sizes) <= 3:
            met.wait(timeout=300)  # three batches run at a time, or this fails
        return run(self, batch)

    monkeypatch.setattr(Predictor, "_run", watch)
    found = predictor.node_scores(words, trees)
    assert len(sizes) >= 3
    assert sum(sizes) == 400
    for one, other in zip(found, expected_scores, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_an_error_of_a_batch_is_the_callers(tmp_path):
    predictor = predictor_of(tmp_path, threads=3)
    words = [["film", "good"] * 20 for _ in range(60)]
    words[41] = ["film", None]
    with pytest.raises(InputError, match=r"sentence 41: .*None"):
        predictor.predict(words)
    assert len(predictor.predict(words[:40])) == 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_session_of_its_own(last_word):
    code = """
import os, sys, thinstack
predictor = thinstack.load(sys.argv[1], threads=4)
words = [["film", "good"] * 10] * 3000
before = predictor.node_scores(words, [predictor.tree_maker()(words[0])] * 3000)
session = predictor._session
child = os.fork()
if child == 0:
    after = predictor.node_scores(words, [predictor.tree_maker()(words[0])] * 3000)
    differ = any((a != b).any() for a, b in zip(before, after))
    os._exit(3 * differ or 4 * (predictor._session is session))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python(code, last_word.path).returncode == 0


BAD_INPUT = [
    ([["the"], [], ["film"]], "auto", "sentence 1 has no words"),
    ([["the"], []], [LEAF] * 2, "sentence 1 has no words"),
    ([["good"], "a good film"], "auto", "sentence 1: expected a list of words, found a text"),
    ([["good"]], "gold", r"'gold'.* balanced, left, right(, self)?$"),
    ([["the"]], [np.zeros(1)], "float64"),
    ([["the"], ["film"]], [LEAF], "found 1"),
    ([["the"]], [LEAF[:0]], "sentence 0 has 1 words.*found 0"),
]
NO_TREES = {
    (0, 0): "sentence 1 .* found 2",
    (0, 0, 1, 0): "found 4",
    (0, 1, 0): "sentence 1: transition 1 .*REDUCE",
    (0, 0, 0): "sentence 1: transition 2 .*3 nodes",
    (1, 0, 0): "sentence 1: transition 0",
    (0, 0, 2): "sentence 1: transition 2 is 2",
    (0, 0, -1): "transition 2 is -1",
}
BAD_INPUT += [
    ([["the"], ["good", "film"], ["is"]], [LEAF, np.array(steps, np.int8), LEAF], message)
    for steps, message in NO_TREES.items()
]


@pytest.mark.parametrize("parser", [None, "capped"])
def test_bad_input_is_named(tmp_path, parser):
    predictor = predictor_of(tmp_path, parser=parser)
    for words, trees, message in BAD_INPUT:
        with pytest.raises(InputError, match=message):
            predictor.trees_and_scores(words, trees)


def test_trees_that_are_not_binary_over_their_leaves_are_refused(predictor):
    good = from_brackets("(1 good)")
    with pytest.raises(TreeError, match="tree 1: node 3"):
        predictor.predict_trees([good, from_brackets("(1 (1 a) (1 b) (1 c))")])
    with pytest.raises(TreeError, match="tree 1: node 1"):
        predictor.predict_trees([good, Tree.from_parents([1, -1, 1], ["a", "sees", "b"])])


def test_an_unusual_word_breaks_nothing(predictor):
    for word in ("", " ", "\0", "\ud800", "x" * 100_000, "👩‍👩‍👧"):
        assert predictor.predict([[word, "film"]])[0].node_scores.shape == (3, 3)


@pytest.mark.parametrize("key", ["vocabulary_digest", "labels", "embedding", "parses"])
def test_a_model_of_another_vocabulary_or_labels_is_refused(tmp_path, key):
    text = "".join(f"{word}\n" for word in WORDS)
    own = {
        "vocabulary_digest": hashlib.sha256(text.encode()).hexdigest(),
        "labels": '["bad", "so-so", "good"]',
        "embedding": "words",
        "parses": "false",
    }
    predictor_of(tmp_path, onnx=last_word_model(metadata=own))
    with pytest.raises(BundleError, match=f"{key} other"):
        predictor_of(tmp_path, onnx=last_word_model(metadata={**own, key: "other"}))


@pytest.mark.parametrize(
    ("kind", "most"), [("wordpieces", "many"), ("wordpieces", "0"), ("words", "9")]
)
def test_a_limit_of_pieces_is_a_number_of_a_model_of_pieces(tmp_path, kind, most):
    odd = last_word_model(kind, metadata={"max_pieces": most})
    with pytest.raises(BundleError, match=f"max_pieces.*found '{most}'"):
        predictor_of(tmp_path, kind, onnx=odd)


def test_a_bundle_without_onnx_is_refused(last_word, tmp_path):
    files = {"vocabulary.txt": last_word.read("vocabulary.txt")}
    bare = write_bundle(tmp_path / "bare", files, config=last_word.config)
    with pytest.raises(BundleError, match=r"no onnx/model\.onnx"):
        Predictor(bare)


def test_scores_that_are_not_finite_are_an_error(tmp_path):
    table = TABLE.copy()
    table[3] = np.inf  # of a word of two pieces it is taken from itself
    model = last_word_model("wordpieces", table=table)
    predictor = predictor_of(tmp_path, "wordpieces", onnx=model)
    predictor.predict([["film"]])
    with pytest.raises(BundleError, match=r"\d+ not finite"):
        predictor.predict([["film", "goods", "film"]])


def with_softmax(table=TABLE):
    """A model, and the node that gives its scores."""
    proto = load_model_from_string(last_word_model("words", table=table))
    (softmax,) = (node for node in proto.graph.node if node.op_type == "Softmax")
    return proto, softmax


WRONG_ROWS = [[-7e30, 7e30, 1], [3e38, 3e38, 1], [-0.01, 0.51, 0.5]]
WRONG_ROWS += [[0, 0, 0], [0.5, 0.5, 0.01], [2, -0.5, -0.5]]


@pytest.mark.parametrize("row", WRONG_ROWS)
def test_scores_that_are_no_probabilities_are_an_error(tmp_path, row):
    """The scores are then the row of the word itself."""
    table = np.array([row] * len(TABLE), np.float32)
    table[WORDS.index("good") + 1] = [0.25, 0.25, 0.5]
    proto, softmax = with_softmax(table)
    softmax.op_type = "Identity"
    del softmax.attribute[:]
    predictor = predictor_of(tmp_path, onnx=proto.SerializeToString())
    assert predictor.predict([["good"]])[0].node_scores.tolist() == [[0.25, 0.25, 0.5]]
    with pytest.raises(BundleError, match="node_scores"):
        predictor.predict([["good"], ["film"]])


def test_scores_of_another_type_are_an_error(tmp_path):
    proto, softmax = with_softmax()
    softmax.op_type = "Cast"
    softmax.attribute[0].name, softmax.attribute[0].i = "to", INT32
    proto.graph.output[0].type.tensor_type.elem_type = INT32
    with pytest.raises(BundleError, match=r"node_scores .*float32, .*int32"):
        predictor_of(tmp_path, onnx=proto.SerializeToString()).predict([["good"]])
