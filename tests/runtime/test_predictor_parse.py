"""The predictor on models that make trees of their own, whose parses plain Python knows."""

import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from last_word_model import (
    KNOWN,
    expected_rows,
    last_word_model,
    own_parse,
    random_tree,
    write_last_word_bundle,
)
from onnx import TensorProto

from thinstack.core import transitions
from thinstack.data.brackets import from_brackets, to_brackets
from thinstack.errors import BundleError, InputError
from thinstack.runtime import predictor as module
from thinstack.runtime.predictor import Predictor

FOUR = ["film", "awful", ".", "good"]


@pytest.fixture
def predictor(tmp_path: Path) -> Predictor:
    return Predictor(write_last_word_bundle(tmp_path / "parsing", parser="capped"), threads=1)


def sentences(kind: str = "words", count: int = 40) -> list[list[str]]:
    rng = random.Random(0)
    return [
        [rng.choice(KNOWN[kind]) for _ in range(rng.choice([1, 2, 3, 8, 30]))] for _ in range(count)
    ]


class Watched:
    """A session that notes how many sentences each of its runs was given, and which outputs."""

    def __init__(self, session: Any):
        self.session, self.runs = session, []

    def run(self, outputs: Sequence[str], feeds: dict[str, Any]) -> Any:
        self.runs.append((len(feeds["lengths"]), sorted(outputs)))
        return self.session.run(outputs, feeds)


@pytest.mark.parametrize("kind", ["words", "wordpieces"])
@pytest.mark.parametrize("index", [TensorProto.INT32, TensorProto.INT64])
@pytest.mark.parametrize("nodes", [1, 40, 8192])
def test_parses_and_scores_are_the_models_in_input_order(
    tmp_path: Path, kind: str, index: int, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_NODES", nodes)
    model = last_word_model(kind, index, parser="capped")
    predictor = Predictor(
        write_last_word_bundle(tmp_path / "model", kind, parser="capped", onnx=model)
    )
    words = sentences(kind)
    for found in (predictor.trees_and_scores(words), predictor.trees_and_scores(words, "self")):
        for (steps, scores), sentence in zip(found, words, strict=True):
            assert (steps.dtype, scores.dtype) == (np.int8, np.float32)
            assert steps.tolist() == own_parse(len(sentence))
            expected = expected_rows(kind, sentence, own_parse(len(sentence)))
            np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_one_run_gives_the_trees_and_the_scores_of_a_batch(predictor: Predictor) -> None:
    watched = predictor._session = Watched(predictor._session)
    words, rng = sentences(), random.Random(1)
    predictor.predict(words)
    predictor.node_scores(words, [random_tree(len(sentence), rng) for sentence in words])
    assert watched.runs == [(40, ["node_scores", "parse"]), (40, ["node_scores"])]


def test_predictions_hold_the_own_parse(predictor: Predictor) -> None:
    again = pickle.loads(pickle.dumps(predictor))
    for made in (
        predictor.predict([FOUR]),
        predictor.predict([FOUR], source="self"),
        again.predict([FOUR]),
    ):
        (found,) = made
        assert found.transitions.tolist() == [0, 0, 0, 1, 1, 0, 1]
        assert found.spans.tolist() == [[0, 1], [1, 2], [2, 3], [1, 3], [0, 3], [3, 4], [0, 4]]
        tree = from_brackets(found.to_dict()["tree"])
        assert to_brackets(tree, labelled=False) == "( ( film ( awful . ) ) good )"
    assert predictor.tree_maker()([*FOUR, "x"]).tolist() == own_parse(5)
    assert predictor.tree_maker("self")(["good"]).tolist() == [0]


def test_the_source_of_a_model_need_not_be_its_parser(tmp_path: Path) -> None:
    made = write_last_word_bundle(tmp_path / "model", parser="capped", tree_source="left")
    predictor = Predictor(made)
    assert predictor.predict([FOUR])[0].transitions.tolist() == transitions.left(4).tolist()
    assert predictor.predict([FOUR], source="self")[0].transitions.tolist() == own_parse(4)


def test_a_model_that_parses_takes_given_trees_and_fixed_shapes_too(predictor: Predictor) -> None:
    words, rng = sentences(), random.Random(2)
    given: list[Any] = [[random_tree(len(sentence), rng) for sentence in words]]
    for source in ("balanced", "left", "right"):
        shape = getattr(transitions, source)
        assert shape(5).tolist() != own_parse(5)
        given.append((source, [shape(len(sentence)) for sentence in words]))
    for item in given:
        trees, expected = item if isinstance(item, tuple) else (item, item)
        for found, sentence, tree in zip(
            predictor.trees_and_scores(words, trees), words, expected, strict=True
        ):
            assert found.transitions.tolist() == tree.tolist()
            rows = expected_rows("words", sentence, tree.tolist())
            np.testing.assert_allclose(found.scores, rows, atol=1e-6)
    tree = from_brackets("(1 (0 good) (1 (0 film) (0 (1 .) (1 good))))")
    assert predictor.predict_trees([tree])[0].transitions.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert predictor.node_scores([], []) == []


def test_a_model_without_a_parser_has_no_trees_of_its_own(tmp_path: Path) -> None:
    plain = Predictor(write_last_word_bundle(tmp_path / "plain"))
    for call in (
        lambda: plain.predict([["good"]], source="self"),
        lambda: plain.predict([], source="self"),
        lambda: plain.trees_and_scores([["good"]], "self"),
        lambda: plain.tree_maker("self"),
    ):
        with pytest.raises(InputError, match=r"'self'; this model has balanced, left, right$"):
            call()


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        ("shifts", "sentence 0: transition 2 .*3 nodes"),
        ("backwards", "sentence 1: transition 0 is a REDUCE"),
        ("long", r"expected 4 .*\(5,\) of int32"),
        ("floats", r"expected 4 .*\(4,\) of float32"),
    ],
)
def test_a_parse_that_is_no_tree_is_an_error_of_the_bundle(
    tmp_path: Path, parser: str, message: str
) -> None:
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
        ("capped", "words", "misnamed", "no parse, only node_scores, trees"),
    ],
)
def test_inputs_and_outputs_fit_the_configuration(
    tmp_path: Path, configured: str | None, kind: str, exported: str | None, message: str
) -> None:
    model = last_word_model(kind, parser=exported)
    made = write_last_word_bundle(tmp_path / "a", parser=configured, onnx=model)
    with pytest.raises(BundleError, match=message):
        Predictor(made)
