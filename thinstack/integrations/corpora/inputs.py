"""Reads the files of a corpus as rows: an id and a text, or the reason why the row cannot be used.
Only a file of spaCy Docs is loaded into memory as a whole."""

import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from thinstack.data.files.paths import any_path, file_path, why_unreadable
from thinstack.data.files.reading import opened_text, paragraphs_of, undecoded, without_compression
from thinstack.data.tables.cell_text import cell_text, is_missing_cell, key_text
from thinstack.data.tables.dialects import TABLE_SUFFIXES
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import Found, Record, check_columns, repeats_header
from thinstack.errors import DataError, InputError, needs_extra

LONGEST_TEXT: Final = 1 << 24
"""Maximum length in characters of a text that is scored."""

DEFAULT_TEXT: Final = "text"

SUFFIXES: Final = (".txt", *TABLE_SUFFIXES, ".spacy")
"""File extensions that can be scored, in upper or lower case, optionally followed by that of a
compressed file."""

_ADVICE = "set the columns with --text and --id"
_ID: Final = "id"
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*\[?\s*\{\s*"')


class Problem(NamedTuple):
    """Why a row has no scores: `kind` is one of

    - "row": the line is not a row, for example because of broken JSON or too few cells;
    - "id": its id is missing or cannot be read;
    - "missing": its text is missing (None, NaN, or a mark such as "NA"; `is_missing`);
    - "not_text": its text is something else, such as a list, or bytes in another encoding;
    - "too_long": its text has more than LONGEST_TEXT characters;
    - "failed": the model could not score it;
    - "killed": the process that scored it was killed, twice.
    """

    kind: str
    message: str


class Row(NamedTuple):
    """A text and its id, None if it could not be read. The text is empty if there is a problem."""

    id: str | None
    text: str
    problem: Problem | None = None
    cells: tuple[object, ...] = ()


class Columns(NamedTuple):
    """The columns of texts and of ids. Without `id`, a row's id is its line number, or with
    `own_id` the cell of the column "id", if a table has one. `others`: other columns to read."""

    text: str = DEFAULT_TEXT
    id: str | None = None
    others: tuple[str, ...] = ()
    own_id: bool = False

    @property
    def names(self) -> list[str]:
        """The names of both columns, or only that of the texts."""
        return [self.text] if self.id is None else [self.text, self.id]

    @property
    def wanted(self) -> list[str]:
        """The names of all columns to read, if they exist."""
        return [*dict.fromkeys([*self.names, *[_ID] * self.own_id, *self.others])]


class Corpus(NamedTuple):
    """Files of texts.

    Attributes:
        files: the path of each file, by its name.
        columns: the columns of texts and ids in tables.
        encoding: the encoding of text files; parquet and Docs have their own.
        named: whether an id that is a line number starts with the name of the file.
        kind: the extension of the format of all files; by default each file's own.
        separator, header: as for `Table`. Either specifies that a file of lines is a table.
        paragraphs: whether to split a file of lines at blank lines instead of each line.
    """

    files: dict[str, Path]
    columns: Columns
    encoding: str = "utf-8"
    named: bool = False
    kind: str = ""
    separator: str | None = None
    header: bool | None = None
    paragraphs: bool = False

    @property
    def separated(self) -> bool:
        """Whether the user has specified that files are tables."""
        return self.separator is not None or self.header is not None

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file."""
        digests = {}
        for name, path in self.files.items():
            try:
                with file_path(path).open("rb") as file:
                    digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise DataError(f"{path}: cannot be read: {why_unreadable(path, error)}") from None
        return digests

    def stamps(self) -> dict[str, tuple[int, ...]]:
        """Return the state of each file, which changes when somebody writes to it. Raises
        OSError."""
        state = attrgetter("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
        return {name: state(path.stat()) for name, path in self.files.items()}

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all files, in the order of the files."""
        for name, path in self.files.items():
            prefix = f"{name}:" if self.named else ""
            records = self.records(path, self.columns.wanted)
            yield from rows_of(str(path), records, self.columns, prefix=prefix, advice=_ADVICE)

    def records(self, path: Path, wanted: Sequence[str]) -> Iterator[Found]:
        """Return the columns and the records of one of the files, as `Table.records` does."""
        kind = self.kind or _suffix(path)
        if kind == ".spacy":
            with needs_extra("spacy"):
                from thinstack.integrations.spacy.doc_bins import doc_texts
            return doc_texts(path)
        if kind == ".txt" and not self.separated:
            return _texts(path, self.encoding, paragraphs=self.paragraphs)
        table = Table(path, encoding=self.encoding, separator=self.separator, header=self.header)
        if table.kind == ".parquet":
            wanted = [name for name in wanted if name in table.columns]
        return table.records(wanted)

    def table_columns(self) -> list[str]:
        """List the columns of all tables, in the order of the files; for JSON, of all rows."""
        names = dict[str, None]()
        for path in self.files.values():
            in_rows = (self.kind or _suffix(path)) in (".json", ".jsonl", ".ndjson", "")
            for item in self.records(path, ()):
                if isinstance(item, list):
                    names |= dict.fromkeys(item)
                elif in_rows:
                    names |= dict.fromkeys(item.cells)
                else:
                    break
        return [*names]


def open_corpus(path: Path, columns: Columns | None = None, **reading: Any) -> Corpus:
    """Open the corpus in a file, or in all files of a folder and its subfolders. Reads nothing yet.

    In a folder, names that start with a dot or an underscore are skipped. `columns`: the columns of
    tables, if the user has named them. `reading`: `encoding` and other fields of `Corpus`. Raises
    InputError if there is no file, for an unknown extension, for columns of files that have none,
    and for a link that is broken or points to another folder; DataError for anything but a plain
    file.
    """
    path = any_path(path)
    if path.is_dir():
        inner = sorted(file.relative_to(path) for file in path.rglob("*"))
        shown = [name for name in inner if not any(part[0] in "._" for part in name.parts)]
        files = {name.as_posix(): path / name for name in shown if _is_file(path / name)}
    elif path.exists():
        files = {path.name: file_path(path)}
    else:
        link = f"a link to {path.readlink()}, which does not exist" if path.is_symlink() else ""
        raise InputError(f"{path}: expected a file or a folder of texts, found {link or 'nothing'}")
    if not files:
        raise InputError(f"{path}: expected files of texts ({', '.join(SUFFIXES)}), found none")
    corpus = Corpus(files, columns or Columns(), named=path.is_dir(), **reading)
    for name, file in files.items():
        _check_file(name, file, corpus, columns)
    return corpus


def spooled_corpus(
    stream: BinaryIO, spool: Path, columns: Columns, *, named: bool, **reading: Any
) -> Corpus:
    """Copy a stream to the file `spool` and open it as a corpus: texts, one per line; or a table,
    if a column is `named` or it begins with a JSON object. `reading`: as for `open_corpus`."""
    with spool.open("w+b") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.seek(0)
        begins_as_json = not reading.get("paragraphs") and _JSON.match(file.read(256))
    kind = "" if named or begins_as_json else ".txt"  # "" detects the format
    return Corpus({spool.name: spool}, columns, kind=kind, **reading)


def _check_file(name: str, file: Path, corpus: Corpus, columns: Columns | None) -> None:
    """Raise InputError for a file that cannot be read as requested. `columns`: those that the user
    has named."""
    suffix, problem = _suffix(file), ""
    if re.search("[\ud800-\udfff]", name):  # how Python represents bytes that are not UTF-8
        problem = f"expected a UTF-8 name, found {name!r:.80}: rename it"
    elif suffix not in SUFFIXES and not corpus.separated:
        problem = (
            f"expected a name that ends in {', '.join(SUFFIXES)}; found {name!r}: rename "
            "the file, or move it away; if it is a table, set its separator with --sep"
        )
    elif (columns or corpus.separated) and suffix == ".spacy":
        problem = "a .spacy file has no columns: remove --text, --id, --columns, --sep and --header"
    elif columns and suffix == ".txt" and not corpus.separated:
        problem = "a .txt file has no columns: remove --text, --id and --columns"
        problem += "; if it is a table, add --sep tab"
    elif corpus.paragraphs and suffix != ".txt":
        problem = "--paragraphs works only with .txt files: remove it"
    if problem:
        raise InputError(f"{file}: {problem}")


def _is_file(path: Path) -> bool:
    """Whether a path in a folder is a file, and not another folder. Raises InputError for a link
    that is broken or points to another folder, and DataError for anything else: its texts would be
    skipped."""
    if path.is_symlink() and (path.is_dir() or not path.exists()):
        raise InputError(
            f"{path}: expected a file, found a link to {path.readlink()}, which is not a "
            "file: fix the link, or score its target separately"
        )
    return not path.is_dir() and file_path(path).is_file()


def _suffix(path: Path) -> str:
    return without_compression(path).suffix.lower()


def _texts(path: Path, encoding: str, *, paragraphs: bool) -> Iterator[Found]:
    with opened_text(path, encoding) as stream:
        lines = (line.rstrip("\r\n") for line in stream)
        for number, text in paragraphs_of(lines) if paragraphs else enumerate(lines, start=1):
            yield Record(number, {DEFAULT_TEXT: text}, undecoded(path, number, text, encoding))


def rows_of(
    source: str, records: Iterable[Found], columns: Columns, *, prefix: str = "", advice: str = ""
) -> Iterator[Row]:
    """Convert the records of a table to rows of a corpus. A text may be empty or have no words.

    `source`: the prefix of each message. `prefix`: the prefix of ids that are line numbers.
    `advice`: the end of the DataError for a table with missing or duplicate columns.
    """
    columns_named: list[str] | None = None
    for one in records:
        if isinstance(one, list):
            check_columns(source, one, columns.names, advice)
            columns_named = one
            if columns.own_id and _ID in {*one} - {columns.text}:
                prefix += "line "  # the number alone may be another row's id
        elif problem := repeats_header(source, columns_named, one):
            place = None if columns.id else f"{prefix}{one.line}"
            yield Row(place, "", Problem("row", str(problem)))
        else:
            yield _row(source, one, columns, f"{prefix}{one.line}")


def _row(source: str, record: Record, columns: Columns, place: str) -> Row:
    if record.problem and not record.cells:
        return Row(None if columns.id else place, "", Problem("row", str(record.problem)))
    if columns.id is not None:
        try:
            place = key_text(record.cells.get(columns.id))
        except DataError as error:
            expected = f"{source}:{record.line}: expected an id in the column {columns.id!r}"
            return Row(None, "", Problem("id", f"{expected}, {error}"))
    elif columns.own_id and columns.text != _ID:
        with suppress(DataError):  # a row without an id gets its line number
            place = key_text(record.cells.get(_ID))
    value = record.cells.get(columns.text)
    try:
        text = value if isinstance(value, str) and not value.strip() else cell_text(value)
    except DataError as error:
        expected = f"{source}:{record.line}: expected a text in the column {columns.text!r}"
        message = str(record.problem or f"{expected}, {error}")
        return Row(place, "", Problem("missing" if is_missing_cell(value) else "not_text", message))
    if len(text) > LONGEST_TEXT:
        expected = f"{source}:{record.line}: expected a text of at most {LONGEST_TEXT:,} characters"
        return Row(place, "", Problem("too_long", f"{expected}, found {len(text):,}"))
    return Row(place, text, cells=tuple(map(record.cells.get, columns.others)))
