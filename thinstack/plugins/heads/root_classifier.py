"""A softmax classifier of whole trees (Teng & Zhang 2017, section 5)."""

from thinstack.core.config.base import Rate
from thinstack.plugins.heads._classifier import Classifier, Width


class RootClassifier(Classifier):
    """A classifier of trees by their representation h (Teng & Zhang 2017).

        h_l = ReLU(W_hl h + b_hl)                       (16)
        P = softmax(W_lp h_l + b_lp)
        L = - sum over trees of log P[label]            (17), without its L2 term

    h is the encoder's output for a root: the root's h or, with a top-down pass, the concatenation
    of the three vectors of (15), so that H is 3D. With `hidden` 0, the softmax reads h itself.
    """

    name = "root_classifier.v1"
    summary = "ReLU layer and softmax at the root, Teng & Zhang 2017, (15)-(17)"
    rows = "roots"

    def __init__(self, *, hidden_size: int, classes: int, hidden: Width = 128, dropout: Rate = 0.0):
        super().__init__(hidden_size=hidden_size, classes=classes, hidden=hidden, dropout=dropout)
