"""The classifiers of nodes (Tai et al. 2015, section 4.1) and of roots (Teng & Zhang 2017, (16))
against SciPy."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.plugins.heads.root_classifier import RootClassifier

H, CLASSES, ROWS = 4, 3, 6

every_classifier = pytest.mark.parametrize("classifier", [NodeClassifier, RootClassifier])


@every_classifier
def test_a_softmax_over_a_linear_layer(classifier):
    torch.manual_seed(1)
    head = classifier(hidden_size=H, classes=CLASSES, hidden=0, dropout=0.5).double().eval()
    w, b = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(ROWS, H, dtype=torch.float64)
    logits = h.numpy() @ w.T + b
    np.testing.assert_allclose(head(h).detach(), logits, rtol=0, atol=1e-12)
    expected = softmax(logits, axis=1)
    np.testing.assert_allclose(head.scores(h).detach(), expected, rtol=0, atol=1e-12)


@every_classifier
def test_a_hidden_layer_comes_before_the_softmax(classifier):
    torch.manual_seed(2)
    head = classifier(hidden_size=H, classes=CLASSES, hidden=7).double().eval()
    w_hl, b_hl, w_lp, b_lp = (part.detach().numpy() for part in head.parameters())
    h = torch.randn(ROWS, H, dtype=torch.float64)
    hidden = h.numpy() @ w_hl.T + b_hl
    assert w_hl.shape == (7, H)
    assert (hidden < 0).any()
    expected = softmax(np.maximum(hidden, 0) @ w_lp.T + b_lp, axis=1)
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
