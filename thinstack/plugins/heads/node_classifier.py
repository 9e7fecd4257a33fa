"""A softmax classifier at every node (Tai, Socher & Manning 2015, section 4.1)."""

from thinstack.plugins.heads._classifier import Classifier


class NodeClassifier(Classifier):
    """A classifier of every node: p(y | node j) = softmax(W_s h_j + b_s). The cost is the negative
    log-likelihood of the labeled nodes (Tai et al. 2015, section 4.1).

    With a hidden layer, the softmax reads ReLU(W_hl h_j + b_hl) instead of h_j (Teng & Zhang 2017,
    (16)). The paper averages the cost over nodes; here `loss` is the sum, and the recipe specifies
    the divisor.
    """

    name = "node_classifier.v1"
    summary = "softmax at every node, Tai et al. 2015, 4.1"
