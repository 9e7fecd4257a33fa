"""The cases stored beside an export."""

import json

import numpy as np
import pytest
import torch
from export_models import LABELS, Exported, make_config
from plain_parts import PlainCell, plain_spinn

from thinstack.export import reference_cases as module
from thinstack.export.reference_cases import reference_cases

PLAIN = make_config("words", encoder={"tracker": {"size": 6, "feeds": False}}, tree_source="self")


def test_cases_are_what_the_exported_file_answers(pieces: Exported, pairs: Exported) -> None:
    outputs = {
        "wordpieces": ["node_scores", "root_scores"],
        "words": ["pair_scores", "sentence_vectors"],
    }
    for exported in (pieces, pairs):
        found = json.loads(
            json.dumps(reference_cases(exported.model, exported.config, quantize=exported.quantize))
        )
        assert found["labels"] == list(LABELS)
        assert len(found["cases"]) == 3
        for case in found["cases"]:
            answer = exported.runs()[0](
                {name: np.array(values, np.int64) for name, values in case["inputs"].items()}
            )
            assert list(answer) == list(case["outputs"]) == outputs[exported.kind]
            for name, expected in case["outputs"].items():
                np.testing.assert_allclose(answer[name], expected, rtol=0, atol=1e-5)
    assert [len(case["outputs"]["pair_scores"]) for case in found["cases"]] == [1, 1, 4]


def test_a_parser_gets_cases_with_given_trees_and_with_its_own(parser: Exported) -> None:
    found = json.loads(
        json.dumps(reference_cases(parser.model, parser.config, quantize="int8-tables"))
    )
    for number, case in enumerate(found["cases"]):
        inputs = {name: np.array(values, np.int64) for name, values in case["inputs"].items()}
        steps, nodes = case["inputs"]["transitions"], (2 * inputs["lengths"] - 1).sum()
        assert len(steps) == [nodes, 0][number % 2]
        assert number % 2 == 1 or case["outputs"]["parse"] == steps
        assert {type(step) for step in case["outputs"]["parse"]} == {int}
        for run in parser.runs():
            answer = run(inputs)
            assert list(answer) == list(case["outputs"]) == ["node_scores", "root_scores", "parse"]
            for name, expected in case["outputs"].items():
                np.testing.assert_allclose(answer[name], expected, rtol=0, atol=1e-5)
    assert len(found["cases"]) == 6


def test_the_words_of_own_trees_are_those_of_the_clearest_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = plain_spinn(PlainCell(2))
    leads = {}
    for wanted in (0.0, np.inf):
        monkeypatch.setattr(module, "LEAD", wanted)
        case = reference_cases(model, PLAIN)["cases"][-1]
        arrays = case["inputs"] | {"transitions": case["outputs"]["parse"]}
        joint = model.joint({name: torch.tensor(values) for name, values in arrays.items()})
        leads[wanted] = joint.choices.diff(dim=1).abs().squeeze(1)[joint.free > 0].min().item()
    assert leads[0.0] < leads[np.inf]
    # No other runtime is to take another transition for its rounding.
    assert leads[np.inf] > 100 * module.TOLERANCE


def test_a_parser_that_is_always_in_doubt_gets_cases_too() -> None:
    model = plain_spinn(PlainCell(2))
    with torch.no_grad():
        model.encoder.tracker.w_transition.zero_()
        model.encoder.tracker.b_transition.zero_()
    assert [len(case["outputs"]["parse"]) for case in reference_cases(model, PLAIN)["cases"]] == [
        1,
        1,
        9,
        9,
        30,
        30,
    ]
