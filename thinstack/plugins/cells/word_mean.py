"""The mean of the word vectors below a node, a baseline of the papers."""

from thinstack.core.model.tree_encoder import SubtreeMean
from thinstack.errors import ConfigError


class WordMean(SubtreeMean):
    """The mean of the word vectors below node j, without parameters; H is X. In a dependency tree,
    where `inner_size` is X, it includes the vector of node j. State: the sum of the words (n, X)
    and their number (n, 1).

    Raises ConfigError (a ValueError) if `hidden_size` is not `input_size`.
    """

    name = "word_mean.v1"
    summary = "mean of the word vectors below a node, the papers' baseline"

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0):
        if hidden_size != input_size:
            raise ConfigError(
                f"a word mean needs hidden_size = input_size = {input_size}, found "
                f"{hidden_size}; make them equal"
            )
        super().__init__(input_size=input_size, inner_size=inner_size)
