"""Every registered task head: the contract suite, and what else holds of all heads."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax

from thinstack.errors import ConfigError
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.heads.root_classifier import RootClassifier
from thinstack.plugins.manager import manager
from thinstack.testing import HEAD_CHECKS
from thinstack.testing.subject import HeadSubject

H, CLASSES, ROWS = 4, 3, 6
SIZES = {"hidden_size": H, "word_size": 3, "classes": CLASSES}

NARROW = {"entailment.v1": {"width": 6}}
"""What keeps a head small that by default is not: with it, a head has its defaults here."""

OPTIONS = {
    "entailment.v1": [
        {"layers": 1, "width": 6, "dropout": 0.5},
        {"layers": 3, "width": 6, "batch_norm": False},
    ],
    "node_classifier.v1": [{"hidden": 6, "dropout": 0.5}],
    "root_classifier.v1": [{"hidden": 0, "dropout": 0.5}],
    "similarity.v1": [{"hidden": 6, "dropout": 0.5}],
    "tree_ranker.v1": [{"kappa": 2.0}],
    "vector.v1": [{"size": 5, "hidden": 6, "dropout": 0.5}],
}
"""Options that each head is also tried with, beside its defaults."""

CASES = [
    (record.name, options)
    for record in manager().records()
    if (record.kind, record.status) == ("head", "ok")
    for options in [NARROW.get(record.name, {}), *OPTIONS.get(record.name, [])]
]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}" for name, options in CASES]


@pytest.mark.parametrize("check", HEAD_CHECKS.values(), ids=HEAD_CHECKS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_contract(check, name, options):
    check(name, options, **SIZES)


def test_what_is_not_a_number_stays_in_its_row():
    for name, options in CASES:
        subject = HeadSubject(name, options, **SIZES)
        head = subject.random()
        rows = subject.methods(head, 5)["forward"].values["rows"]
        kept = torch.arange(5) != 1
        found = head.scores(torch.where(kept[:, None], rows, torch.nan))[kept]
        torch.testing.assert_close(found, head.scores(rows)[kept], rtol=0, atol=1e-12)


def head_of(name, options=None, **sizes):
    sizes = {"hidden_size": H, "classes": CLASSES} | sizes
    return manager().find("head", name).create(options or {}, **sizes)


def test_the_tables_are_of_the_built_in_heads():
    records = [record for record in manager().records() if record.distribution == "thinstack"]
    builtin = {record.name for record in records if record.kind == "head"}
    assert builtin == set(OPTIONS)


@pytest.mark.parametrize("name", ["entailment.v1", "node_classifier.v1", "root_classifier.v1"])
def test_the_loss_of_a_classifier_is_the_cross_entropy_of_labelled_rows(name):
    logits = np.random.default_rng(1).normal(size=(5, 3))
    labels = np.array([2, -1, 0, 1, -1])
    loss = head_of(name).loss(torch.from_numpy(logits), torch.from_numpy(labels))
    expected = -sum(log_softmax(logits[row])[labels[row]] for row in (0, 2, 3))
    assert loss.item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("entailment.v1", {"layers": 0}),
        ("entailment.v1", {"layers": 4}),
        ("entailment.v1", {"width": 0}),
        ("node_classifier.v1", {"dropout": -0.1}),
        ("node_classifier.v1", {"hidden": -1}),
        ("root_classifier.v1", {"hidden": -1}),
        ("similarity.v1", {"hidden": 0}),
        ("tree_ranker.v1", {"kappa": -0.1}),
        *((name, {option: 1}) for name in OPTIONS for option in ("dropout", "classes", "odd")),
    ],
)
def test_wrong_options(name, options):
    """A dropout of 1 drops all, or is no option."""
    (option,) = options
    with pytest.raises(ConfigError, match=rf"'{name}': {option}: "):
        head_of(name, options)


# -- the classifiers of nodes (Tai et al. 2015, section 4.1) and of roots (Teng & Zhang 2017, (16))


every_classifier = pytest.mark.parametrize("classifier", [NodeClassifier, RootClassifier])


@every_classifier
@pytest.mark.parametrize("hidden", [0, 7])
def test_a_softmax_over_a_linear_layer_or_two(classifier, hidden):
    torch.manual_seed(2)
    head = classifier(hidden_size=H, classes=CLASSES, hidden=hidden, dropout=0.5).double().eval()
    *first, w, b = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(ROWS, H, dtype=torch.float64)
    rows = h.numpy()
    if hidden:
        rows = rows @ first[0].T + first[1]
        assert rows.shape == (ROWS, 7)
        assert (rows < 0).any()
        rows = np.maximum(rows, 0)
    logits = rows @ w.T + b
    np.testing.assert_allclose(head(h).detach(), logits, rtol=0, atol=1e-12)
    expected = softmax(logits, axis=1)
    np.testing.assert_allclose(head.scores(h).detach(), expected, rtol=0, atol=1e-12)


@every_classifier
@pytest.mark.parametrize("hidden", [0, 5])
def test_dropout_falls_on_the_row_in_training_only(classifier, hidden):
    head = classifier(hidden_size=H, classes=CLASSES, hidden=hidden, dropout=0.5).double()
    for part in head.parameters():
        part.data.fill_(1 if part.ndim == 2 else 0)
    rows, times = torch.ones(200, H, dtype=torch.float64), max(1, hidden)
    # Each of the 4 entries is dropped or doubled, then summed by each hidden unit; so are those.
    found = head.train()(rows)[:, 0]
    assert set(found.tolist()) == {times * total for total in (0.0, 2.0, 4.0, 6.0, 8.0)}
    assert set(head.eval()(rows).flatten().tolist()) == {4.0 * times}
