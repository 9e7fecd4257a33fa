"""Figures and cases of a model against what it says of one sentence or phrase at a time."""

import numpy as np
import pytest
import tiny_dependencies
import tiny_recipe
import torch
from runs import drawn, of_one

from thinstack.core.transitions import spans_of
from thinstack.training.examples.datasets import load_datasets


@torch.no_grad()
def answers(model, inputs, output):
    tensors = {name: torch.as_tensor(np.asarray(part, np.int64)) for name, part in inputs.items()}
    return model(tensors)[output].numpy()


def accuracies(nodes, labels, roots):
    """Of three classes, one node at a time: right, and right of the polar ones."""
    tally = {"root_accuracy": [], "root_binary_accuracy": []}
    tally |= {"phrase_accuracy": [], "phrase_binary_accuracy": []}
    sure = {"root": [], "phrase": []}
    for rows, wanted, root in zip(nodes, labels, roots, strict=True):
        for place, (row, label) in enumerate(zip(rows, wanted, strict=True)):
            for kind in ("phrase", "root") if place == root else ("phrase",):
                if label >= 0:
                    tally[f"{kind}_accuracy"].append(max(range(3), key=row.__getitem__) == label)
                    sure[kind].append((float(max(row)), tally[f"{kind}_accuracy"][-1]))
                if label in (0, 2):
                    tally[f"{kind}_binary_accuracy"].append((row[2] > row[0]) == (label == 2))
    figures = {name: 100 * float(np.mean(part)) for name, part in tally.items()}
    counts = dict(zip(("roots", "binary_roots", "phrases", "binary_phrases"), tally, strict=True))
    figures |= {f"{kind}_calibration_error": error(sure[kind]) for kind in ("root", "phrase")}
    return figures | {count: len(tally[name]) for count, name in counts.items()}


def error(cases):
    """Guo et al. 2017, (3), of probabilities and whether they were right."""
    inside = [[c for c in cases if m / 15 < c[0] <= (m + 1) / 15] for m in range(15)]
    gaps = [abs(sum(right - top for top, right in part)) for part in inside]
    return 100 * sum(gaps) / len(cases)


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
