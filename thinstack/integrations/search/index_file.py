"""The file of a phrase index: a line that says what it is, a header of JSON, the columns one after
the other, and the SHA-256 of all that."""

import hashlib
import json
from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinstack._version import __version__
from thinstack.core.config.base import problems
from thinstack.data.files.paths import FilePath, any_path, file_path, why_unreadable
from thinstack.data.files.writing import replacing
from thinstack.errors import DataError
from thinstack.integrations.search.phrase_table import BLOCK, PhraseTable

_MAGIC: Final = b"thinstack phrase index\n"
_LENGTH: Final = 8  # bytes of the length of the header
_LONGEST_HEADER: Final = 1 << 20
_PART: Final = 1 << 20  # bytes that are read at a time
_AGAIN: Final = "make it again from the texts"
_DAMAGED: Final = f"changed or cut since it was written (its digest does not match); {_AGAIN}"

Count = Annotated[int, Field(ge=0, lt=1 << 31)]


class Header(BaseModel):
    """What the file of an index says of itself.

    Attributes:
        schema_version, version: of the file, and of thinstack, which wrote it.
        model: the name of the model if it is installed, else the path of its folder.
        digest: that of the model's manifest.
        source: what the owner of the index wrote of the texts.
        width: D; `phrases`, `mentions`, `sentences`, `texts` are the numbers of these.
        text_bytes, id_bytes: the sizes of the texts and of what belongs to each, in UTF-8.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = 1
    version: str = __version__
    model: str
    digest: str
    source: str = ""
    width: Annotated[int, Field(ge=1, le=1 << 16)]
    phrases: Count = 0
    mentions: Count = 0
    sentences: Count = 0
    texts: Count = 0
    text_bytes: Annotated[int, Field(ge=0)] = 0
    id_bytes: Annotated[int, Field(ge=0)] = 0


class _Column(NamedTuple):
    """The type of a column in the file, and how many numbers it has."""

    kind: str
    size: int


def _columns(header: Header) -> dict[str, _Column]:
    """The columns in their order. Those of texts are bytes and, of each text, where it ends."""
    return {
        "vectors": _Column("<f2", header.phrases * header.width),
        "polarity": _Column("<f4", header.phrases),
        "sides": _Column("i1", header.phrases),
        "mentions": _Column("<i4", 4 * header.mentions),
        "sentences": _Column("<i4", 3 * header.sentences),
        "text_ends": _Column("<i8", header.texts),
        "id_ends": _Column("<i8", header.texts),
        "texts": _Column("u1", header.text_bytes),
        "ids": _Column("u1", header.id_bytes),
    }


def write_index(path: FilePath, table: PhraseTable, **about: Any) -> None:
    """Write an index, in place of an old one once it is whole. `about`: `model`, `digest` and
    `source` of the header. Raises OSError."""
    texts = [text.encode("utf-8", "surrogatepass") for text in table.texts]
    ids = [id.encode() for id in table.ids]
    header = Header(
        width=table.vectors.width,
        phrases=len(table),
        mentions=len(table.mentions) // 4,
        sentences=len(table.sentences) // 3,
        texts=len(texts),
        text_bytes=sum(map(len, texts)),
        id_bytes=sum(map(len, ids)),
        **about,
    )
    with replacing(any_path(path)) as temporary, temporary.open("wb") as file:
        whole = hashlib.sha256()
        for part in _parts(header, table, texts, ids):
            whole.update(part)
            file.write(part)
        file.write(whole.digest())


def _parts(
    header: Header, table: PhraseTable, texts: list[bytes], ids: list[bytes]
) -> Iterator[bytes]:
    about = header.model_dump_json().encode()
    yield _MAGIC + len(about).to_bytes(_LENGTH, "little") + about
    for block in table.vectors:
        yield block.astype("<f2").tobytes()
    for name, kind in (("polarity", "<f4"), ("sides", "i1"), ("mentions", "<i4")):
        yield table.column(name).astype(kind).tobytes()
    yield table.column("sentences").astype("<i4").tobytes()
    for strings in (texts, ids):
        yield np.cumsum([len(one) for one in strings], dtype="<i8").tobytes()
    yield from texts
    yield from ids


def read_header(path: FilePath) -> Header:
    """What the file of an index says of itself. Raises DataError for another file."""
    place = file_path(path)
    try:
        with place.open("rb") as file:
            return _header(place, file)
    except OSError as error:
        raise DataError(f"{place}: cannot be read: {why_unreadable(place, error)}") from None


def _header(place: Path, file: BinaryIO) -> Header:
    start = file.read(len(_MAGIC))
    if start != _MAGIC:
        raise DataError(
            f"{place}: expected an index that PhraseIndex.save wrote, found another file"
        )
    length = int.from_bytes(file.read(_LENGTH), "little")
    try:
        raw = json.loads(file.read(min(length, _LONGEST_HEADER)))
    except (ValueError, RecursionError):
        raise DataError(f"{place}: {_DAMAGED}") from None
    newer = isinstance(raw, dict) and raw.get("schema_version")
    if isinstance(newer, int) and newer > 1:
        problem = f"schema {newer}, but thinstack {__version__} reads schema 1"
        raise DataError(f"{place}: {problem}; install a newer thinstack, or {_AGAIN}")
    try:
        return Header.model_validate(raw)
    except ValidationError as error:
        raise DataError(f"{place}: {problems(error, most=3)}; {_AGAIN}") from None


def read_index(path: FilePath) -> tuple[Header, PhraseTable]:
    """The header and the phrases of an index. Raises DataError for another file, and for one that
    was changed or cut."""
    place = file_path(path)
    try:
        with place.open("rb") as file:
            header = _header(place, file)
            columns, start, end = _columns(header), file.tell(), file.seek(0, 2)
            size = sum(np.dtype(column.kind).itemsize * column.size for column in columns.values())
            if end != start + size + hashlib.sha256().digest_size or not _is_whole(file, end):
                raise DataError(f"{place}: {_DAMAGED}")
            file.seek(start)
            arrays = {
                name: np.fromfile(file, column.kind, column.size)
                for name, column in columns.items()
            }
    except OSError as error:
        raise DataError(f"{place}: cannot be read: {why_unreadable(place, error)}") from None
    return header, _table(place, header, arrays)


def _is_whole(file: BinaryIO, end: int) -> bool:
    """Whether a file ends with the digest of all before."""
    whole = hashlib.sha256()
    left = end - whole.digest_size
    file.seek(0)
    while left and (part := file.read(min(left, _PART))):
        whole.update(part)
        left -= len(part)
    return file.read() == whole.digest()


def _table(place: Path, header: Header, arrays: dict[str, NDArray[Any]]) -> PhraseTable:
    """The phrases in the columns. Raises DataError for columns that do not fit together, which no
    digest finds."""
    mentions = arrays["mentions"].reshape(-1, 4)
    sentences = arrays["sentences"].reshape(-1, 3)
    mentioned = np.unique(mentions[:, 0])
    try:
        texts = _strings(arrays["texts"], arrays["text_ends"])
        ids = _strings(arrays["ids"], arrays["id_ends"])
        for id in ids:
            json.loads(id)
        fits = (
            np.array_equal(mentioned, np.arange(header.phrases))
            and _is_inside(mentions[:, 1], header.sentences)
            and _is_inside(sentences[:, 0], header.texts)
            and _are_spans(mentions[:, 2:], sentences[mentions[:, 1], 0], texts)
            and _are_spans(sentences[:, 1:], sentences[:, 0], texts)
        )
    except (ValueError, IndexError, RecursionError):
        fits = False
    if not fits:
        raise DataError(f"{place}: its columns do not fit together; {_AGAIN}")
    vectors = arrays["vectors"].reshape(-1, header.width).astype(np.float16, copy=False)
    blocks = [vectors[start : start + BLOCK] for start in range(0, len(vectors), BLOCK)]
    table = PhraseTable(header.width, blocks)
    for name, kind in (("polarity", "f"), ("sides", "b"), ("mentions", "i"), ("sentences", "i")):
        column = array(kind)
        column.frombytes(arrays[name].astype(column.typecode).tobytes())
        setattr(table, name, column)
    table.texts, table.ids = texts, ids
    return table


def _strings(content: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """Strings that stand one behind the other. Raises ValueError for ends that do not fit."""
    cuts = [0, *ends.tolist()]
    if cuts[-1] != len(content) or any(np.diff(cuts) < 0):
        raise ValueError("ends")
    whole = content.tobytes()
    return [whole[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(cuts)]


def _is_inside(numbers: NDArray[np.int32], count: int) -> bool:
    return bool(((numbers >= 0) & (numbers < count)).all())


def _are_spans(spans: NDArray[np.int32], texts_of: NDArray[np.int32], texts: list[str]) -> bool:
    """Whether each is some characters [start, end) of its text."""
    lengths = np.array([len(text) for text in texts], np.int64)
    starts, ends = spans.T
    return bool(((starts >= 0) & (starts < ends) & (ends <= lengths[texts_of])).all())
