"""The parts of `benchmarks/sentiment_rivals.py`, `plain_encoder.py` and `contextual_speed.py`."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

FOLDER = Path(__file__).parents[1] / "benchmarks"
ROWS = [[1, 7, 2], [1, 9, 8, 7, 6, 2], [1, 2]]


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType, ModuleType]]:
    for name in ("transformers", "tokenizers", "spacy", "sklearn"):
        pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import contextual_speed
        import plain_encoder
        import sentiment_rivals

        yield sentiment_rivals, plain_encoder, contextual_speed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import transformers

    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("encoder")
    sizes: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 24, "vocab_size": 20}
    config = transformers.BertConfig(num_hidden_layers=2, num_attention_heads=2, **sizes)
    transformers.BertModel(config).save_pretrained(path)
    return path


@pytest.fixture
def model(modules: tuple[ModuleType, ...], folder: Path) -> Any:
    return modules[1].PlainEncoder(folder, 5).eval()


def test_scores_are_those_of_the_mean_of_a_text_read_alone(
    modules: tuple[ModuleType, ...], model: Any
) -> None:
    found = modules[1].scores_of(model, ROWS)
    for row, scores in zip(ROWS, found, strict=True):
        with torch.inference_mode():
            outputs = model.encoder(input_ids=torch.tensor([row])).last_hidden_state[0]
            expected = model.head(outputs.mean(0)).softmax(0).numpy()
        np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_what_is_timed_is_that_encoder_in_8_bits(
    modules: tuple[ModuleType, ...], folder: Path
) -> None:
    torch.manual_seed(2)
    session = onnxruntime.InferenceSession(modules[2].exported(folder))
    torch.manual_seed(2)
    model = modules[1].PlainEncoder(folder, 5).eval()
    ids, mask = modules[1].padded(ROWS)
    (found,) = session.run(None, {"ids": ids, "mask": mask})
    with torch.inference_mode():
        expected = model(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    assert 1e-5 < abs(found - expected).max() < 0.05


def test_it_learns_with_lower_rates_in_lower_layers(
    modules: tuple[ModuleType, ...], model: Any
) -> None:
    rates = [group["lr"] for group in modules[1].groups(model, modules[1].Rates(0.1, 0.5))]
    assert rates == [0.1, 0.05, 0.025, modules[1].HEAD_RATE]
    rows = [([1, 5 + label, 2], label) for label in range(5)] * 8
    settings = {"epochs": 20, "seed": 1}
    modules[1].fine_tune(model, lambda draw: rows, modules[1].Rates(0.01, 1.0), **settings)
    found = modules[1].scores_of(model, [row for row, _ in rows[:5]])
    assert found.argmax(1).tolist() == [0, 1, 2, 3, 4]


def test_every_text_stands_in_one_batch_of_like_length(modules: tuple[ModuleType, ...]) -> None:
    rows = [([0] * (1 + place % 9), place) for place in range(90)]
    batches = list(modules[1].batches_of(rows, np.random.default_rng(1)))
    assert sorted(place for batch in batches for _, place in batch) == list(range(90))
    spans = sorted((len(batch[0][0]), len(batch[-1][0])) for batch in batches)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_phrases_are_read_alone_if_they_are_not_too_short_and_seldom_if_neutral(
    modules: tuple[ModuleType, ...],
) -> None:
    texts = ["too short", "long enough now", "word " * 21, *["a neutral one"] * 1000]
    phrases = modules[0].Labelled(texts, [4, 4, 4, *[2] * 1000])
    found = modules[0].read_alone(phrases, np.random.default_rng(1), 2000)
    assert 1 in found
    assert not {0, 2} & set(found)
    assert 350 < len(found) < 450
    assert len(modules[0].read_alone(phrases, np.random.default_rng(1), 7)) == 7


def test_figures_of_one_that_finds_all_very_positive(modules: tuple[ModuleType, ...]) -> None:
    dev = modules[0].Labelled(["a", "b", "c", "d", "e"], [0, 4, 2, 3, 3])
    found = modules[0].figures_of(
        dev, np.eye(5)[[4] * 5], lambda texts: np.eye(5)[[4] * len(texts)]
    )
    assert (found["accuracy"], found["binary_accuracy"]) == (20, 75)
    assert (found["negated_negatives"], found["negated_positives"]) == (100, 0)
    assert 30 < found["suite"] < 60


def test_a_row_has_means_and_deviations(modules: tuple[ModuleType, ...]) -> None:
    import sentiment_page

    names = list(sentiment_page.COLUMNS)
    figures = [dict.fromkeys(names, value) for value in (1.0, 3.0)]
    cells = " | ".join([*["2.0 ± 1.4"] * (len(names) - 1), "2 ± 1"])
    assert sentiment_page.row_of("one", figures) == f"| one | {cells} |"


def test_what_was_learnt_is_not_learnt_again(
    modules: tuple[ModuleType, ...], tmp_path: Path
) -> None:
    assert modules[0].Runs(tmp_path)("one", lambda: {"accuracy": 5.0}) == {"accuracy": 5.0}
    assert modules[0].Runs(tmp_path)("one", dict) == {"accuracy": 5.0}
