"""Bundles of models that score sentences alone, and what torch makes of the same sentences."""

from typing import NamedTuple

import numpy as np
import torch
from last_word_model import LABELS, WORDS

from thinstack.bundle import Bundle, write_bundle
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest
from thinstack.core.model.model import Model
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model


class SentenceModel(NamedTuple):
    bundle: Bundle
    model: Model

    @torch.no_grad()
    def scores(self, words, transitions=()):
        """The scores (C,) of a sentence, by torch."""
        ids = WordVocabulary(WORDS).fields(list(words))
        sizes = {"sizes": np.array([len(words)]), "lengths": np.array([len(words)])}
        forest = Forest(**ids, **sizes, transitions=np.array(transitions, np.int64))
        return self.model(self.model.inputs(forest))["root_scores"].numpy()[0]


PLAIN = {
    "trees": "sequence",
    "cell": {"name": "nary_lstm.v1", "hidden_size": 4, "options": {"arity": 1}},
}
"""What makes it a model of plain sentences."""


def write_sentence_bundle(path, head="root_classifier.v1", **more):
    """`more`: of the configuration."""
    config = ModelConfig.parse(
        {
            "labels": LABELS,
            "embedding": {"kind": "words", "size": 3},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 4},
            "head": {"name": head},
            **({"tree_source": "left"} | more),
        },
        source="test",
    )
    torch.manual_seed(1)
    model = build_model(config, entries=len(WORDS) + 1).eval()
    torch.nn.init.normal_(model.embedding.table)
    digest = WordVocabulary(WORDS).digest()
    files = {"vocabulary.txt": "".join(f"{word}\n" for word in WORDS).encode()}
    files["onnx/model.onnx"] = export_onnx(model, config, vocabulary_digest=digest)
    return SentenceModel(write_bundle(path, files, config=config), model)
