"""`EncoderTeacher`: a classifier of texts by transformers, which labels each phrase as a text."""

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError

from thinstack.core import Tree
from thinstack.data.files.pretrained_models import hub_answers, quiet, readable
from thinstack.errors import ConfigError, needs_extra
from thinstack.text.raw_text import detokenize

EXPECTED: Final = "teacher.encoders: expected a classifier of transformers"
BATCH: Final = 64
"""The texts of a batch, which have about the same length."""
MOST_PIECES: Final = 256
"""Pieces of a text that are read; what follows is left out."""


class EncoderTeacher:
    """A fine-tuned classifier of transformers in a folder, or one of the hub.

    Each phrase is read by itself, detokenised; equal phrases are read once.

    Attributes:
        digest: of its weights and the names of its classes.

    Raises DataError if there is no such classifier, ConfigError if its classes are not `labels` or
    if it is not fine-tuned, and MissingExtraError without transformers.
    """

    def __init__(self, name: str, labels: Sequence[str]):
        with needs_extra("transformers"):
            import transformers
        tokenizer, model = _loaded(transformers, name)
        self._classes = [label.lower() for label in labels]
        names = [model.config.id2label[place].lower() for place in range(model.config.num_labels)]
        if sorted(names) != sorted(self._classes):
            raise ConfigError(
                f"{EXPECTED} with the classes of model.labels ({', '.join(labels)}), but "
                f"{name} has {', '.join(names)}; use one with these classes, or name them in "
                "the id2label of its config.json"
            )
        device = "cuda" if torch.cuda.is_available() else "cpu"
        settings: dict[str, Any] = {
            "model": model,
            "tokenizer": tokenizer,
            "device": device,
            "top_k": None,
        }
        self._read: Any = transformers.pipeline("text-classification", **settings)
        self._answers = dict[str, NDArray[np.float32]]()
        self.digest = _digest(model, labels)

    def node_scores(
        self, words: Sequence[Sequence[str]], transitions: Sequence[NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]:
        """The probabilities (N, C) of the classes of all nodes of each binary tree, in the order of
        its transitions."""
        phrases = [
            [detokenize(one[start:end]) for start, end in Tree.from_transitions(steps, one).spans]
            for one, steps in zip(words, transitions, strict=True)
        ]
        new = [phrase for phrase in dict.fromkeys(chain(*phrases)) if phrase not in self._answers]
        self._answers |= zip(new, self.scores(new), strict=True)
        return [np.stack([self._answers[phrase] for phrase in tree]) for tree in phrases]

    def scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The probabilities (T, C) of the classes of texts."""
        rows = np.zeros((len(texts), len(self._classes)), np.float32)
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        cut: dict[str, Any] = {
            "truncation": True,
            "max_length": MOST_PIECES,
            "function_to_apply": "softmax",
        }
        read = [texts[place] for place in order]
        answers = self._read(read, batch_size=BATCH, **cut) if read else []
        for place, answer in zip(order, answers, strict=True):
            scores = {one["label"].lower(): one["score"] for one in answer}
            rows[place] = [scores[name] for name in self._classes]
        return rows


def _loaded(transformers: Any, name: str) -> tuple[Any, Any]:
    """The tokeniser and the model of a classifier."""
    folder = Path(name)
    with quiet(transformers), readable(EXPECTED, name, folder, SafetensorError):
        near = {"local_files_only": folder.is_dir() or not hub_answers()}
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **near)
        model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, dtype=torch.float32, output_loading_info=True, **near
        )
    if missing := sorted(report["missing_keys"]):
        raise ConfigError(
            f"teacher.encoders: expected a classifier, but {name} lacks the weights "
            f"{', '.join(missing[:3])}; fine-tune it first, with transformers"
        )
    return tokenizer, model


def _digest(model: Any, labels: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join(labels).encode())
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode() + weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
