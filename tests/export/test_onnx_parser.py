"""Models with a parser of distances as ONNX: over their own trees and over given ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from export_models import Exported, V, close, eager_scores, inputs_of, make_config, without_trees
from torch import Tensor, nn

from thinstack.core.model.model import Model
from thinstack.core.model.parsing_encoder import ParsingEncoder
from thinstack.core.parser import Parser
from thinstack.core.transitions import MOST_BREAK, balanced, breaks_of, right, spans_of
from thinstack.errors import ExportError
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import verify_onnx
from thinstack.plugins.build import build_model

PARSER = {"name": "distances.v1", "options": {"width": 8, "lstm": 6, "hidden": 9}}
BATCHES = {
    "empty": [],
    "one word": [1, 1],
    "two words": [2],
    "mixed": [7, 1, 2, 4, 12, 1],
    "uneven": [1, 60, 2, 1, 200, 31],
}


class Surprise(Parser):
    """A third party's: a gap is as far as its words are from their sentence's first."""

    name = "surprise.v1"

    def __init__(self, *, input_size: int):
        super().__init__(input_size=input_size)
        self.score = nn.Linear(input_size, 1)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        ends = torch.cumsum(lengths, 0)
        last = torch.zeros_like(words[:, 0]).index_fill(0, ends - 1, 1.0)
        return self.score(words).squeeze(1) + last


def model_of(kind="words"):
    torch.manual_seed(3)
    config = make_config(kind, parser=PARSER, aggregation="tree")
    model = build_model(config, entries=V).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.uniform_(-0.9, 0.9)
    return Exported(model, config, "none", b"")


def with_file(exported, **options):
    file = export_onnx(exported.model, exported.config, vocabulary_digest="", **options)
    return replace(exported, file=file)


def by_a_third_party():
    made = model_of()
    parser = Surprise(input_size=made.model.embedding.size)
    encoder = ParsingEncoder(made.model.encoder.encoder, parser, joins=True).eval()
    model = Model(embedding=made.model.embedding, encoder=encoder, head=made.model.head).eval()
    return replace(made, model=model)


@pytest.fixture(scope="module")
def files():
    made = {"words": model_of(), "wordpieces": model_of("wordpieces"), "other": by_a_third_party()}
    return {name: with_file(each) for name, each in made.items()}


def sentences(model, sizes, *, given, breaks=None):
    inputs = inputs_of(model, sizes)
    inputs = inputs if given else without_trees(inputs)
    return inputs if breaks is None else inputs | {"breaks": np.array(breaks)}


@pytest.mark.parametrize("given", [True, False], ids=["given trees", "own trees"])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("kind", ["words", "wordpieces", "other"])
def test_scores(files, kind, batch, given):
    exported = files[kind]
    inputs = sentences(exported.model, BATCHES[batch], given=given)
    close(exported.runs()[0](inputs), eager_scores(exported.model, inputs))


TEXTS = {
    "one text": ([3, 1, 5], breaks_of(balanced(3))),
    "mixed": ([7, 1, 2, 4, 12, 1], [0, *breaks_of(right(3)), 5, 0]),
    "equal breaks": ([2, 1, 1, 3, 2], [MOST_BREAK] * 4 + [0]),
    "of seventy words": ([9, 30, 31, 1, 200], [2, 2, 0, 1, 0]),
}


@pytest.mark.parametrize("kind", ["words", "wordpieces", "other"])
@pytest.mark.parametrize("texts", TEXTS)
def test_texts(files, kind, texts):
    sizes, breaks = TEXTS[texts]
    exported = files[kind]
    inputs = sentences(exported.model, sizes, given=False, breaks=breaks)
    found = exported.runs()[0](inputs)
    close(found, eager_scores(exported.model, inputs))
    alone = exported.runs()[0](inputs | {"breaks": np.zeros_like(inputs["breaks"])})
    spans, sentence = spans_of(found["parse"]), np.repeat(np.arange(len(sizes)), sizes)
    own = sentence[spans[:, 0]] == sentence[spans[:, 1] - 1]
    np.testing.assert_array_equal(found["parse"][own], alone["parse"])
    np.testing.assert_allclose(found["node_scores"][own], alone["node_scores"], rtol=0, atol=1e-6)
    assert np.count_nonzero(~own) == np.count_nonzero(breaks)


def test_breaks_of_another_length_are_refused(files):
    exported = files["words"]
    inputs = sentences(exported.model, [3, 2], given=False)
    with pytest.raises(Exception, match="Shape mismatch"):
        exported.runs()[0]({**inputs, "breaks": np.zeros(0, np.int64)})


def test_lengths_that_lie_cost_no_memory(files):
    exported = files["words"]
    inputs = sentences(exported.model, [3], given=False)
    with pytest.raises(Exception, match="bounds"):
        exported.runs()[0]({**inputs, "lengths": np.array([2**31 - 1])})


@pytest.mark.parametrize("quantize", ["fp16", "int8-tables", "int8"])
def test_rounded_weights(quantize):
    made = model_of()
    exported = with_file(made, quantize=quantize)
    # Own trees and given ones, against the model with the weights that the file holds.
    verify_onnx(exported.file, made.model)


def test_a_parser_that_names_no_module_with_distances():
    exported = by_a_third_party()
    type(exported.model.encoder.parser).onnx = "json"
    try:
        with pytest.raises(ExportError, match="json"):
            with_file(exported)
    finally:
        type(exported.model.encoder.parser).onnx = ""
