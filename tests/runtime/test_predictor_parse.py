"""The predictor on models that make trees of their own, whose parses plain Python knows."""

import pickle
from itertools import chain, product

import numpy as np
import pytest
from last_word_model import last_word_model, own_parse, random_sentences, write_last_word_bundle
from predictions import Watched

from thinstack.core import transitions
from thinstack.core.transitions import balanced, over
from thinstack.data.trees.brackets import from_brackets, to_brackets
from thinstack.errors import BundleError, InputError
from thinstack.runtime.interface import Batch, check_parse
from thinstack.runtime.predictor import Predictor

FOUR = ["film", "awful", ".", "good"]


@pytest.fixture
def predictor(parsing):
    return Predictor(parsing, threads=1)


def test_one_run_gives_the_trees_and_the_scores_of_a_batch(predictor):
    watched = predictor._session = Watched(predictor._session)
    words, trees = random_sentences("words", 40)
    predictor.predict(words)
    predictor.node_scores(words, trees)
    runs = [(len(feeds["lengths"]), sorted(outputs)) for outputs, feeds, _ in watched.runs]
    assert runs == [(40, ["node_scores", "parse"]), (40, ["node_scores"])]


def test_predictions_hold_the_own_parse(predictor):
    again = pickle.loads(pickle.dumps(predictor))
    own = predictor.predict([FOUR], source="self")
    for made in (predictor.predict([FOUR]), own, again.predict([FOUR])):
        (found,) = made
        assert found.transitions.tolist() == [0, 0, 0, 1, 1, 0, 1]
        assert found.spans.tolist() == [[0, 1], [1, 2], [2, 3], [1, 3], [0, 3], [3, 4], [0, 4]]
        tree = from_brackets(found.to_dict()["tree"])
        assert to_brackets(tree, labelled=False) == "( ( film ( awful . ) ) good )"
    assert predictor.tree_maker()([*FOUR, "x"]).tolist() == own_parse(5)
    assert predictor.tree_maker("self")(["good"]).tolist() == [0]


def test_the_source_of_a_model_need_not_be_its_parser(tmp_path):
    made = write_last_word_bundle(tmp_path / "model", parser="capped", tree_source="left")
    predictor = Predictor(made)
    assert predictor.predict([FOUR])[0].transitions.tolist() == transitions.left(4).tolist()
    assert predictor.predict([FOUR], source="self")[0].transitions.tolist() == own_parse(4)


def test_a_model_without_a_parser_has_no_trees_of_its_own(last_word):
    plain = Predictor(last_word)
    for call in (
        lambda: plain.predict([["good"]], source="self"),
        lambda: plain.predict([], source="self"),
        lambda: plain.trees_and_scores([["good"]], "self"),
        lambda: plain.tree_maker("self"),
    ):
        with pytest.raises(InputError, match=r"'self'; .*balanced, left, right$"):
            call()


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        ("shifts", "sentence 0 .*transition 2 .*3 nodes"),
        ("backwards", "sentence 1 .*transition 0 is a REDUCE"),
        ("long", r"expected 4 .*\(5,\) of int32"),
        ("floats", r"expected 4 .*\(4,\) of float32"),
    ],
)
def test_a_parse_that_is_no_tree_is_an_error_of_the_bundle(tmp_path, parser, message):
    predictor = Predictor(write_last_word_bundle(tmp_path / "model", parser=parser))
    with pytest.raises(BundleError, match=rf"model\.onnx: .*{message}"):
        predictor.predict([["good", "film"], ["awful"]])
    predictor.predict([["good", "film"], ["awful"]], source="left")


@pytest.mark.parametrize(
    ("configured", "kind", "exported", "message"),
    [
        ("capped", "words", None, "token_ids, lengths, transitions;"),
        (None, "words", "capped", "inputs token_ids, transitions;"),
        (None, "wordpieces", None, "inputs token_ids, transitions;"),
        ("capped", "words", "misnamed", "no output parse, only node_scores, trees"),
    ],
)
def test_inputs_and_outputs_fit_the_configuration(tmp_path, configured, kind, exported, message):
    model = last_word_model(kind, parser=exported)
    made = write_last_word_bundle(tmp_path / "a", parser=configured, onnx=model)
    with pytest.raises(BundleError, match=message):
        Predictor(made)


@pytest.mark.parametrize("kind", [np.float32, np.bool_])
def test_a_parse_must_be_whole_numbers(kind):
    batch = Batch({}, lengths=[2], places=[0], sizes=[3])
    check_parse(np.array([0, 0, 1], np.int32), batch, "model.onnx")
    with pytest.raises(BundleError, match=np.dtype(kind).name):
        check_parse(np.array([0, 0, 1], kind), batch, "model.onnx")


TREES = {1: {(0,)}, 2: {(0, 0, 1)}, 3: {(0, 0, 1, 0, 1), (0, 0, 0, 1, 1)}}
"""All trees over so many words."""


@pytest.mark.parametrize("lengths", [[3], [1, 2], [2, 1], [1, 1, 1]])
@pytest.mark.parametrize("joined", [False, True])
def test_only_trees_are_let_pass(lengths, joined):
    nodes, top = [2 * length - 1 for length in lengths], balanced(len(lengths))
    batch = Batch({}, lengths, range(len(lengths)), nodes)
    whole = {tuple(chain(*trees)) for trees in product(*(TREES[length] for length in lengths))}
    if joined:
        batch = batch._replace(sizes=[sum(nodes) + len(lengths) - 1], tops=[top])
        whole = {
            tuple(over(top, [np.array(tree) for tree in trees]).tolist())
            for trees in product(*(TREES[length] for length in lengths))
        }
    passed = set()
    for steps in product((-1, 0, 1, 2), repeat=batch.nodes):
        try:
            check_parse(np.array(steps), batch, "model.onnx")
        except BundleError:
            continue
        passed.add(steps)
    assert passed == whole
