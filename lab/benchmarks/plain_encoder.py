"""The rival of a contextual model: the same pretrained encoder without a tree, the mean of its
outputs over a text's pieces and a linear layer, fine-tuned on texts that are read by themselves."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from thinstack.plugins.embeddings.transformer.pretrained import variant_of
from thinstack.training.loop.losses import faster_in_bf16

Rows = list[tuple[Sequence[int], int]]
"""The pieces of texts, and their classes."""

POSITIONS: Final = 512
BATCH: Final = 32
HEAD_RATE: Final = 1e-3
WARM_UP: Final = 0.1
AT_ONCE: Final = 50
"""Batches whose texts are sorted together, so that texts of a batch are of like length."""


class Pieces:
    """The pieces of texts, with those that stand at the ends, by the tokeniser in a folder."""

    def __init__(self, folder: Path):
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(POSITIONS)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        return [found.ids for found in self._tokenizer.encode_batch(list(texts))]


def padded(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pieces (B, T) of texts, 0 behind the end of each, and 1 where there is a piece (B, T)."""
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row)], mask[place, : len(row)] = row, 1
    return ids, mask


class PlainEncoder(nn.Module):
    """An encoder of a folder, the mean over pieces, and a linear layer: pieces and mask (B, T) to
    logits (B, C). `attention` is transformers' name of how it is computed."""

    def __init__(self, folder: Path, classes: int, *, attention: str = "sdpa"):
        super().__init__()
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.encoder = transformers.AutoModel.from_pretrained(
            folder,
            variant=variant_of(folder),
            dtype=torch.float32,
            add_pooling_layer=False,
            attn_implementation=attention,
        )
        self.head = nn.Linear(self.encoder.config.hidden_size, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        outputs = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        kept = mask[..., None].to(outputs.dtype)
        logits: Tensor = self.head((outputs * kept).sum(1) / kept.sum(1))
        return logits


class Rates(NamedTuple):
    """The learning rate of the encoder's top layer, and that of each layer to the one above it."""

    top: float
    decay: float


def fine_tune(
    model: PlainEncoder,
    epoch_of: Callable[[np.random.Generator], Rows],
    rates: Rates,
    *,
    epochs: int,
    seed: int,
) -> None:
    """AdamW over so many epochs of the rows that `epoch_of` draws, as many in each. Rates rise from
    0 in the first tenth and then fall in a line to 0; products are in bfloat16 where that is
    faster."""
    draw = np.random.default_rng(seed)
    optimizer = torch.optim.AdamW(groups(model, rates), weight_decay=0.01, fused=True)
    full = [group["lr"] for group in optimizer.param_groups]
    lower = torch.autocast("cpu", torch.bfloat16) if faster_in_bf16(torch.device("cpu")) else None
    model.train()
    for epoch in range(epochs):
        batches = list(batches_of(epoch_of(draw), draw))
        for number, batch in enumerate(batches):
            done = (epoch + (number + 1) / len(batches)) / epochs
            share = min(done / WARM_UP, (1 - done) / (1 - WARM_UP))
            for group, rate in zip(optimizer.param_groups, full, strict=True):
                group["lr"] = share * rate
            ids, mask = map(torch.from_numpy, padded([row for row, _ in batch]))
            with lower or nullcontext():
                logits = model(ids, mask)
            gold = torch.tensor([label for _, label in batch])
            nn.functional.cross_entropy(logits.float(), gold).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def groups(model: PlainEncoder, rates: Rates) -> list[dict[str, object]]:
    """The weights of each layer with their rate; the vectors of pieces are the lowest layer."""
    layers = [model.encoder.embeddings, *model.encoder.encoder.layer]
    found: list[dict[str, object]] = [
        {"params": list(layer.parameters()), "lr": rates.top * rates.decay**depth}
        for depth, layer in enumerate(reversed(layers))
    ]
    return [*found, {"params": list(model.head.parameters()), "lr": HEAD_RATE}]


def batches_of(rows: Rows, draw: np.random.Generator) -> Iterator[Rows]:
    """The rows in batches of like length, in an order by chance."""
    order = draw.permutation(len(rows)).tolist()
    found: list[list[int]] = []
    for start in range(0, len(order), AT_ONCE * BATCH):
        part = sorted(order[start : start + AT_ONCE * BATCH], key=lambda place: len(rows[place][0]))
        found += [part[first : first + BATCH] for first in range(0, len(part), BATCH)]
    for place in draw.permutation(len(found)).tolist():
        yield [rows[row] for row in found[place]]


def scores_of(model: PlainEncoder, rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The probabilities (T, C) of the classes of texts, given as pieces."""
    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    scores = np.zeros((len(rows), model.head.out_features))
    model.eval()
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        ids, mask = map(torch.from_numpy, padded([rows[place] for place in places]))
        with torch.inference_mode():
            scores[places] = model(ids, mask).softmax(1).numpy()
    return scores
