"""Settings and arguments of the wrong kind: told in words, before a model runs."""

import pytest
from bundle_folders import CONFIG
from predictions import sentences_of

from thinstack.core.config import ModelConfig
from thinstack.errors import ConfigError, InputError, TreeError
from thinstack.runtime.predictor import Predictor


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": 1.5},
        {"threads": True},
        {"threads": "2"},
        {"threads": []},
        {"abstain": "0.5"},
        {"abstain": float("nan")},
        {"abstain": []},
    ],
    ids=str,
)
def test_of_a_predictor(last_word, settings):
    ((name, value),) = settings.items()
    with pytest.raises(InputError, match=name) as caught:
        Predictor(last_word, **settings)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("odd", [None, 1.5, [], {}], ids=str)
def test_of_calls(last_word, odd):
    predictor = Predictor(last_word, threads=1)
    with pytest.raises(InputError, match="tree source"):
        list(sentences_of(predictor, ["good"], source=odd))
    with pytest.raises(InputError, match=r"expected trees or where they come from|as many trees"):
        predictor.predict([["good"]], source=odd)
    with pytest.raises(TreeError, match="tree 0: "):
        predictor.predict_trees([odd])
    with pytest.raises(InputError, match="expected a prediction, found"):
        predictor.why(odd)


def test_labels_are_text_that_can_be_written():
    for labels in (["bad", "\ud800"], ["\udfff", "good"]):
        raw = CONFIG.model_dump(mode="json") | {"labels": labels}
        with pytest.raises(ConfigError, match=r"labels .*'\\ud"):
            ModelConfig.parse(raw, source="test")
