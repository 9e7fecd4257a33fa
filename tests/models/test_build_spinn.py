"""Models with a tracking LSTM from their configuration."""

import re

import pytest

from thinstack.config import ModelConfig
from thinstack.errors import ConfigError, UnknownNameError
from thinstack.models import build_model
from thinstack.spinn.stack_encoder import StackEncoder

X, H = 6, 5


def config(cell: dict, head: dict | None = None, **fields: object) -> ModelConfig:
    data = {
        "labels": ["bad", "good", "best"],
        "embedding": {"kind": "words", "size": X, "dropout": 0.2},
        "cell": {"name": "nary_lstm.v1", "hidden_size": H, **cell},
        "head": head or {"name": "node_classifier.v1", "options": {"dropout": 0.5}},
    }
    return ModelConfig.parse(data | fields, source="test")


@pytest.mark.parametrize(
    ("cell", "tracker", "inner_size"),
    [
        ("spinn_lstm.v1", {"size": 7}, 7),
        ("spinn_lstm.v1", {"size": 7, "lookahead": 3, "parses": False}, 7),
        ("spinn_lstm.v1", {"size": 7, "feeds": False}, 0),
        ("nary_lstm.v1", {"size": 7, "feeds": False, "lookahead": 2, "dropout": 0.3}, 0),
        ("child_sum_lstm.v1", {"size": 7, "feeds": False, "parses": False}, 0),
    ],
)
def test_a_tracker_makes_it_spinn(cell: str, tracker: dict, inner_size: int) -> None:
    model = build_model(config(cell={"name": cell}, encoder={"tracker": tracker}), entries=7)
    assert type(model.encoder) is StackEncoder
    found = model.encoder.cell
    assert (found.input_size, found.inner_size, found.hidden_size) == (X, inner_size, H)
    assert model.encoder.feeds == (inner_size > 0)
    found = model.encoder.tracker
    options = {"lookahead": 1, "parses": True, "dropout": 0.0} | tracker
    assert found.dropout.p == options["dropout"]
    assert (found.input_size, found.size, found.lookahead, found.parses) == (
        H,
        7,
        options["lookahead"],
        options["parses"],
    )
    assert model.parses == options["parses"]
    assert (model.head.hidden_size, model.head.classes, model.head.dropout.p) == (H, 3, 0.5)
    assert model.embedding.dropout.p == 0.2


@pytest.mark.parametrize("cell", ["nary_lstm.v1", "child_sum_lstm.v1", "s_lstm.v1", "rntn.v1"])
def test_a_tracker_cannot_feed_every_cell(cell: str) -> None:
    message = (
        rf"^model\.encoder\.tracker: {re.escape(cell)} cannot be fed a context of width 7 \(.+\); "
        r"take a cell that can \(spinn_lstm\.v1\), or feeds = false$"
    )
    with pytest.raises(ConfigError, match=message):
        build_model(config(cell={"name": cell}, encoder={"tracker": {"size": 7}}), entries=7)
    assert build_model(
        config(cell={"name": cell}, encoder={"tracker": {"size": 7, "feeds": False}}), entries=7
    )


@pytest.mark.parametrize("feeds", [True, False])
def test_a_tracker_wants_a_cell_of_binary_trees(feeds: bool) -> None:
    message = (
        r"^model\.(cell|encoder\.tracker): .*NaryLSTM has arity 3.* a model of binary trees needs "
        r"arity 2"
    )
    if feeds:
        message = r"^model\.encoder\.tracker: nary_lstm\.v1 cannot be fed a context of width 7"
    with pytest.raises(ConfigError, match=message):
        build_model(
            config(
                cell={"options": {"arity": 3}}, encoder={"tracker": {"size": 7, "feeds": feeds}}
            ),
            entries=7,
        )


def test_a_tracker_and_a_ranker() -> None:
    message = (
        r"^model\.head: tree_ranker\.v1 ranks trees, which a model with a tracking LSTM does not$"
    )
    with pytest.raises(ConfigError, match=message):
        build_model(
            config(
                head={"name": "tree_ranker.v1", "options": {}},
                cell={"name": "spinn_lstm.v1"},
                encoder={"tracker": {"size": 7}},
            ),
            entries=7,
        )


def test_the_options_of_a_cell_beside_a_tracker() -> None:
    fields = {"encoder": {"tracker": {"size": 7, "feeds": False}}}
    with pytest.raises(ConfigError, match=r"nary_lstm\.v1.*arityy"):
        build_model(config(cell={"options": {"arityy": 2}}, **fields), entries=7)
    with pytest.raises(UnknownNameError, match=r"unknown cell 'spinn\.v1'"):
        build_model(config(cell={"name": "spinn.v1"}, encoder={"tracker": {"size": 7}}), entries=7)
