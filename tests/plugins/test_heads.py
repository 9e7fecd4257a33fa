"""What every registered task head must do, whatever it computes."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from thinstack.core.head import TaskHead
from thinstack.plugins.manager import manager

H, WORD, CLASSES, ROWS = 4, 3, 3, 5
WIDTH = {"nodes": H, "roots": H, "pairs": 2 * H, "candidates": 2 * H + WORD}

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "entailment.v1": [{"layers": 1, "width": 6, "dropout": 0.5}, {"layers": 3, "width": 6, "batch_norm": False}],
    "node_classifier.v1": [{"hidden": 6, "dropout": 0.5}],
    "root_classifier.v1": [{"hidden": 0, "dropout": 0.5}],
    "similarity.v1": [{"hidden": 6, "dropout": 0.5}],
    "tree_ranker.v1": [{"kappa": 2.0}],
}
"""Options that each head is also tried with, beside its defaults."""

DISTRIBUTIONS = {"entailment.v1", "node_classifier.v1", "root_classifier.v1", "similarity.v1"}
"""Heads whose scores are probabilities."""

NAMES = [record.name for record in manager().records() if record.kind == "head" and record.status == "ok"]
CASES = [(name, options) for name in NAMES for options in [{}, *OPTIONS.get(name, [])]]


class Scores(nn.Module):
    """What a model exports of its head."""

    def __init__(self, head: TaskHead):
        super().__init__()
        self.head = head

    def forward(self, rows: Tensor) -> Tensor:
        return self.head.scores(rows)


class Example(NamedTuple):
    head: TaskHead
    rows: Tensor


@pytest.fixture(params=CASES, ids=[f"{name}-{'-'.join(map(str, options.values()))}" for name, options in CASES])
def example(request: pytest.FixtureRequest) -> Example:
    """A head in evaluation mode, after one step of training that moves what it counts, and rows for it; in float64."""
    name, options = request.param
    torch.manual_seed(2)
    head = manager().head(name).create(options, hidden_size=H, classes=CLASSES, word_size=WORD).double()
    for part in head.parameters():
        nn.init.normal_(part, std=part.shape[-1] ** -0.5)
    rows = torch.randn(ROWS, WIDTH[head.reads], dtype=torch.float64)
    head.train()(rows * 2 + 1)
    return Example(head.eval(), rows)


def scored_and_labelled(head: TaskHead, *, labelled: bool = True) -> tuple[Tensor, Tensor]:
    """What a loss takes: scores, and labels of which the second and the last are -1. They hold as classes and as ratings."""
    if head.reads == "candidates":
        scores = torch.randn(ROWS + 2, dtype=torch.float64)
        labels = torch.tensor([[1, 2], [0, -1], [0, 0], [1, 0], [0, 3], [2, 0], [-1, 1]])
    else:
        scores = torch.randn(ROWS, CLASSES, dtype=torch.float64)
        labels = torch.tensor([2, -1, 1, 2, -1])
    return scores.requires_grad_(), labels if labelled else torch.full_like(labels, -1)


def test_rows_are_independent(example: Example) -> None:
    head, rows = example
    alone = torch.cat([head.scores(row[None]) for row in rows])
    torch.testing.assert_close(head.scores(rows), alone, rtol=0, atol=1e-12)
    spoilt = torch.where(torch.arange(ROWS)[:, None] == 1, torch.nan, rows)
    kept = torch.arange(ROWS) != 1
    torch.testing.assert_close(head.scores(spoilt)[kept], alone[kept], rtol=0, atol=1e-12)


def test_rows_of_none(example: Example) -> None:
    head, rows = example
    for found in (head(rows[:0]), head.scores(rows[:0]), head.train()(rows[:0])):
        assert found.shape == (0, CLASSES)
    logits, labels = scored_and_labelled(head)
    none = logits[:0].detach().requires_grad_()
    loss = head.loss(none, labels[:0])
    loss.backward()
    assert loss.item() == 0
    assert none.grad.shape == none.shape


def test_one_row_in_training(example: Example) -> None:
    """As the last batch of an epoch may be."""
    head, rows = example
    assert head.train()(rows[:1]).isfinite().all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_scores_equal_eager_ones(example: Example) -> None:
    head, rows = example
    scripted = torch.jit.script(Scores(head))
    for n in (ROWS, 1, 0):
        torch.testing.assert_close(scripted(rows[:n]), head.scores(rows[:n]), rtol=0, atol=1e-12)


def test_scores_in_onnx(example: Example) -> None:
    head, rows = example
    head, rows = head.float(), rows.float()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sizes = ({0: torch.export.Dim("n", min=0)},)
        program = torch.export.export(Scores(head), (rows,), dynamic_shapes=sizes).run_decompositions({})
        exported = torch.onnx.export(program, dynamo=True, opset_version=18, verbose=False)
    exported.model_proto.ir_version = 8
    session = onnxruntime.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (put,) = session.get_inputs()
    for n in (2 * ROWS, 1, 0):
        fed = torch.cat([rows, -rows])[:n]
        (found,) = session.run(None, {put.name: fed.numpy()})
        np.testing.assert_allclose(found, head.scores(fed).detach(), rtol=0, atol=1e-5)


def test_the_gradient_of_the_loss(example: Example) -> None:
    logits, labels = scored_and_labelled(example.head)
    assert torch.autograd.gradcheck(example.head.loss, (logits, labels))


def test_rows_without_a_label_have_no_gradient(example: Example) -> None:
    logits, labels = scored_and_labelled(example.head)
    example.head.loss(logits, labels).backward()
    unlabelled = (labels.reshape(len(labels), -1) < 0).any(1)
    assert unlabelled.sum() == 2
    assert not logits.grad[unlabelled].any()
    assert logits.grad[~unlabelled].any()


def test_without_a_label_the_loss_is_zero(example: Example) -> None:
    logits, labels = scored_and_labelled(example.head, labelled=False)
    loss = example.head.loss(logits, labels)
    loss.backward()
    assert loss.item() == 0
    assert not logits.grad.any()


def test_the_loss_is_a_sum(example: Example) -> None:
    """Twice the rows, or sentences, have twice the loss."""
    logits, labels = scored_and_labelled(example.head)
    again = labels + torch.tensor([3, 0]) * (labels[:, :1] >= 0) if example.head.reads == "candidates" else labels
    both = example.head.loss(torch.cat([logits, logits]), torch.cat([labels, again]))
    torch.testing.assert_close(both, 2 * example.head.loss(logits, labels), rtol=0, atol=1e-12)
    assert both.item() > 0


@pytest.mark.parametrize("example", [case for case in CASES if case[0] in DISTRIBUTIONS], indirect=True, ids=str)
def test_scores_are_a_distribution(example: Example) -> None:
    found = example.head.scores(example.rows)
    assert found.min() >= 0
    torch.testing.assert_close(found.sum(1), torch.ones(ROWS, dtype=torch.float64), rtol=0, atol=1e-12)


def test_the_built_in_heads_are_those_listed_here() -> None:
    builtin = {record.name for record in manager().records() if record.kind == "head" and record.distribution == "thinstack"}
    assert builtin == set(OPTIONS)
