"""The root classifier against Teng & Zhang 2017, equations (16) and (17), in NumPy."""

import numpy as np
import pytest
import torch

from thinstack.errors import ConfigError
from thinstack.plugins.heads.root_classifier import RootClassifier
from thinstack.plugins.manager import manager

H, CLASSES, TREES = 4, 3, 6


def random_head(**options: float) -> RootClassifier:
    torch.manual_seed(4)
    return RootClassifier(hidden_size=H, classes=CLASSES, **options).double().eval()


def softmax(o: np.ndarray) -> np.ndarray:
    return np.exp(o) / np.exp(o).sum(1, keepdims=True)


def test_the_equations() -> None:
    head = random_head(hidden=9)
    w_hl, b_hl, w_lp, b_lp = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(TREES, H, dtype=torch.float64)
    h_l = np.maximum(0, h.numpy() @ w_hl.T + b_hl)
    assert (h_l == 0).any()
    o = h_l @ w_lp.T + b_lp
    np.testing.assert_allclose(head(h).detach(), o, rtol=0, atol=1e-10)
    np.testing.assert_allclose(head.scores(h).detach(), softmax(o), rtol=0, atol=1e-10)


def test_without_a_hidden_layer() -> None:
    head = random_head(hidden=0)
    w, b = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(TREES, H, dtype=torch.float64)
    np.testing.assert_allclose(
        head.scores(h).detach(), softmax(h.numpy() @ w.T + b), rtol=0, atol=1e-10
    )


def test_the_loss_is_the_sum_over_labelled_trees() -> None:
    logits = np.random.default_rng(1).normal(size=(5, CLASSES))
    labels = np.array([2, -1, 0, 1, -1])
    expected = -sum(np.log(softmax(logits)[tree, labels[tree]]) for tree in (0, 2, 3))
    loss = random_head().loss(torch.from_numpy(logits), torch.from_numpy(labels))
    assert loss.item() == pytest.approx(expected, abs=1e-10)


def test_dropout_falls_on_the_root_in_training_only() -> None:
    head = random_head(hidden=5, dropout=0.5)
    for part in head.parameters():
        part.data.fill_(1.0 if part.ndim == 2 else 0.0)
    roots = torch.ones(200, H, dtype=torch.float64)
    # Each of the 4 values is dropped or doubled, then summed by each of 5 hidden units, which are
    # summed.
    assert set(head.train()(roots)[:, 0].tolist()) == {0.0, 10.0, 20.0, 30.0, 40.0}
    assert set(head.eval()(roots)[:, 0].tolist()) == {20.0}


@pytest.mark.parametrize("size", [75, 150, 3 * 150])
def test_number_of_parameters(size: int) -> None:
    """Teng & Zhang, Table 4: a hidden layer of 128 and five classes; 3D with the bidirectional
    encoder."""
    head = manager().head("root_classifier.v1").create({}, hidden_size=size, classes=5)
    assert sum(part.numel() for part in head.parameters()) == size * 128 + 128 + 128 * 5 + 5


def test_it_is_registered() -> None:
    options = {"hidden": 7, "dropout": 0.25}
    head = manager().head("root_classifier.v1").create(options, hidden_size=H, classes=CLASSES)
    assert isinstance(head, RootClassifier)
    assert (head.reads, head.hidden_size, head.classes) == ("roots", H, CLASSES)
    assert (head.linear.in_features, head.dropout.p) == (7, 0.25)


@pytest.mark.parametrize("options", [{"hidden": -1}, {"dropout": 1}, {"layers": 2}])
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ConfigError, match=rf"root_classifier\.v1.*{next(iter(options))}"):
        manager().head("root_classifier.v1").create(options, hidden_size=H, classes=CLASSES)
