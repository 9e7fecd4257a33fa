"""The cases stored beside an export."""

import json

import numpy as np
import pytest
import torch
from export_models import LABELS, close, make_config
from plain_parts import PlainCell, plain_spinn

from thinstack.export import compare as module
from thinstack.export.compare import reference_cases

PLAIN = make_config("words", encoder={"tracker": {"size": 6, "feeds": False}}, tree_source="self")


def arrays(values):
    return {name: np.array(numbers) for name, numbers in values.items()}


@pytest.mark.parametrize(
    ("fixture", "outputs", "rows"),
    [
        ("pieces", ["node_scores", "root_scores"], [1, 9, 30]),
        ("pairs", ["pair_scores", "sentence_vectors"], [1, 1, 4]),
        ("parser", ["node_scores", "root_scores", "parse"], [1, 1, 9, 9, 30, 30]),
    ],
)
def test_cases_are_what_the_exported_file_answers(fixture, outputs, rows, request):
    exported = request.getfixturevalue(fixture)
    cases = reference_cases(exported.model, exported.config, quantize=exported.quantize)
    found = json.loads(json.dumps(cases))
    assert found["labels"] == list(LABELS)
    assert [len(case["outputs"][outputs[0]]) for case in found["cases"]] == rows
    for case in found["cases"]:
        assert list(case["outputs"]) == outputs
        for run in exported.runs():
            close(run(arrays(case["inputs"])), arrays(case["outputs"]))


def test_the_words_of_own_trees_are_those_of_the_clearest_choices(monkeypatch):
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
