"""Inputs that exports are tried on, and the cases stored beside them."""

import json

import numpy as np
import pytest
import tiny_texts
import torch
from export_models import LABELS, C, close, make_config
from plain_parts import PlainCell, plain_model, plain_spinn

from thinstack.core import transitions
from thinstack.core.config import ModelConfig
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.export import compare as module
from thinstack.export.compare import reference_cases
from thinstack.export.samples import eager_scores, makes_trees, sampled
from thinstack.plugins.build import build_model


def small_model(structure, arity, reads="nodes", *, whole=False, kinds=3):
    """`whole`: every node has a word."""
    cell = PlainCell(arity, inner=whole, kinds=kinds)
    return plain_model(TreeEncoder([Layer(cell)], words_at_leaves=not whole), structure, reads)


MODELS = {
    "transitions": small_model("transitions", 2),
    "candidates": small_model("transitions", 2, "candidates"),
    "lengths": small_model("lengths", 1, whole=True),
    "constituency, any arity": small_model("parents", 0),
    "constituency, arity 2": small_model("parents", 2),
    "constituency, arity 3": small_model("parents", 3),
    "dependency, any arity": small_model("parents", 0, whole=True),
    "dependency, arity 1": small_model("parents", 1, whole=True, kinds=1),
    "dependency, arity 2": small_model("parents", 2, whole=True),
    "pairs": small_model("parents", 0, "pairs", whole=True),
    "pairs of transitions": small_model("transitions", 2, "pairs"),
    "parser": plain_spinn(PlainCell(2, inner=True)),
    "parser of pairs": plain_spinn(PlainCell(2, inner=True), "pairs"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_batches_are_of_all_sizes_valid_and_the_same_again(kind):
    """No tree, one tree, 3 and 32 trees, or as many pairs. A model refuses what is no tree."""
    model = MODELS[kind]
    batches, again = (list(sampled(model, longest=64)) for _ in range(2))
    given = [forest for forest in batches if not makes_trees(model, forest)]
    per_tree = 2 if model.head.reads == "pairs" else 1
    assert len(given) == 16
    assert {len(forest.sizes) // per_tree for forest in given} == {0, 1, 3, 32}
    for forest, same in zip(batches, again, strict=True):
        assert list(eager_scores(model, forest)) == model.output_names
        assert all(map(np.array_equal, forest, same))
    last = given[-1]
    for name, (low, high) in {"kinds": (1, 3), "constituents": (0, C - 1)}.items():
        if name in model.input_names and kind != "dependency, arity 1":
            values = getattr(last, name)
            assert (values.min(), values.max()) == (low, high)


def test_children_stand_in_all_slots_and_leave_some_empty():
    *_, last = sampled(MODELS["constituency, arity 3"], longest=7)
    below = {}
    for parent, slot in zip(last.parents.tolist(), last.slots.tolist(), strict=True):
        below.setdefault(parent, set()).add(slot)
    del below[-1]
    found = {tuple(sorted(slots)) for slots in below.values()}
    assert found == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)}


@pytest.mark.parametrize(("kind", "per_tree"), [("parser", 1), ("parser of pairs", 2)])
def test_a_parser_gets_sentences_with_and_without_trees(kind, per_tree):
    model = MODELS[kind]
    batches = list(sampled(model, longest=64))
    for forest in batches:
        assert (forest.lengths > 0).all()
        assert forest.sizes.tolist() == (2 * forest.lengths - 1).tolist()
        if len(forest.transitions) and not makes_trees(model, forest):
            trees = np.split(forest.transitions, np.cumsum(forest.sizes)[:-1])
            spans = [transitions.spans_of(transitions.validate(tree))[-1, 1] for tree in trees]
            assert spans == forest.lengths.tolist()
    own = [forest for forest in batches if makes_trees(model, forest)]
    assert all(len(forest.transitions) == 0 for forest in own)
    singles = [[words] * per_tree for words in (1, 2, 7, 64)]
    assert [forest.lengths.tolist() for forest in own[:4]] == singles
    assert len(own) == 7
    assert {1, 2, 200} < set(own[-1].lengths.tolist())


def test_pairs_of_texts_of_several_sentences():
    """A model that joins sentences and reads pairs: each batch has two texts a pair."""
    raw = tiny_texts.recipe("start").model.model_dump(exclude_defaults=True)
    raw |= {"head": {"name": "entailment.v1"}, "aggregation": "tree"}
    config = ModelConfig.parse(raw, source="test")
    model = build_model(config, entries=len(tiny_texts.PIECES)).eval()
    batches = [batch for batch in sampled(model, longest=64) if batch.breaks.any()]
    cases = [case["inputs"] for case in reference_cases(model, config)["cases"]]
    texts = [batch.breaks for batch in batches] + [np.array(case["breaks"]) for case in cases]
    for breaks in texts:
        assert (breaks == 0).sum() % 2 == 0
    assert sum(breaks.any() for breaks in texts) == 2
    for batch in batches:
        assert len(eager_scores(model, batch)["pair_scores"]) == (batch.breaks == 0).sum() // 2


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
