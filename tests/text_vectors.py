"""Small bundles that parse, join sentences, and give vectors alone or beside five classes."""

import torch

from thinstack.bundle import write_bundle
from thinstack.core.config import ModelConfig
from thinstack.core.scale import FIVE
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

SIZE = 6
"""Columns D of a vector."""

PIECES = ("[UNK]", "the", "film", "##s", "good", "awful", "not", "screen", "is", ".", ",", "and")


def write_text_vectors(path, *, labels=FIVE, **more):
    """Without labels, the model gives vectors alone. `more`: of the configuration."""
    head = {"name": "vector.v1", "options": {"size": SIZE, "hidden": 5}}
    both = {"head": {"name": "node_classifier.v1"}, "vectors": head}
    config = ModelConfig.parse(
        {
            "labels": [*labels],
            "embedding": {"kind": "wordpieces", "size": 4},
            "cell": {"name": "mean_beside.v1", "hidden_size": 3, "options": {"reads": "state"}},
            "parser": {"name": "distances.v1", "options": {"width": 4, "lstm": 3, "hidden": 3}},
            "aggregation": "tree",
            "tree_source": "self",
            **(both if labels else {"head": head}),
            **more,
        },
        source="test",
    )
    torch.manual_seed(2)
    model = build_model(config, entries=len(PIECES)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    vocabulary = WordpieceVocabulary([*PIECES])
    onnx = export_onnx(model, config, vocabulary_digest=vocabulary.digest())
    files = {"vocabulary.txt": vocabulary.to_bytes(), "onnx/model.onnx": onnx}
    return write_bundle(path, files, config=config)
