"""Cuts a corpus into shards of some thousand rows, in the same way each time."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import InputError
from thinstack.integrations.corpora.inputs import Corpus, Row

SHARD_ROWS: Final = 1 << 12
"""Rows of a shard at most."""

SHARD_CHARACTERS: Final = 1 << 22
"""Characters of its texts at most, or one text."""

_HASH = 16  # bytes: of a billion ids two are taken for one with a chance of 1e-21
_LISTED = 3


class Shard(NamedTuple):
    """Consecutive rows of a corpus, the number of the shard, and that of its first row, from 0."""

    number: int
    rows: list[Row]
    first: int = 0


def shards_of(rows: Iterable[Row]) -> Iterator[Shard]:
    """The rows in shards, each as large as it may be. No shard is empty."""
    numbers, piece, characters, first = count(), list[Row](), 0, 0
    for row in rows:
        if len(piece) == SHARD_ROWS or (piece and characters + len(row.text) > SHARD_CHARACTERS):
            yield Shard(next(numbers), piece, first)
            first += len(piece)
            piece, characters = [], 0
        piece.append(row)
        characters += len(row.text)
    if piece:
        yield Shard(next(numbers), piece, first)


def rows_digest(rows: Iterable[Row]) -> str:
    """A digest of the ids, the texts and the kinds of problems of rows."""
    digest = hashlib.blake2b(digest_size=_HASH)
    for row in rows:
        kind = row.problem.kind if row.problem else None
        digest.update(repr((row.id, row.text, kind)).encode())
    return digest.hexdigest()


def plan(
    corpus: Corpus, *, repeated: bool, tell: Callable[[int], None]
) -> tuple[list[int], list[str]]:
    """The number of rows of each shard, and their digest. Reports the rows so far now and then.

    Raises InputError if there are no rows, or if several rows have the same id, unless `repeated`
    allows it. Also raises whatever reading the rows raises.
    """
    ids, sizes, digests, total = bytearray(), list[int](), list[str](), 0
    watched = corpus.columns.id is not None and not repeated
    for shard in shards_of(corpus.rows()):
        sizes.append(len(shard.rows))
        digests.append(rows_digest(shard.rows))
        for row in shard.rows if watched else ():
            if row.id is not None:
                ids += _hash(row.id)
        total += len(shard.rows)
        tell(total)
    if not sizes:
        raise InputError(f"{', '.join(corpus.files):.200}: expected rows of texts, found no row")
    if watched:
        _check_repeated(corpus, np.frombuffer(ids, np.dtype([("a", "<u8"), ("b", "<u8")])))
    return sizes, digests


def _hash(id: str) -> bytes:
    return hashlib.blake2b(id.encode(), digest_size=_HASH).digest()


def _check_repeated(corpus: Corpus, hashes: NDArray[np.void]) -> None:
    order = np.sort(hashes)
    twice = np.unique(order[1:][order[1:] == order[:-1]])
    if not len(twice):
        return
    searched = {one.tobytes() for one in twice[:_LISTED]}
    ids = dict.fromkeys(
        row.id for row in corpus.rows() if row.id is not None and _hash(row.id) in searched
    )
    listed = ", ".join(map(repr, ids)) + (", ..." if len(twice) > _LISTED else "")
    raise InputError(
        f"expected a different id for each row in the column {corpus.columns.id!r}, found "
        f"{len(twice):,} that several rows have: {listed}; name another column with --id, or score "
        "them all with --allow-repeated-ids"
    )
