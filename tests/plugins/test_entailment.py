"""The classifier of pairs against Bowman et al. 2016, section 4.1, in NumPy."""

import math

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax
from torch import nn

from thinstack.errors import PluginError
from thinstack.plugins.heads.entailment import Entailment
from thinstack.plugins.heads.similarity import Similarity
from thinstack.plugins.manager import manager

H, CLASSES, PAIRS = 4, 3, 6


def random_head(**options):
    """In float64, with biases and statistics that are not those of a fresh one."""
    torch.manual_seed(4)
    head = Entailment(hidden_size=H, classes=CLASSES, width=7, **options).double().eval()
    for part in head.parameters():
        nn.init.normal_(part)
    for name, part in head.named_buffers():
        if not name.endswith("num_batches_tracked"):
            part.uniform_(0.5, 2)
    return head


def random_pairs():
    return torch.from_numpy(np.random.default_rng(2).normal(size=(PAIRS, 2 * H)))


def numpy(part):
    return part.detach().numpy()


def expected_logits(head, pairs, statistics):
    """Logits with no normalisation (`none`), or one by the statistics of the rows (`batch`) or the
    running ones (`running`)."""

    def norm(x, place):
        if statistics == "none":
            return x
        mean, variance = numpy(place[0].running_mean), numpy(place[0].running_var)
        if statistics == "batch":
            mean, variance = x.mean(0), x.var(0)
        normal = (x - mean) / np.sqrt(variance + place[0].eps)
        return normal * numpy(place[0].weight) + numpy(place[0].bias)

    premise, hypothesis = numpy(pairs)[:, :H], numpy(pairs)[:, H:]
    x = np.concatenate([premise, hypothesis, premise - hypothesis, premise * hypothesis], axis=1)
    x = norm(x, head.before)
    for layer in head.mlp:
        if isinstance(layer, nn.Linear):
            x = np.maximum(0, x @ numpy(layer.weight).T + numpy(layer.bias))
    return norm(x, head.after) @ numpy(head.linear.weight).T + numpy(head.linear.bias)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("batch_norm", [True, False])
def test_the_equations(layers, batch_norm):
    head, pairs = random_head(layers=layers, batch_norm=batch_norm), random_pairs()
    assert sum(isinstance(layer, nn.Linear) for layer in head.mlp) == layers
    expected = expected_logits(head, pairs, "running" if batch_norm else "none")
    np.testing.assert_allclose(numpy(head(pairs)), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        numpy(head.scores(pairs)), softmax(expected, axis=1), rtol=0, atol=1e-10
    )


def test_training_normalises_by_the_batch():
    head, pairs = random_head(layers=1), random_pairs()
    expected = expected_logits(head, pairs, "batch")
    before = head.before[0].running_mean.clone()
    np.testing.assert_allclose(numpy(head.train()(pairs)), expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(
        head.before[0].running_mean[:H], 0.9 * before[:H] + 0.1 * pairs[:, :H].mean(0)
    )


@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_pairs_in_training_take_the_running_statistics(rows):
    head, pairs = random_head(), random_pairs()[:rows]
    before = {name: part.clone() for name, part in head.state_dict().items()}
    torch.testing.assert_close(head.train()(pairs), head.eval()(pairs), rtol=0, atol=0)
    assert all(torch.equal(part, before[name]) for name, part in head.state_dict().items())


def test_dropout_falls_around_the_layers_in_training_only():
    head = random_head(layers=1, dropout=0.5, batch_norm=False)
    for part in head.parameters():
        part.data.zero_()
    head.mlp[0].weight.data.fill_(0.25)
    head.linear.weight.data[:, 0] = 1
    pairs = torch.ones(300, 2 * H, dtype=torch.float64)
    # 3H = 12 features are 1, each dropped or doubled; a quarter of their sum, 0 to 6, is then
    # dropped or doubled itself.
    found = head.train()(pairs)[:, 0]
    assert set(found.tolist()) <= set(range(13))
    assert (found == 0).sum() > 100
    assert len(found.unique()) > 5
    assert set(head.eval()(pairs)[:, 0].tolist()) == {3.0}


def test_dropout_comes_after_the_normalisation():
    head, seen = random_head(dropout=0.5), []
    head.before[0].bias.data.fill_(100)
    head.mlp.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    head.train()(random_pairs())
    assert 0 < (seen[0] == 0).sum() < seen[0].numel()


def test_fresh_weights():
    """He et al. 2015: a variance of 2 / fan in. The softmax within 0.005."""
    torch.manual_seed(1)
    head = Entailment(hidden_size=50, classes=30, layers=2, width=400)
    for layer, fan_in in ((head.mlp[0], 200), (head.mlp[2], 400)):
        assert layer.weight.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.02)
        assert layer.weight.abs().max() > 3 * (2 / fan_in) ** 0.5  # normal, not uniform
        assert not layer.bias.any()
    for part in (head.linear.weight, head.linear.bias):
        assert 0.004 < part.detach().abs().max() <= 0.005


# -- ratings (Tai et al. 2015, (15) and what follows it)


K = 5


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


def test_the_equations_of_ratings(head):
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


def test_dropout_of_ratings_falls_on_the_hidden_layer_in_training_only():
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
