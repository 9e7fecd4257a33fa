"""Every registered task head does what `thinstack.testing` asks of it, and what those of thinstack
do beyond that."""

from typing import Any

import pytest
import torch

from thinstack.plugins.manager import manager
from thinstack.testing import HEAD_CHECKS, HeadCheck
from thinstack.testing.subject import HeadSubject

SIZES = {"hidden_size": 4, "word_size": 3, "classes": 3}

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "entailment.v1": [
        {"layers": 1, "width": 6, "dropout": 0.5},
        {"layers": 3, "width": 6, "batch_norm": False},
    ],
    "node_classifier.v1": [{"hidden": 6, "dropout": 0.5}],
    "root_classifier.v1": [{"hidden": 0, "dropout": 0.5}],
    "similarity.v1": [{"hidden": 6, "dropout": 0.5}],
    "tree_ranker.v1": [{"kappa": 2.0}],
}
"""Options that each head is also tried with, beside its defaults."""

DISTRIBUTIONS = {"entailment.v1", "node_classifier.v1", "root_classifier.v1", "similarity.v1"}
"""Heads whose scores are probabilities."""

NAMES = [
    record.name for record in manager().records() if record.kind == "head" and record.status == "ok"
]
CASES = [(name, options) for name in NAMES for options in [{}, *OPTIONS.get(name, [])]]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}" for name, options in CASES]


@pytest.mark.parametrize("check", HEAD_CHECKS.values(), ids=HEAD_CHECKS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_contract(check: HeadCheck, name: str, options: dict[str, Any]) -> None:
    check(name, options, **SIZES)


@pytest.mark.parametrize(
    ("name", "options"), [case for case in CASES if case[0] in DISTRIBUTIONS], ids=str
)
def test_scores_are_a_distribution(name: str, options: dict[str, Any]) -> None:
    subject = HeadSubject.of(name, options, **SIZES)
    head = subject.random_head()
    found = head.scores(subject.rows(head, 5))
    assert found.min() >= 0
    torch.testing.assert_close(found.sum(1), torch.ones(5, dtype=torch.float64), rtol=0, atol=1e-12)


def test_what_is_not_a_number_stays_in_its_row() -> None:
    for name, options in CASES:
        subject = HeadSubject.of(name, options, **SIZES)
        head = subject.random_head()
        rows = subject.rows(head, 5)
        kept = torch.arange(5) != 1
        found = head.scores(torch.where(kept[:, None], rows, torch.nan))[kept]
        torch.testing.assert_close(found, head.scores(rows)[kept], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kappa", [0.1, 2.0])
def test_the_loss_of_more_sentences_is_a_sum(kappa: float) -> None:
    head = manager().head("tree_ranker.v1").create({"kappa": kappa}, **SIZES)
    labels = torch.tensor([[1, 2], [0, -1], [0, 0], [1, 0], [0, 3], [2, 0], [-1, 1]])
    scores = (
        torch.randn(len(labels), generator=torch.Generator().manual_seed(2)).double() + labels[:, 1]
    )
    again = labels + torch.tensor([3, 0]) * (labels[:, :1] >= 0)
    once, both = (
        head.loss(scores, labels),
        head.loss(torch.cat([scores, scores]), torch.cat([labels, again])),
    )
    torch.testing.assert_close(both, 2 * once, rtol=0, atol=1e-12)
    assert both.item() > 0


def test_the_built_in_heads_are_those_listed_here() -> None:
    builtin = {
        record.name
        for record in manager().records()
        if record.kind == "head" and record.distribution == "thinstack"
    }
    assert builtin == set(OPTIONS)
