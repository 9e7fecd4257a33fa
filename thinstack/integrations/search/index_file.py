"""The file format of a phrase index: a numpy `.npz` archive with the columns, and with a header and
the texts as JSON."""

import json
import zipfile
from array import array
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from thinstack._version import __version__
from thinstack.core.config.base import problems
from thinstack.data.files.paths import FilePath, any_path, file_path, why_unreadable
from thinstack.data.files.writing import replacing
from thinstack.errors import DataError
from thinstack.integrations.search.phrase_table import NUMBERS, PhraseTable

_AGAIN: Final = "choose another file, or remove it and build the index again from the texts"
_DAMAGED: Final = f"not an index, or it was changed or cut off after it was saved; {_AGAIN}"
_TYPES: Final = {"vectors": "<f2"} | {
    name: np.dtype(kind).newbyteorder("<").str for name, kind in NUMBERS.items()
}
_JSON: Final = ("header", "texts", "ids")
_STRINGS: Final = TypeAdapter(list[str])


class Header(BaseModel):
    """The header of an index file.

    Attributes:
        schema_version, version: the versions of the file format and of thinstack that wrote it.
        model: the name of the model if it is installed, else the path of its folder.
        digest: the digest of the model's manifest.
        source: a note of the owner about the texts.
        width: D, the dimension of the vectors.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: Literal[1] = 1
    version: str = __version__
    model: str
    digest: str
    source: str = ""
    width: Annotated[int, Field(ge=1, le=1 << 16)]


def write_index(path: FilePath, table: PhraseTable, **about: Any) -> None:
    """Write an index; an existing file is replaced atomically. `about`: `model`, `digest` and
    `source` of the header. Raises OSError."""
    header = Header(width=table.width, **about).model_dump()
    members: dict[str, Any] = {
        name: np.frombuffer(json.dumps(value).encode(), np.uint8)
        for name, value in zip(_JSON, (header, table.texts, table.ids), strict=True)
    }
    columns = {"vectors": table.vectors} | {name: table.column(name) for name in NUMBERS}
    members |= {name: values.astype(_TYPES[name], copy=False) for name, values in columns.items()}
    with replacing(any_path(path)) as temporary, temporary.open("wb") as file:
        np.savez(file, **members)


def read_header(path: FilePath) -> Header:
    """Read the header of an index file. Raises DataError for any other file."""
    return _header(path, _members(path, {"header"})["header"])


def read_index(path: FilePath) -> tuple[Header, PhraseTable]:
    """Read the header and the phrases of an index. Raises DataError for any other file, and for a
    modified or truncated one."""
    members = _members(path, {*_JSON, *_TYPES})
    header = _header(path, members["header"])
    try:
        texts, ids = (_STRINGS.validate_json(members[name].tobytes()) for name in ("texts", "ids"))
        for id in ids:
            json.loads(id)
        fits = len(texts) == len(ids) and _fit(header.width, members, texts)
    except (ValueError, IndexError, RecursionError):
        fits = False
    if not fits:
        raise DataError(f"{path}: its columns do not match each other; {_AGAIN}")
    table = PhraseTable(header.width, members["vectors"].astype(np.float16, copy=False))
    for name, kind in NUMBERS.items():
        setattr(table, name, array(kind, members[name].astype(kind).tobytes()))
    table.texts, table.ids = texts, ids
    return header, table


def _members(path: FilePath, names: set[str]) -> dict[str, NDArray[Any]]:
    """Read arrays of an archive. Raises DataError for any other file, and for a modified one."""
    place = file_path(path)
    try:
        with place.open("rb") as file, zipfile.ZipFile(file) as archive:
            if any(member.compress_type for member in archive.infolist()):
                raise ValueError("members of any size")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                members = {name: arrays[name] for name in names}
            if any(part.dtype.str != _TYPES.get(name, "|u1") for name, part in members.items()):
                raise ValueError("arrays of other types")
            return members
    except OSError as error:
        problem = f"cannot be read: {why_unreadable(place, error)}"
        raise DataError(f"{place}: {problem}; pass a saved index") from None
    except Exception:  # zipfile and numpy raise many types for damaged files
        raise DataError(f"{place}: {_DAMAGED}") from None


def _header(path: FilePath, content: NDArray[np.uint8]) -> Header:
    try:
        return Header.model_validate_json(content.tobytes())
    except ValidationError as error:
        raise DataError(f"{path}: {problems(error, most=3)}; {_AGAIN}") from None


def _fit(width: int, arrays: dict[str, NDArray[Any]], texts: list[str]) -> bool:
    """Whether the columns are consistent. Raises ValueError for shapes that do not match."""
    mentions, sentences = arrays["mentions"].reshape(-1, 4), arrays["sentences"].reshape(-1, 3)
    phrases = np.arange(len(arrays["vectors"]))
    return bool(
        arrays["vectors"].shape == (len(phrases), width)
        and arrays["polarity"].shape == arrays["sides"].shape == phrases.shape
        and np.array_equal(np.unique(mentions[:, 0]), phrases)
        and ((mentions[:, 1] >= 0) & (mentions[:, 1] < len(sentences))).all()
        and ((sentences[:, 0] >= 0) & (sentences[:, 0] < len(texts))).all()
        and _are_spans(mentions[:, 2:], sentences[mentions[:, 1], 0], texts)
        and _are_spans(sentences[:, 1:], sentences[:, 0], texts)
    )


def _are_spans(spans: NDArray[np.int32], texts_of: NDArray[np.int32], texts: list[str]) -> bool:
    """Whether all spans are valid characters [start, end) of their texts."""
    lengths = np.array([len(text) for text in texts], np.int64)
    starts, ends = spans.T
    return bool(((starts >= 0) & (starts < ends) & (ends <= lengths[texts_of])).all())
