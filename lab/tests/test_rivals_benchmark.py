"""Parts of `lab/benchmarks/sentiment_rivals.py`, `plain_encoder.py` and `contextual_speed.py`."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

FOLDER = Path(__file__).parents[1] / "benchmarks"
ROWS = [[1, 7, 2], [1, 9, 8, 7, 6, 2], [1, 2]]


@pytest.fixture(scope="module")
def modules():
    for name in ("transformers", "tokenizers", "spacy", "sklearn"):
        pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import contextual_speed
        import plain_encoder
        import sentiment_rivals

        yield sentiment_rivals, plain_encoder, contextual_speed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import transformers

    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("encoder")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "vocab_size": 20}
    config = transformers.BertConfig(num_hidden_layers=2, num_attention_heads=2, **sizes)
    transformers.BertModel(config).save_pretrained(path)
    return path


@pytest.fixture
def model(modules, folder):
    return modules[1].PlainEncoder(folder, 5).eval()


def test_scores_are_those_of_the_mean_of_a_text_read_alone(modules, model):
    found = modules[1].scores_of(model, ROWS)
    for row, scores in zip(ROWS, found, strict=True):
        with torch.inference_mode():
            outputs = model.encoder(input_ids=torch.tensor([row])).last_hidden_state[0]
            expected = model.head(outputs.mean(0)).softmax(0).numpy()
        np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_what_is_timed_is_that_encoder_in_8_bits(modules, folder):
    torch.manual_seed(2)
    session = onnxruntime.InferenceSession(modules[2].exported(folder))
    torch.manual_seed(2)
    model = modules[1].PlainEncoder(folder, 5).eval()
    ids, mask = modules[1].padded(ROWS)
    (found,) = session.run(None, {"ids": ids, "mask": mask})
    with torch.inference_mode():
        expected = model(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    assert 1e-5 < abs(found - expected).max() < 0.05


def test_figures_of_one_that_finds_all_very_positive(modules):
    dev = modules[0].Labelled(["a", "b", "c", "d", "e"], [0, 4, 2, 3, 3])
    found = modules[0].figures_of(
        dev, np.eye(5)[[4] * 5], lambda texts: np.eye(5)[[4] * len(texts)]
    )
    assert (found["accuracy"], found["binary_accuracy"]) == (20, 75)
    assert (found["negated_negatives"], found["negated_positives"]) == (100, 0)
    assert 30 < found["suite"] < 60
