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
from thinstack.training.loop.precision import faster_in_bf16

EXPECTED: Final = "teacher.encoders: expected a classifier of transformers"
BATCH_PIECES: Final = 4096
"""The most pieces of a batch, with the padding, unless one text has more."""
MOST_PIECES: Final = 256
"""Pieces of a text that are read; what follows is left out."""


class EncoderTeacher:
    """A fine-tuned classifier of transformers in a folder, or one of the hub.

    Each phrase is read by itself, detokenised; equal phrases are read once. On a CPU or a GPU that
    is faster in bfloat16, products have that precision.

    Attributes:
        digest: of its weights and the names of its classes.

    Raises DataError if there is no such classifier, ConfigError if its classes are not `labels` or
    if it is not fine-tuned, and MissingExtraError without transformers.
    """

    def __init__(self, name: str, labels: Sequence[str]):
        with needs_extra("transformers"):
            import transformers
        self._tokenizer, model = _loaded(transformers, name)
        self._classes = _classes(name, model, labels)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model = model.eval().to(self._device)
        self._lower = faster_in_bf16(self._device)
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
        new = [each for each in dict.fromkeys(chain(*phrases)) if each not in self._answers]
        self._answers |= zip(new, self.scores(new), strict=True)
        return [np.stack([self._answers[each] for each in tree]) for tree in phrases]

    @torch.inference_mode()
    def scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The probabilities (T, C) of the classes of texts."""
        rows = np.zeros((len(texts), len(self._classes)), np.float32)
        if not texts:
            return rows
        pieces = self._tokenizer(list(texts), truncation=True, max_length=MOST_PIECES)
        for places in _batches([*map(len, pieces["input_ids"])]):
            part = {name: [each[place] for place in places] for name, each in pieces.items()}
            batch = {
                name: each.to(self._device, non_blocking=True)
                for name, each in self._tokenizer.pad(part, return_tensors="pt").items()
            }
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._lower):
                logits = self._model(**batch).logits
            rows[places] = logits.float().softmax(1).cpu().numpy()[:, self._classes]
        return rows


def _batches(sizes: Sequence[int]) -> list[list[int]]:
    """The places of texts with so many pieces, in batches of like length."""
    batches, widest = list[list[int]](), 0
    for place in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        if not batches or (len(batches[-1]) + 1) * widest > BATCH_PIECES:
            batches.append([])
            widest = sizes[place]
        batches[-1].append(place)
    return batches


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


def _classes(name: str, model: Any, labels: Sequence[str]) -> list[int]:
    """The place of each label among the classes of the classifier."""
    own = [model.config.id2label[place].lower() for place in range(model.config.num_labels)]
    if sorted(own) != sorted(label.lower() for label in labels):
        raise ConfigError(
            f"teacher.encoders: expected the classes of model.labels ({', '.join(labels)}), but "
            f"{name} has {', '.join(own)}; take a classifier of these, or name them in the "
            "id2label of its config.json"
        )
    return [own.index(label.lower()) for label in labels]


def _digest(model: Any, labels: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join(labels).encode())
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode() + weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
