"""The predictor on models that make trees of their own, whose parses plain Python knows."""

import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from runtime.own_parse import own_parse
from tiny_onnx import WORDS, bundle, expected, model, parsing_bundle, random_tree

from thinstack.core import transitions
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.errors import BundleError, InputError
from thinstack.runtime import predictor as module
from thinstack.runtime.predictor import Predictor

KNOWN = {"words": WORDS, "wordpieces": ["film", "films", "good", "goods", "badly"]}


@pytest.fixture
def predictor(tmp_path: Path) -> Predictor:
    return Predictor(parsing_bundle(tmp_path / "parsing"), threads=1)


def sentences(kind: str = "words", count: int = 40) -> list[list[str]]:
    rng = random.Random(0)
    return [
        [rng.choice(KNOWN[kind]) for _ in range(rng.choice([1, 2, 3, 8, 30]))] for _ in range(count)
    ]


class Watched:
    """A session that notes how many sentences each of its runs was given, and what was asked
    for."""

    def __init__(self, session: Any):
        self.session, self.runs = session, []

    def run(self, outputs: Sequence[str], feeds: dict[str, Any]) -> Any:
        self.runs.append((len(feeds["lengths"]), sorted(outputs)))
        return self.session.run(outputs, feeds)


# -- own parses
# --------------------------------------------------------------------------------------------------


def test_the_parse_of_the_stand_in_is_no_fixed_shape() -> None:
    for words in (4, 5, 9):
        fixed = [
            shape(words).tolist()
            for shape in (transitions.balanced, transitions.left, transitions.right)
        ]
        assert transitions.validate(own_parse(words), words=words).tolist() not in fixed


@pytest.mark.parametrize("kind", ["words", "wordpieces"])
@pytest.mark.parametrize("index", [TensorProto.INT32, TensorProto.INT64])
@pytest.mark.parametrize("nodes", [1, 40, 8192])
def test_parses_and_scores_are_the_models_in_input_order(
    tmp_path: Path, kind: str, index: int, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_NODES", nodes)
    predictor = Predictor(
        parsing_bundle(tmp_path / "model", kind, onnx=model(kind, index, parser="capped"))
    )
    words = sentences(kind)
    for found in (predictor.trees_and_scores(words), predictor.trees_and_scores(words, "self")):
        assert len(found) == len(words)
        for (steps, scores), sentence in zip(found, words, strict=True):
            assert (steps.dtype, scores.dtype) == (np.int8, np.float32)
            assert steps.tolist() == own_parse(len(sentence))
            np.testing.assert_allclose(
                scores, expected(kind, sentence, own_parse(len(sentence))), atol=1e-6
            )


def test_one_run_gives_the_trees_and_the_scores_of_a_batch(predictor: Predictor) -> None:
    watched = predictor._session = Watched(predictor._session)
    words = sentences()
    predictor.predict(words)
    predictor.node_scores(
        words, [random_tree(len(sentence), random.Random(1)) for sentence in words]
    )
    assert watched.runs == [(40, ["node_scores", "parse"]), (40, ["node_scores"])]


def test_predictions_hold_the_own_parse(predictor: Predictor) -> None:
    words = ["the", "film", "is", "good"]
    for found in (*predictor.predict([words]), *predictor.predict([words], source="self")):
        assert found.transitions.tolist() == [0, 0, 0, 1, 1, 0, 1]
        assert found.spans.tolist() == [[0, 1], [1, 2], [2, 3], [1, 3], [0, 3], [3, 4], [0, 4]]
        tree = from_brackets(found.to_dict()["tree"])
        assert to_brackets(tree, labelled=False) == "( ( the ( film is ) ) good )"
        assert (found.words, found.text) == (tuple(words), "the film is good")


def test_a_tree_maker_parses(predictor: Predictor) -> None:
    assert predictor.tree_maker()(["the", "film", "is", "good", "bad"]).tolist() == own_parse(5)
    assert predictor.tree_maker("self")(["good"]).tolist() == [0]


def test_the_source_of_a_model_need_not_be_its_parser(tmp_path: Path) -> None:
    predictor = Predictor(parsing_bundle(tmp_path / "model", tree_source="left"))
    words = [["the", "film", "is", "good"]]
    assert predictor.predict(words)[0].transitions.tolist() == transitions.left(4).tolist()
    assert predictor.predict(words, source="self")[0].transitions.tolist() == own_parse(4)


def test_a_pickled_predictor_parses(predictor: Predictor) -> None:
    again = pickle.loads(pickle.dumps(predictor))
    assert again.predict([["good", "film", "bad", "the"]])[0].transitions.tolist() == own_parse(4)


# -- given trees
# --------------------------------------------------------------------------------------------------


def test_a_model_that_parses_takes_given_trees_too(predictor: Predictor) -> None:
    rng = random.Random(2)
    words = sentences()
    trees = [random_tree(len(sentence), rng) for sentence in words]
    rows = predictor.node_scores(words, trees)
    for found, scores, sentence, tree in zip(
        predictor.trees_and_scores(words, trees), rows, words, trees, strict=True
    ):
        assert found.transitions.tolist() == tree.tolist()
        np.testing.assert_array_equal(found.scores, scores)
        np.testing.assert_allclose(scores, expected("words", sentence, tree.tolist()), atol=1e-6)
    (found,) = predictor.predict_trees(
        [from_brackets("(1 (0 the) (1 (0 film) (0 (1 is) (1 good))))")]
    )
    assert found.transitions.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert predictor.node_scores([], []) == []


@pytest.mark.parametrize("source", ["balanced", "left", "right"])
def test_fixed_shapes_are_still_there(predictor: Predictor, source: str) -> None:
    words = ["the", "film", "is", "good", "bad"]
    (found,) = predictor.predict([words], source=source)
    shape = getattr(transitions, source)(5).tolist()
    assert found.transitions.tolist() == shape != own_parse(5)
    np.testing.assert_allclose(found.scores, expected("words", words, shape), atol=1e-6)


# -- bad input
# --------------------------------------------------------------------------------------------------


def test_a_model_without_a_parser_has_no_trees_of_its_own(tmp_path: Path) -> None:
    plain = Predictor(bundle(tmp_path / "plain"))
    message = "no parser for the tree source 'self'; this model has balanced, left, right$"
    for call in (
        lambda: plain.predict([["good"]], source="self"),
        lambda: plain.predict([], source="self"),
        lambda: plain.trees_and_scores([["good"]], "self"),
        lambda: plain.tree_maker("self"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_unknown_sources_are_refused_with_the_known_ones(predictor: Predictor) -> None:
    with pytest.raises(
        InputError, match=r"unknown tree source 'gold'; this model has balanced, left, right, self$"
    ):
        predictor.predict([["good"]], source="gold")


def test_bad_sentences_are_named(predictor: Predictor) -> None:
    with pytest.raises(InputError, match="sentence 1 has no words"):
        predictor.predict([["the"], [], ["film"]])
    with pytest.raises(InputError, match="sentence 1: a word is a string, found None"):
        predictor.predict([["good", "film"], [None]])
    with pytest.raises(InputError, match="sentence 1: transition 1 is a REDUCE"):
        predictor.node_scores(
            [["the"], ["good", "film"]], [np.zeros(1, np.int8), np.array([0, 1, 0])]
        )
    with pytest.raises(
        InputError, match="sentence 0 has 1 words, so its tree has 1 transitions; found 0"
    ):
        predictor.node_scores([["the"]], [np.zeros(0, np.int8)])


# -- models that do not fit
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        (
            "shifts",
            "own parse is no tree: sentence 0: transition 2 is the last, but it leaves 3 nodes",
        ),
        ("backwards", "own parse is no tree: sentence 1: transition 0 is a REDUCE"),
        ("long", r"expected 4 transitions, found shape \(5,\) of int32"),
        ("floats", r"expected 4 transitions, found shape \(4,\) of float32"),
    ],
)
def test_a_parse_that_is_no_tree_is_an_error_of_the_bundle(
    tmp_path: Path, parser: str, message: str
) -> None:
    predictor = Predictor(parsing_bundle(tmp_path / "model", onnx=model("words", parser=parser)))
    with pytest.raises(BundleError, match=rf"model\.onnx: .*{message}"):
        predictor.predict([["good", "film"], ["bad"]])
    predictor.predict([["good", "film"], ["bad"]], source="left")


def test_inputs_and_outputs_fit_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(
        BundleError,
        match="expected the int32 or int64 inputs token_ids, lengths, transitions; found",
    ):
        Predictor(parsing_bundle(tmp_path / "a", onnx=model("words")))
    with pytest.raises(
        BundleError, match="expected the int32 or int64 inputs token_ids, transitions; found"
    ):
        Predictor(bundle(tmp_path / "b", onnx=model("words", parser="capped")))
    with pytest.raises(
        BundleError,
        match=(
            "says that the model parses, but it gives no parse, only node_scores, "
            "root_scores, trees"
        ),
    ):
        Predictor(parsing_bundle(tmp_path / "c", onnx=model("words", parser="misnamed")))
