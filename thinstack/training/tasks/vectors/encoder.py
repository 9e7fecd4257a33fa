"""A sentence encoder of transformers, as a teacher that gives vectors to strings."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from thinstack.data.files.pretrained_models import hub_answers, loading, variant_of
from thinstack.errors import ConfigError, needs_extra
from thinstack.training.loop.losses import faster_in_bf16
from thinstack.training.loop.teacher import AnswerCache

EXPECTED: Final = "task.encoder: expected a transformers sentence encoder"
POOLING_FILE: Final = "1_Pooling/config.json"
"""The file of sentence-transformers with the kind of pooling."""

MOST_PIECES: Final = 64
"""Maximum pieces of a string; the rest is ignored."""
BATCH_PIECES: Final = 2048
Pooling = Literal["mean", "cls"]
"""The vector of a string: the mean of the outputs of its pieces, or the first output."""

Vectors = NDArray[np.float16]


class StringEncoder:
    """A sentence encoder in a folder under `data`, or on the Hub.

    Attributes:
        width: the columns of its vectors.
        digest: of its weights and its pooling.

    Raises DataError if there is no such encoder, ConfigError if its pooling is unknown, and
    MissingExtraError without transformers.
    """

    def __init__(self, name: str, data: Path, pooling: Pooling | None):
        with needs_extra("transformers"):
            import transformers
        folder = data / name if (data / name).is_dir() else Path(name)
        source = {"local_files_only": folder.is_dir() or not hub_answers()}
        with loading(transformers, EXPECTED, name, folder, SafetensorError):
            place = str(folder) if folder.is_dir() else name
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(place, **source)
            model: Any = transformers.AutoModel.from_pretrained(
                place, variant=variant_of(folder), dtype=torch.float32, **source
            )
        self._pooling = pooling or _stated_pooling(folder)
        self.width: int = model.config.hidden_size
        # MPNet's positions begin at 2.
        self._most_pieces = min(MOST_PIECES, model.config.max_position_embeddings - 2)
        digest = hashlib.sha256(self._pooling.encode())
        for key, weight in sorted(model.state_dict().items()):
            digest.update(key.encode() + weight.contiguous().numpy().tobytes())
        self.digest = digest.hexdigest()
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if faster_in_bf16(self._device) else torch.float32
        self._model = model.to(self._device, dtype).eval()

    @torch.inference_mode()
    def encode(self, strings: Sequence[str]) -> Vectors:
        """Return the vectors (n, width) of strings, of unit norm."""
        cut = {"truncation": True, "max_length": self._most_pieces}
        rows = self._tokenizer(list(strings), **cut)["input_ids"] if strings else []
        vectors = np.zeros((len(rows), self.width), np.float16)
        lengths = np.array([len(row) for row in rows])
        for length in np.unique(lengths):  # equal lengths need no padding
            places = np.flatnonzero(lengths == length)
            for part in np.array_split(places, -(-len(places) * int(length) // BATCH_PIECES)):
                ids = torch.tensor([rows[place] for place in part], device=self._device)
                outputs: Tensor = self._model(ids).last_hidden_state.float()
                pooled = outputs.mean(1) if self._pooling == "mean" else outputs[:, 0]
                vectors[part] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return vectors


def _stated_pooling(folder: Path) -> Pooling:
    modes: Any = None
    with suppress(OSError, ValueError):
        modes = json.loads((folder / POOLING_FILE).read_bytes())
    modes = modes if isinstance(modes, dict) else {}
    if modes.get("pooling_mode_mean_tokens"):
        return "mean"
    if modes.get("pooling_mode_cls_token"):
        return "cls"
    raise ConfigError(
        f"task.pooling: {folder} does not specify how to pool piece vectors; set "
        'pooling = "mean" or "cls", as its authors trained it'
    )


class TeacherTable:
    """The vectors of strings from an encoder, reduced to `size` columns by a rotation.

    Attributes:
        vectors: (n, size) float16, scaled to unit norm, one row for each string so far.
        rotation: (width, size); initially, it selects the first columns.
    """

    def __init__(self, encoder: StringEncoder, size: int, cache: AnswerCache):
        if size > encoder.width:
            raise ConfigError(
                f"model.vectors: expected a size of at most {encoder.width}, the columns of the "
                f"encoder, found {size}; lower the size"
            )
        self.encoder, self._size, self._cache = encoder, size, cache
        self._rows = dict[str, int]()
        self.vectors = np.zeros((0, size), np.float16)
        self.rotation = np.eye(encoder.width, size, dtype=np.float32)

    def rows_of(self, strings: Sequence[str]) -> NDArray[np.int32]:
        """Return the row of each string, and encode those without a row."""
        new = [string for string in dict.fromkeys(strings) if string not in self._rows]
        parts = [self.vectors]
        for vectors in self._encoded(new):
            turned = vectors.astype(np.float32) @ self.rotation
            lengths = np.linalg.norm(turned, axis=1, keepdims=True)
            parts.append(np.asarray(turned / lengths, np.float16))
        self.vectors = np.concatenate(parts)
        self._rows |= zip(new, count(len(self._rows)), strict=False)
        return np.array([self._rows[string] for string in strings], np.int32)

    def turn_to(self, strings: Sequence[str]) -> None:
        """Rotate to the main directions of the vectors of these strings, without centering."""
        self.rotation = main_directions(self._whole(strings), self._size)

    def turn_like(self, strings: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Rotate the vectors of these strings as close as possible to other vectors (n, size)
        (Schoenemann 1966)."""
        left, _, right = np.linalg.svd(self._whole(strings).T @ vectors)
        self.rotation = np.ascontiguousarray(left[:, : self._size] @ right)

    def turned_strings(self, strings: Sequence[str]) -> NDArray[np.float32]:
        """Return the rotated vectors (n, size) of strings, not normalized."""
        return self._whole(strings) @ self.rotation

    def _whole(self, strings: Sequence[str]) -> NDArray[np.float32]:
        return np.concatenate([*self._encoded(strings)]).astype(np.float32)

    def _encoded(self, strings: Sequence[str]) -> Iterator[Vectors]:
        return self._cache.answers("phrases", [self.encoder.digest], strings, self.encoder.encode)


def main_directions(rows: NDArray[np.floating], count: int) -> NDArray[np.float32]:
    """Return the directions (W, count) in which rows (n, W) are largest, without centering."""
    _, directions = np.linalg.eigh(rows.T @ rows)  # in ascending order
    return np.ascontiguousarray(directions[:, ::-1][:, :count], np.float32)
