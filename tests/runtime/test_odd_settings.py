"""Settings and arguments of the wrong kind: told in words, before a model runs."""

import pytest
from bundle_folders import CONFIG
from predictions import sentences_of

from thinstack.core.config import ModelConfig
from thinstack.errors import ConfigError, DeviceError, InputError, TreeError
from thinstack.runtime.predictor import Predictor

ODD = {
    "threads": [1.5, True, "2", [], 0, -1, 257, 100_000],
    "abstain": ["0.5", float("nan"), [], 0.0, 1.0],
    "max_words": [1, 0, -5, True, 2.5, None, "400"],
    "classes": [1, 4, 6],
    "device": ["tpu"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD.items() for value in values]
)
def test_of_a_predictor(last_word, name, value):
    with pytest.raises((InputError, DeviceError), match=name) as caught:
        Predictor(last_word, **{name: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("odd", [None, 1.5, [], {}], ids=str)
def test_of_calls(last_word, odd):
    predictor = Predictor(last_word, threads=1)
    with pytest.raises(InputError, match="tree source"):
        list(sentences_of(predictor, ["good"], source=odd))
    with pytest.raises(InputError, match=r"expected trees or where they come from|need \d+ trees"):
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
