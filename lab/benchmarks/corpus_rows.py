"""A corpus of any size for the benchmarks: SST's sentences as running text, repeated and shuffled,
with rows among them that are broken in each way that a corpus has."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Final

from thinstack.data.trees.treebank import read_trees
from thinstack.text.raw_text import detokenize

_LONG: Final = 1 << 20  # characters of a text of a megabyte

POISON: Final[dict[str, str | None]] = {
    "null": "missing",
    "nan": "missing",
    "surrogate": "not_text",
    "bytes": "not_text",
    "megabyte": None,
}
"""The kinds of broken rows, and the kind of error that each must get; None: it must be scored."""


def public_texts(data: Path) -> list[str]:
    """SST's training and development sentences."""
    trees = [tree for part in ("train", "dev") for tree in read_trees(data / f"sst/{part}.txt")]
    return [detokenize(tree.words) for tree in trees]


def rows(texts: list[str], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Ids and texts: as many as asked, all texts shuffled again and again."""
    draw = random.Random(seed)
    number = 0
    while True:
        for text in draw.sample(texts, len(texts)):
            if number == count:
                return
            yield f"r{number}", text
            number += 1


def write_json_lines(
    path: Path, texts: list[str], count: int, *, poison: float, seed: int
) -> dict[str, str]:
    """Write rows, a share of them broken; returns the kinds of the broken ones by id."""
    draw = random.Random(seed)
    chosen = draw.sample(range(count), round(poison * count))
    kinds = {f"r{number}": kind for number, kind in zip(chosen, cycle(POISON), strict=False)}
    long = " ".join(texts)
    long *= 1 + 2 * _LONG // len(long)

    def megabyte() -> bytes:
        start = draw.randrange(len(long) - _LONG)
        return json.dumps(long[start : start + _LONG]).encode()

    broken: dict[str, Callable[[], bytes]] = {
        "null": lambda: b"null",
        "nan": lambda: b"NaN",
        "surrogate": lambda: rb'"half of a pair: \ud83d"',
        "bytes": lambda: b'"caf\xe9 in Latin-1"',
        "megabyte": megabyte,
    }
    with path.open("wb") as file:
        for id, text in rows(texts, count, seed):
            cell = broken[kinds[id]]() if id in kinds else json.dumps(text).encode()
            file.write(b'{"id": "%s", "text": %s}\n' % (id.encode(), cell))
    return kinds
