"""A softmax classifier at every node (Tai, Socher & Manning 2015, section 4.1)."""

from thinstack.plugins.heads._classifier import Classifier, Share, Width

__all__ = ["NodeClassifier"]


class NodeClassifier(Classifier):
    """p(y | node j) = softmax(W_s h_j + b_s), and the cost is the negative log-likelihood of the
    labelled nodes (Tai 4.1).

    With a hidden layer the softmax reads ReLU(W_hl h_j + b_hl) in place of h_j (Teng & Zhang 2017,
    (16)). The paper averages the cost over nodes; here `loss` is the sum, for the caller to divide
    as the training recipe says.
    """

    name = "node_classifier.v1"
    summary = "softmax at every node, Tai et al. 2015, 4.1"

    def __init__(self, *, hidden_size: int, classes: int, hidden: Width = 0, dropout: Share = 0.0):
        super().__init__(
            hidden_size=hidden_size, classes=classes, hidden=hidden, dropout=dropout, reads="nodes"
        )
