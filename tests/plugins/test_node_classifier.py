"""The node classifier against SciPy and hand computation."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax

from thinstack.errors import ConfigError
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.manager import manager

H, CLASSES = 4, 3


@pytest.fixture
def head() -> NodeClassifier:
    torch.manual_seed(1)
    return NodeClassifier(hidden_size=H, classes=CLASSES, dropout=0.5).double()


def test_scores_are_a_softmax_over_a_linear_layer(head) -> None:
    head.eval()
    outputs = torch.randn(6, H, dtype=torch.float64)
    logits = (
        outputs.numpy() @ head.linear.weight.detach().numpy().T + head.linear.bias.detach().numpy()
    )
    np.testing.assert_allclose(head(outputs).detach(), logits, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        head.scores(outputs).detach(), softmax(logits, axis=1), rtol=0, atol=1e-12
    )


def test_a_hidden_layer_comes_before_the_softmax() -> None:
    torch.manual_seed(2)
    head = NodeClassifier(hidden_size=H, classes=CLASSES, hidden=7).double().eval()
    w_hl, b_hl, w_lp, b_lp = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(6, H, dtype=torch.float64)
    hidden = h.numpy() @ w_hl.T + b_hl
    assert w_hl.shape == (7, H)
    assert (hidden < 0).any()
    expected = softmax(np.maximum(hidden, 0) @ w_lp.T + b_lp, axis=1)
    np.testing.assert_allclose(head.scores(h).detach(), expected, rtol=0, atol=1e-12)


def test_names_of_the_weights() -> None:
    """A saved model has them."""
    assert set(NodeClassifier(hidden_size=H, classes=CLASSES).state_dict()) == {
        "linear.weight",
        "linear.bias",
    }


def test_loss_is_the_sum_over_labelled_nodes(head) -> None:
    logits = np.random.default_rng(1).normal(size=(5, CLASSES))
    labels = np.array([2, -1, 0, 1, -1])
    expected = -sum(log_softmax(logits[node])[labels[node]] for node in (0, 2, 3))
    tensor = torch.from_numpy(logits).requires_grad_()
    loss = head.loss(tensor, torch.from_numpy(labels))
    assert loss.item() == pytest.approx(expected, abs=1e-12)
    loss.backward()
    rows = softmax(logits, axis=1) - np.eye(CLASSES)[labels]
    rows[labels < 0] = 0
    np.testing.assert_allclose(tensor.grad, rows, rtol=0, atol=1e-12)


@pytest.mark.parametrize("nodes", [0, 4])
def test_without_a_label_the_loss_is_zero_and_so_is_its_gradient(head, nodes: int) -> None:
    logits = torch.randn(nodes, CLASSES, dtype=torch.float64, requires_grad=True)
    loss = head.loss(logits, torch.full([nodes], -1))
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.tolist() == [[0.0] * CLASSES] * nodes


def test_dropout_falls_in_training_only(head) -> None:
    outputs = torch.ones(200, H, dtype=torch.float64)
    head.linear.weight.data.fill_(1)
    head.linear.bias.data.zero_()
    head.train()
    # Each of the 4 outputs is dropped or doubled, so a logit is 0, 2, 4, 6 or 8.
    assert set(head(outputs)[:, 0].tolist()) == {0.0, 2.0, 4.0, 6.0, 8.0}
    head.eval()
    assert set(head(outputs).flatten().tolist()) == {4.0}


def test_dropout_falls_before_the_hidden_layer() -> None:
    head = NodeClassifier(hidden_size=H, classes=CLASSES, hidden=5, dropout=0.5).double()
    for part in head.parameters():
        part.data.fill_(1 if part.ndim == 2 else 0)
    # Each of the 4 outputs is dropped or doubled, then summed by each of 5 hidden units, which are
    # summed.
    found = head.train()(torch.ones(200, H, dtype=torch.float64))
    assert set(found[:, 0].tolist()) == {0.0, 10.0, 20.0, 30.0, 40.0}


def test_it_is_registered() -> None:
    head = (
        manager()
        .head("node_classifier.v1")
        .create({"dropout": 0.25}, hidden_size=H, classes=CLASSES)
    )
    assert isinstance(head, NodeClassifier)
    assert (head.hidden_size, head.classes, head.dropout.p, head.reads) == (
        H,
        CLASSES,
        0.25,
        "nodes",
    )
    wide = (
        manager().head("node_classifier.v1").create({"hidden": 7}, hidden_size=H, classes=CLASSES)
    )
    assert wide.linear.in_features == 7


@pytest.mark.parametrize(
    "options", [{"dropout": 1}, {"dropout": -0.1}, {"hidden": -1}, {"rate": 0.5}]
)
def test_wrong_options(options: dict) -> None:
    with pytest.raises(ConfigError, match=rf"node_classifier\.v1.*{next(iter(options))}"):
        manager().head("node_classifier.v1").create(options, hidden_size=H, classes=CLASSES)
