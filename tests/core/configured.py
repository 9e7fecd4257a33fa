"""Small models from a configuration: words of width X, states of width H, three classes."""

import torch

from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.plugins.build import build_model

X, H, LABELS, ENTRIES = 3, 4, ("bad", "good", "best"), 9
CHILD_SUM, SPINN = {"name": "child_sum_lstm.v1"}, {"name": "spinn_lstm.v1"}
LEXICALIZED, RANKER = {"name": "lexicalized_lstm.v1"}, {"name": "tree_ranker.v1"}


def config_of(cell: dict | None = None, head: dict | None = None, **fields: object) -> ModelConfig:
    """An N-ary Tree-LSTM that classifies the nodes of binary trees, but for what is named."""
    data = {
        "labels": LABELS,
        "embedding": {"kind": "words", "size": X},
        "cell": {"name": "nary_lstm.v1", "hidden_size": H, **(cell or {})},
        "head": {"name": "node_classifier.v1", **(head or {})},
    }
    return ModelConfig.parse(data | fields, source="test")


def build(*settings: dict, entries: int = ENTRIES, **fields: object) -> Model:
    """The model of `config_of` with these arguments."""
    return build_model(config_of(*settings, **fields), entries=entries)


def far_from_zero(*settings: dict, **fields: object) -> Model:
    """The same in float64 and evaluation mode, its weights drawn from a wide range."""
    model = build(*settings, **fields).double().eval()
    torch.manual_seed(1)
    for weights in model.parameters():
        torch.nn.init.uniform_(weights, -0.9, 0.9)
    return model
