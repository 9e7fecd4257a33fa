"""How much labels weigh beside one another before anything is learnt."""

import numpy as np
import pytest

from thinstack.training.text_recipe import fit_weights


def test_weights_undo_other_shares_of_labels():
    draw = np.random.default_rng(0)
    masses = draw.dirichlet((1, 1, 1), 20_000)
    shifted = masses * np.array([0.2, 1.0, 5.0])
    shares = shifted / shifted.sum(1, keepdims=True)
    gold = (shares.cumsum(1) < draw.random((len(masses), 1))).sum(1)
    assert fit_weights(masses, gold) == pytest.approx([0.2, 1.0, 5.0], rel=0.08)


def test_even_labels_have_even_weights_and_an_absent_one_a_small_one():
    masses = np.full((100, 2), 0.5)
    assert fit_weights(masses, np.arange(100) % 2) == pytest.approx([1, 1], abs=1e-3)
    absent = fit_weights(masses, np.zeros(100, np.int64))
    assert np.isfinite(absent).all()
    assert absent[1] < 0.2
