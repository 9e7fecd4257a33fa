"""Bundles of models of pairs, with weights at random, and what torch makes of the same words."""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from tiny_texts import PARSER, PIECES

from thinstack.bundle import Bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.core.transitions import balanced
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.export.onnx.model import export_onnx
from thinstack.plugins.build import build_model

HEADS = {
    "rating": ("similarity.v1", ("0", "1", "2")),
    "label": ("entailment.v1", ("no", "yes")),
    "sides": ("entailment.v1", ("very negative", "negative", "positive")),
}
SIZE = 6


class PairModel(NamedTuple):
    bundle: Bundle
    model: Model

    @torch.no_grad()
    def scores(self, *sides):
        """The scores (P, C) of pairs of words, by torch."""
        fields = self.bundle.vocabulary().fields([word for words in sides for word in words])
        inputs = {name: torch.from_numpy(values) for name, values in fields.items()}
        if self.model.parses:
            steps = np.zeros(0, np.int64)
            inputs |= {"lengths": torch.tensor([*map(len, sides)])}
            inputs |= {"breaks": torch.zeros(len(sides), dtype=torch.long)}
        else:
            steps = np.concatenate([balanced(len(words)) for words in sides])
        return self.model(inputs | {"transitions": torch.from_numpy(steps)})["pair_scores"].numpy()


@cache
def pair_model(target="rating", *, parses=True, vectors=True):
    """A model of ratings or labels, its configuration and its files; `vectors`: whether its head
    reads vectors of both texts."""
    head, labels = HEADS[target]
    config = ModelConfig.parse(
        {
            "labels": labels,
            "embedding": {"kind": "wordpieces", "size": 4},
            "cell": {"name": "mean_beside.v1", "hidden_size": 5, "options": {"reads": "state"}},
            "head": {"name": head},
            **({"parser": PARSER, "aggregation": "tree"} if parses else {}),
            **({"vectors": {"name": "vector.v1", "options": {"size": SIZE}}} if vectors else {}),
        },
        source="test",
    )
    torch.manual_seed(3)
    model = build_model(config, entries=len(PIECES)).eval()
    torch.nn.init.normal_(model.embedding.table)
    std = 0.3 if target == "rating" else 0.02
    torch.nn.init.normal_(model.head.linear.weight, std=std)
    vocabulary = WordpieceVocabulary(PIECES)
    onnx = export_onnx(model, config, vocabulary_digest=vocabulary.digest())
    return model, config, {VOCABULARY_FILE: vocabulary.to_bytes(), ONNX_FILE: onnx}


def write_pair_bundle(path, *args, **kind):
    """The bundle of `pair_model` with these arguments."""
    model, config, files = pair_model(*args, **kind)
    return PairModel(write_bundle(path, files, config=config), model)
