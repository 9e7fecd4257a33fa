"""The similarity of a pair against Tai et al. 2015, (15) and what follows it, in NumPy."""

import math

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax

from thinstack.errors import PluginError
from thinstack.plugins.heads.similarity import Similarity
from thinstack.plugins.manager import manager

H, K, PAIRS = 4, 5, 6


@pytest.fixture
def head():
    torch.manual_seed(4)
    return Similarity(hidden_size=H, classes=K, hidden=7).double().eval()


def sparse(y):
    """The target distribution p, case by case; an i beyond K has p_i = 0 anyway."""
    p = np.zeros(K)
    for i in range(1, K + 1):
        if i == math.floor(y) + 1:
            p[i - 1] = y - math.floor(y)
        elif i == math.floor(y):
            p[i - 1] = math.floor(y) - y + 1
    return p


def test_the_equations(head):
    left, right = np.random.default_rng(2).normal(size=(2, PAIRS, H))
    w_x, w_plus, w_p = (
        layer.weight.detach().numpy() for layer in (head.product, head.distance, head.linear)
    )
    b_h, b_p = head.distance.bias.detach().numpy(), head.linear.bias.detach().numpy()
    h_s = 1 / (1 + np.exp(-((left * right) @ w_x.T + np.abs(left - right) @ w_plus.T + b_h)))
    p_hat = softmax(h_s @ w_p.T + b_p, axis=1)
    pairs = torch.from_numpy(np.concatenate([left, right], axis=1))
    np.testing.assert_allclose(head(pairs).detach(), h_s @ w_p.T + b_p, rtol=0, atol=1e-10)
    scores = head.scores(pairs)
    np.testing.assert_allclose(scores.detach(), p_hat, rtol=0, atol=1e-10)
    y_hat = p_hat @ np.array([1, 2, 3, 4, 5])
    np.testing.assert_allclose(head.ratings(scores).detach(), y_hat, rtol=0, atol=1e-10)


@pytest.mark.parametrize("y", [1, 1.0001, 1.5, 2, 3.7, 4, 4.999, 5])
def test_the_loss_of_one_pair(head, y):
    logits = np.random.default_rng(3).normal(size=(1, K))
    p = sparse(y)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert p @ np.arange(1, K + 1) == pytest.approx(y, abs=1e-12)  # y = r' p
    loss = head.loss(torch.from_numpy(logits), torch.tensor([y], dtype=torch.float64))
    assert loss.item() == pytest.approx(rel_entr(p, softmax(logits[0])).sum(), abs=1e-10)


def test_dropout_falls_on_the_hidden_layer_in_training_only():
    head = Similarity(hidden_size=H, classes=K, hidden=4, dropout=0.5).double()
    for part in head.parameters():
        part.data.zero_()
    head.linear.weight.data.fill_(1)
    pairs = torch.ones(200, 2 * H, dtype=torch.float64)
    # Each of the 4 sigmoids of 0 is dropped or doubled.
    assert set(head.train()(pairs)[:, 0].tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert set(head.eval()(pairs)[:, 0].tolist()) == {2.0}


def test_one_rating_is_no_scale():
    with pytest.raises(PluginError, match=r"similarity\.v1.*at least 2 ratings.*found 1"):
        manager().find("head", "similarity.v1").create({}, hidden_size=H, classes=1)
