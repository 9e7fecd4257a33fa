"""Figures and cases of a model against what it says of one sentence or phrase at a time."""

import numpy as np
import pytest
import tiny_dependencies
import tiny_recipe
import torch
from runs import drawn, of_one

from thinstack.core import Forest
from thinstack.core.transitions import spans_of
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest


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
    assert cases.whole.sum() == len(found.train)
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


def made(ids, steps, targets):
    lengths = np.array([len(ids)])
    forest = Forest(token_ids=np.array(ids), transitions=np.array(steps), lengths=lengths)
    return LabelledForest(forest, np.array(targets), len(steps) - 1)


def test_cases_are_the_labelled_nodes_one_by_one(data):
    recipe = tiny_recipe.recipe()
    model = drawn(recipe, load_datasets(recipe, data))
    first = made([1, 2, 3], [0, 0, 0, 1, 1], [1, -1, 2, 0, 2])
    second = made([4, 5], [0, 0, 1], [-1, 0, -1])
    examples = [Example({"gold": first}), Example({"gold": second})]
    scores = [answers(model, of_one(example), "node_scores") for example in examples]
    nodes = [rows.argmax(1).tolist() for rows in scores]
    _, cases = recipe.task.measure(model, examples, "gold", recipe.model.labels)
    assert cases.gold.tolist() == [1, 2, 0, 2, 0]
    assert cases.predicted.tolist() == [nodes[0][0], *nodes[0][2:], nodes[1][1]]
    assert cases.whole.tolist() == [False, False, False, True, False]
    assert cases.example.tolist() == [0, 0, 0, 0, 1]
