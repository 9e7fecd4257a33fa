"""The tree ranker against Teng & Zhang 2017, equations (18)-(23), in NumPy."""

import math

import numpy as np
import pytest
import torch
from scipy.special import log_softmax

from thinstack.plugins.heads.tree_ranker import TreeRanker

H, WORD, LABELS, CONSTITUENTS = 4, 3, 5, 6


def random_head(word_size=WORD, kappa=0.5):
    torch.manual_seed(4)
    return TreeRanker(hidden_size=H, classes=LABELS, word_size=word_size, kappa=kappa).double()


@pytest.mark.parametrize("word_size", [WORD, 0])
def test_the_score_of_a_constituent(word_size):
    head, random = random_head(word_size), np.random.default_rng(1)
    n_b, n_c, h_a = (random.normal(size=(CONSTITUENTS, width)) for width in (H, H, word_size))
    w_l, w_r, w_h = np.split(head.linear.weight.detach().numpy(), [H, 2 * H], axis=1)
    before = n_b @ w_l.T + n_c @ w_r.T + h_a @ w_h.T + head.linear.bias.detach().numpy()
    assert (before < 0).any()
    o = np.maximum(0, before)
    rows = torch.from_numpy(np.concatenate([n_b, n_c, h_a], axis=1))
    np.testing.assert_allclose(head(rows).detach(), o, rtol=0, atol=1e-10)
    np.testing.assert_allclose(head.scores(rows).detach(), log_softmax(o, 1), rtol=0, atol=1e-10)


def margin_loss(f, candidates, kappa):
    """(22) and (23), a sentence at a time; every tree is known and every sentence has one
    oracle."""
    total = 0.0
    for sentence in set(candidates[:, 0]):
        trees = [tree for tree in range(len(f)) if candidates[tree, 0] == sentence]
        (oracle,) = (tree for tree in trees if candidates[tree, 1] == 0)
        total += max(0.0, *(f[tree] + kappa * candidates[tree, 1] - f[oracle] for tree in trees))
    return total


@pytest.mark.parametrize(("seed", "kappa"), [(0, 0.0), (1, 0.1), (2, 2.0)])
def test_the_loss(seed, kappa):
    """Sentences of one to ten candidates, mixed."""
    random = np.random.default_rng(seed)
    sizes = enumerate([4, 1, 10, 3, 2])
    candidates = random.permutation([(s, wrong) for s, size in sizes for wrong in range(size)])
    f = random.normal(size=len(candidates)) * 3
    loss = random_head(kappa=kappa).loss(torch.from_numpy(f), torch.from_numpy(candidates))
    assert loss.item() == pytest.approx(margin_loss(f, candidates, kappa), abs=1e-10)


@pytest.mark.parametrize(
    ("scores", "loss", "gradient"),
    [
        ([-3.0, -5.0, -6.0], 0.0, [0, 0, 0]),  # right by more than the margins, 0.5 and 1.5
        ([-3.0, -3.25, -4.0], 0.5, [-1, 0, 1]),  # -4 + 1.5 - -3; the other has 0.25 only
        ([-3.0, -1.0, -3.0], 2.5, [-1, 1, 0]),
    ],
)
def test_the_best_rival_and_the_oracle_move(scores, loss, gradient):
    f = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    found = random_head(kappa=0.5).loss(f, torch.tensor([[0, 0], [0, 1], [0, 3]]))
    found.backward()
    assert found.item() == pytest.approx(loss, abs=1e-12)
    assert f.grad.tolist() == gradient


def test_trees_of_no_sentence_are_left_out():
    """Also where they are the only ones of earlier sentences."""
    f = torch.tensor([9.0, -3.0, 9.0, -3.5], dtype=torch.float64)
    candidates = torch.tensor([[0, -1], [3, 0], [-1, 2], [3, 1]])
    assert random_head(kappa=1.0).loss(f, candidates).item() == pytest.approx(0.5, abs=1e-12)


def test_a_sentence_without_an_oracle_is_seen():
    f = torch.zeros(3, dtype=torch.float64)
    assert random_head().loss(f, torch.tensor([[0, 0], [1, 1], [0, 1]])).item() == math.inf
