"""Figures and cases of a model against what it says of one sentence or phrase at a time."""

import numpy as np
import pytest
import tiny_dependencies
import tiny_recipe
import torch
from runs import drawn, of_one

from thinstack.core.scale import Scale
from thinstack.core.transitions import spans_of
from thinstack.evaluate.accuracy import accuracy
from thinstack.training.examples.datasets import load_datasets


@torch.no_grad()
def answers(model, inputs, output):
    tensors = {name: torch.as_tensor(np.asarray(part, np.int64)) for name, part in inputs.items()}
    return model(tensors)[output].numpy()


def accuracies(nodes, labels, roots):
    """Figures of three classes, from the nodes of each tree with its root behind all others."""
    orders = [
        np.array([*range(root), *range(root + 1, len(rows)), root])
        for rows, root in zip(nodes, roots, strict=True)
    ]
    scores, known = (
        [np.array(one)[order] for one, order in zip(every, orders, strict=True)]
        for every in (nodes, labels)
    )
    return accuracy(scores, known, scale=Scale.of(("negative", "neutral", "positive")))


def test_figures_over_dependency_trees(data):
    recipe = tiny_dependencies.recipe("dependency")
    found = load_datasets(recipe, data)
    model = drawn(recipe, found)
    nodes = [answers(model, of_one(example), "node_scores") for example in found.train]
    labels = [example.gold.targets.tolist() for example in found.train]
    roots = [len(rows) // 2 for rows in nodes]  # as `tiny_dependencies.heads_of` has it
    assert any(root + 1 < len(rows) for root, rows in zip(roots, nodes, strict=True))
    figures, cases = recipe.task.measure(model, found.train, "gold", recipe.model.labels)
    assert figures == pytest.approx(accuracies(nodes, labels, roots))
    assert figures["root_accuracy"] != figures["phrase_accuracy"]
    places = [(n, place, label) for n, of in enumerate(labels) for place, label in enumerate(of)]
    labelled = [(n, place == roots[n]) for n, place, label in places if label >= 0]
    assert [*zip(cases.example.tolist(), cases.whole.tolist(), strict=True)] == labelled
    assert len(labelled) < len(places)
    right = cases.predicted[cases.whole] == cases.gold[cases.whole]
    assert 100 * np.mean(right) == pytest.approx(figures["root_accuracy"])
    best, wanted = np.concatenate(nodes).argmax(1), np.concatenate(labels)
    assert cases.predicted.tolist() == best[wanted >= 0].tolist()
    rows = [row for row, label in zip(np.concatenate(nodes), wanted, strict=True) if label >= 0]
    np.testing.assert_allclose(cases.scores, rows, rtol=1e-6)


@pytest.mark.parametrize(
    ("head", "top_down"),
    [("node_classifier.v1", False), ("root_classifier.v1", False), ("root_classifier.v1", True)],
)
def test_figures_of_sequences_are_those_of_each_phrase_alone(data, head, top_down):
    encoder = {"top_down": "shared", "readout": ["up", "leaves"]} if top_down else {}
    settings = {"head": {"name": head}, "encoder": encoder}
    recipe = tiny_dependencies.recipe("sequence", model=settings)
    found, gold = load_datasets(recipe, data), load_datasets(tiny_recipe.recipe(), data)
    model = drawn(recipe, found)
    nodes, labels, ends = [], [], []
    for example in gold.train:  # its binary trees, whose labels are spread over spans
        known = example.gold
        ends.append(known.whole)
        labels.append(known.targets.tolist())
        rows = []
        for start, end in spans_of(known.forest.transitions).tolist():
            phrase = {"token_ids": known.forest.token_ids[start:end], "lengths": [end - start]}
            rows.append(answers(model, phrase, "root_scores")[0])
        nodes.append(np.array(rows))
    figures, cases = recipe.task.measure(model, found.train, "gold", recipe.model.labels)
    assert figures == pytest.approx(accuracies(nodes, labels, ends))
    expected = sorted(
        (example.gold.targets[place], int(rows[place].argmax()))
        for example, rows in zip(gold.train, nodes, strict=True)
        for place in range(len(rows))
    )
    assert sorted(zip(cases.gold.tolist(), cases.predicted.tolist(), strict=True)) == expected
